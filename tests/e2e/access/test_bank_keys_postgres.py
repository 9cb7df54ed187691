"""The walls again where the memory lies on a PostgreSQL server, partitioned by bank: the statements
are others there. And every statement of a request is planned for the partition of its bank alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from holdfast.interfaces.http.auth.permissions import PERMISSIONS
from tests.e2e.access.key_client import INTERFACES, KeyClient, Reply, ServerOperations
from tests.e2e.access.operations import Call, Operation, foreign_calls, own_calls
from tests.e2e.access.serving import Served, ServerKeys, make_keys, served
from tests.e2e.access.test_bank_keys import distinguishes, operation_order, others_rows
from tests.e2e.access.test_permission_sweep import questions
from tests.e2e.access.two_banks import OTHER, OWN, Named, World, make_world
from tests.support.postgres_plans import PlanLog
from tests.support.postgres_server import Server
from tests.support.waiting import wait_until

_ROUTES = {route.replace(":path", ""): permit for route, permit in PERMISSIONS.items()}
# Of how many kinds a record is opened, and changed, by an operation that takes any. After a change
# much is derived again, so that it takes the most time.
_KINDS_OPENED, _KINDS_CHANGED = 8, 2
# After its start a server opens some pages as its owner, whenever nothing is asked for a moment.
_QUIET_S = 3.0
_CHANGES = ("POST ", "PATCH ", "DELETE ")


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    with closing(Server()) as made:
        yield made


@pytest.fixture(scope="module")
def world(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("walls"), postgres.cut_database())


@pytest.fixture(scope="module")
def keys(world: World) -> ServerKeys:
    return make_keys(world)


@pytest.fixture(scope="module", params=["owner", "member"])
def whole(
    request: pytest.FixtureRequest, postgres: Server, world: World, keys: ServerKeys
) -> Iterator[Served]:
    """A server that opens the store as its owner, who is shown everything, and one that opens it
    as somebody whom PostgreSQL itself keeps to the banks of each key."""
    env = dict(world.env)
    if request.param == "member":
        env["HOLDFAST_STORE"] = postgres.member(world.settings.store)
    with served(world._replace(env=env)) as url:
        yield Served(world, keys, url)


@pytest.fixture(scope="module")
def described(whole: Served) -> ServerOperations:
    with KeyClient(whole.url, whole.keys.chief) as chief:
        return ServerOperations(chief, ("tools", "graph"))


@pytest.mark.slow
@pytest.mark.parametrize("sort", ["tools", "graph"])
def test_a_key_cannot_read_or_change_another_bank_on_postgres(
    whole: Served, described: ServerOperations, sort: str
) -> None:
    world, secrets = whole.world, whole.world.secrets()
    before = others_rows(world)
    assert any(world.rows(world.other.id).values())
    with KeyClient(whole.url, whole.keys.admin) as client:
        for operation, ask in described.ways(sort, client):
            for call, nowhere in foreign_calls(operation, world, OWN, OTHER):
                told, said = ask(call), call.said()
                text = told.text.lower()
                leaks = [one for one in secrets if one in text and one not in said]
                assert not leaks, (operation.name, call.values, told)
                if nowhere is not None:
                    assert not distinguishes(call, told, nowhere, ask(nowhere)), call.values
    assert others_rows(world) == before


def test_a_permitted_key_can_use_every_tool_on_postgres(
    whole: Served, described: ServerOperations
) -> None:
    with KeyClient(whole.url, whole.keys.admin) as client:
        for operation, ask in described.ways("tools", client):
            told = [ask(call) for call in own_calls(operation, whole.world.own, OWN)]
            assert any(one.succeeded for one in told), (operation.name, told)


@pytest.mark.slow
def test_every_statement_of_a_request_is_planned_for_one_partition(
    postgres: Server, world: World, keys: ServerKeys
) -> None:
    """Every operation that the server describes, and every other route of the permission table. A
    route that concerns all banks refuses the key, and so reads nothing."""
    plans = PlanLog(postgres, world.settings.store)
    unpruned: dict[str, set[str]] = {}
    failed: set[str] = set()
    with served(world) as url, KeyClient(url, keys.chief) as chief:
        described = ServerOperations(chief)
        with KeyClient(url, keys.admin) as client:
            own = _with_research(world.own, client)
            _wait_until_quiet(plans)
            ways = [way for sort in INTERFACES for way in described.ways(sort, client)]
            for operation, ask in sorted(ways, key=lambda way: operation_order(way[0])):
                if not _succeeds(operation, own, ask):
                    failed.add(operation.name)
                unpruned[operation.name] = plans.read_unpruned()
            for route in _ROUTES.keys() - unpruned.keys():
                for question in questions(route, own):
                    question.ask(client.web)
                unpruned[route] = plans.read_unpruned()
    assert not {name: found for name, found in unpruned.items() if found}
    # A form wants to know what was seen before; the same is done by REST, GraphQL and MCP.
    refused = {name for name, permit in _ROUTES.items() if permit.all_banks}
    assert not {name for name in failed - refused if not name.startswith(_CHANGES)}
    assert plans.plans > 5_000


def _wait_until_quiet(plans: PlanLog) -> None:
    seen = [0]

    def is_quiet() -> bool:
        plans.read_unpruned()
        seen.append(plans.plans)
        return seen[-1] == seen[-2]

    wait_until(is_quiet, "the server has opened its first pages", every_s=_QUIET_S)


def _with_research(named: Named, client: KeyClient) -> Named:
    """With a research session that the key has begun."""
    question = json.dumps({"question": f"Why is {OWN.asked} slow?", "bank": named.names[0]})
    sent = client.web.post("/api/v1/research", question, {"Content-Type": "application/json"})
    begun = sent.json()["session_id"]
    return named._replace(ids={**named.ids, "research": (begun,)})


def _succeeds(operation: Operation, own: Named, ask: Callable[[Call], Reply]) -> bool:
    """Ask until it succeeds, first with no more than must be said; where it takes any record, until
    it succeeded with several kinds, because the statements differ."""
    calls = sorted(own_calls(operation, own, OWN), key=lambda call: len(call.values))
    # Each record is named by its id and by its URI; one of them is enough.
    calls = calls[::2] if len(calls) > 2 else calls
    wanted = 1
    if "record" in operation.path and "purge" not in operation.path:
        wanted = _KINDS_OPENED if operation_order(operation) == 0 else _KINDS_CHANGED
    succeeded = 0
    for call in calls:
        reply = ask(call)
        succeeded += reply.succeeded
        if succeeded == wanted or reply.status == 403:
            break
    return succeeded > 0
