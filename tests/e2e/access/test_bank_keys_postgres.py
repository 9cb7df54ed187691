"""The walls again where the memory lies on a PostgreSQL server: the statements are others there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.e2e.access.key_client import KeyClient, ServerOperations
from tests.e2e.access.operations import foreign_calls, own_calls
from tests.e2e.access.serving import Served, ServerKeys, make_keys, served
from tests.e2e.access.test_bank_keys import distinguishes, others_rows
from tests.e2e.access.two_banks import OTHER, OWN, World, make_world
from tests.support.postgres_server import Server


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    with closing(Server()) as made:
        yield made


@pytest.fixture(scope="module")
def world(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("walls"), postgres.database())


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
