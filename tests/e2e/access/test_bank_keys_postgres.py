"""The walls again where the memory lies on a PostgreSQL server, partitioned by bank: the statements
are others there. And every statement of a request is planned for the partition of its bank alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from holdfast.interfaces.http.auth.permissions import permissions
from holdfast.interfaces.http.graphql.schema import camel_name
from holdfast.operations.registry import all_operations
from tests.e2e.access.changing_calls import PREPARED, ChangingCalls
from tests.e2e.access.key_client import INTERFACES, KeyClient, Reply, ServerOperations
from tests.e2e.access.operations import Call, Operation, foreign_calls, own_calls
from tests.e2e.access.serving import Served, ServerKeys, make_keys, served
from tests.e2e.access.test_bank_keys import distinguishes, operation_order, others_rows
from tests.e2e.access.two_banks import OTHER, OWN, Named, World, make_world
from tests.support.postgres_plans import PartitionLocks, logging_plans
from tests.support.postgres_server import Server
from tests.support.waiting import wait_until

_ROUTES = {route.replace(":path", ""): permit for route, permit in permissions().items()}
# Of how many kinds a record is opened, and changed, by an operation that takes any. After a change
# much is derived again, so that it takes the most time.
_KINDS_OPENED, _KINDS_CHANGED = 8, 2
# One fact waits for a review. Forms take their decision back, and REST makes it.
_DECIDED_BY_REST = "graph reviewDecide"
# After its start a server opens some pages as its owner, whenever nothing is asked for a moment.
_QUIET_S = 3.0
# How long a request waits for a partition that it is not to need.
_WAIT_S = 3
# By so many letters a kind of record is known in a path: `entit` in `mergeEntities`.
_STEM = 5


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
            told: list[Reply] = []
            for call in own_calls(operation, whole.world.own, OWN):
                told.append(ask(call))
                if told[-1].succeeded:
                    break
            assert told and told[-1].succeeded, (operation.name, told)
            if operation.name.endswith((" forget", " correct")):
                # What is hidden here is asked for below.
                body = json.dumps({"count": 1, "bank": whole.world.own.id})
                headers = {"Content-Type": "application/json"}
                assert client.web.post("/api/v1/undo", body, headers).is_success


@pytest.mark.slow
def test_every_statement_of_a_request_is_planned_for_one_partition(
    postgres: Server, world: World, keys: ServerKeys
) -> None:
    """Every operation that the server describes, and every route of the permission table. Each
    succeeds, so that it runs to its end; a route that concerns all banks refuses the key, and so
    reads nothing."""
    for_all_banks = {name for name, permit in _ROUTES.items() if permit.all_banks}
    fields = {f"graph {camel_name(one.id)}" for one in all_operations() if one.all_banks}
    locks = PartitionLocks(postgres, world.settings.store, world.own.id)
    env = {**world.env, "HOLDFAST_STORE": f"{world.settings.store}&wait_s={_WAIT_S}"}
    # One process: others would open the memory again, for the same statements.
    server = served(world._replace(env=env), "--workers", "1")
    with server as url, KeyClient(url, keys.chief) as chief:
        described = ServerOperations(chief)
        with KeyClient(url, keys.admin) as client:
            sweep = _Sweep(client, world.own)
            ways = [way for sort in INTERFACES for way in described.ways(sort, client)]
            ways = [way for way in ways if way[0].name != _DECIDED_BY_REST]
            ways.sort(key=lambda way: _sweep_order(way[0]))
            rewriting = [way for way in ways if _rewrites_tables(way[0])]
            _wait_until_quiet(postgres, world.settings.store)
            with locks.held():
                for way in ways:
                    if way not in rewriting:
                        sweep.ask(*way, locks.read_waits)
                sweep.end_mcp(locks.read_waits)
                for route in for_all_banks - sweep.last.keys():
                    sweep.ask_plainly(route)
                chief.web.get("/api/v1/exchanges")
                assert locks.read_waits(), "a request for all banks was not noticed"
            with logging_plans(postgres, world.settings.store) as plans:
                for way in rewriting:
                    sweep.ask(*way, plans.read_unpruned)
                assert plans.plans > 100
    assert not {name: found for name, found in sweep.unpruned.items() if found}
    assert {sweep.last[name].status for name in for_all_banks} == {403}
    every = {operation.name for operation, _ in ways} | _ROUTES.keys()
    assert not fields & sweep.succeeded
    never = every - sweep.succeeded - for_all_banks - fields
    assert not never, {name: sweep.last.get(name) for name in never}


def _rewrites_tables(operation: Operation) -> bool:
    """What is erased is overwritten on the disk as well, in every partition: that is not planned,
    but waits for every lock."""
    return "purge" in operation.path and operation_order(operation) > 0


def _sweep_order(operation: Operation) -> tuple[int, bool, bool]:
    """What needs something prepared comes first, because others change any record. A conversation
    is deleted only after it was of use."""
    prepared = operation.name in PREPARED
    return operation_order(operation), not prepared, "remove" in operation.path


class _Sweep:
    """Every operation asked until it succeeds, and what was planned for other partitions."""

    def __init__(self, client: KeyClient, own: Named) -> None:
        self._client = client
        self._changing = ChangingCalls(client, own)
        self._own = own._replace(ids={**own.ids, "research": (self._changing.conversation,)})
        self.unpruned: dict[str, set[str]] = {}
        self.succeeded: set[str] = set()
        self.last: dict[str, Reply] = {}

    def ask(
        self, operation: Operation, ask: Callable[[Call], Reply], read: Callable[[], set[str]]
    ) -> None:
        """Ask until it succeeds, first with no more than must be said; where it takes any record,
        until it succeeded with several kinds, because the statements differ."""
        succeeded = 0
        for call in self._calls(operation):
            reply = self.last[operation.name] = ask(call)
            succeeded += reply.succeeded
            if reply.succeeded:
                self._changing.note(operation, reply)
            if succeeded == _wanted(operation) or reply.status == 403:
                break
        if succeeded:
            self.succeeded |= {operation.name, _route_of(operation)}
        self.unpruned[operation.name] = read()

    def end_mcp(self, read: Callable[[], set[str]]) -> None:
        """End the session of MCP, which none of its operations does."""
        if self._client.end_mcp().succeeded:
            self.succeeded.add("DELETE /mcp")
        self.unpruned["DELETE /mcp"] = read()

    def ask_plainly(self, route: str) -> None:
        """Ask a route that no description names."""
        method, path = route.split(" ", 1)
        answer = self._client.web.request(method, path)
        self.last[route] = Reply(answer.status_code, answer.text, answer.is_success)

    def _calls(self, operation: Operation) -> list[Call]:
        prepared = self._changing.call(operation)
        if prepared is not None:
            return [prepared]
        calls = sorted(own_calls(operation, self._own, OWN), key=lambda call: len(call.values))
        # Each record is named by its id and by its URI; one of them is enough.
        calls = calls[::2] if len(calls) > 2 else calls
        # First those of the kind that the operation is named after.
        return sorted(calls, key=lambda call: not _names_kind(operation, call, self._own))


def _names_kind(operation: Operation, call: Call, named: Named) -> bool:
    kinds = {named.kind_of(str(value)) for value in call.values.values()} - {""}
    return any(kind[:_STEM] in operation.path.lower() for kind in kinds)


def _route_of(operation: Operation) -> str:
    """The route behind an operation of GraphQL or MCP."""
    kind = operation.name.split(" ")[0]
    return {"graph": "POST /graphql", "tool": "POST /mcp"}.get(kind, operation.name)


def _wanted(operation: Operation) -> int:
    """How often an operation is to succeed."""
    if "record" not in operation.path or "purge" in operation.path:
        return 1
    return _KINDS_OPENED if operation_order(operation) == 0 else _KINDS_CHANGED


def _wait_until_quiet(postgres: Server, store: str) -> None:
    seen: list[object] = [None]
    latest = (
        "SELECT max(query_start)::text FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )

    def is_quiet() -> bool:
        seen.append(postgres.run(store, latest))
        return seen[-1] == seen[-2]

    wait_until(is_quiet, "the server has opened its first pages", every_s=_QUIET_S)
