"""A key for one bank tells and changes nothing of another, wherever a server can be asked: every
operation that its own descriptions name, with every place in it that can name something. A new one
is asked by itself; one that nobody could ask successfully fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from tests.e2e.access.key_client import INTERFACES, KeyClient, Reply, ServerOperations
from tests.e2e.access.operations import Call, Operation, foreign_calls, own_calls
from tests.e2e.access.serving import Served, ServerKeys, make_keys, served
from tests.e2e.access.two_banks import OTHER, OWN, World, make_world

# When each key was last used is noted, and how large tables are.
_IGNORED_TABLES = ("api_key", "sqlite_stat1")
_MAX_CALLS = 80
# One kind of record is as good as another for somebody who may not change any.
_EVERY = 5
# Neither bank holds anything that was imported or pulled, so nobody can take that back. While a key
# is for one of them, they cannot be merged.
_NOT_THERE = (
    *("POST /api/v1/imports/{id}/undo", "POST /api/v1/pulls/{id}/undo"),
    *("graph undoImport", "graph undoPull"),
    *("POST /api/v1/banks/{name}/merge", "POST /api/v1/banks/{name}/unmerge"),
    *("graph bankMerge", "graph bankUnmerge"),
)
# Each kind of record has another form.
_OPEN = "GET /api/v1/records/{id}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, ServerKeys]:
    world = make_world(tmp_path_factory.mktemp("walls"))
    return world, make_keys(world)


@pytest.fixture(scope="module")
def whole(
    made: tuple[World, ServerKeys], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    world = made[0].copy(tmp_path_factory.mktemp("served"))
    with served(world) as url:
        yield Served(world, made[1], url)


@pytest.fixture(scope="module")
def described(whole: Served) -> ServerOperations:
    with KeyClient(whole.url, whole.keys.chief) as chief:
        return ServerOperations(chief)


@pytest.mark.slow
@pytest.mark.parametrize("sort", INTERFACES)
def test_a_key_cannot_read_or_change_another_bank(
    whole: Served, described: ServerOperations, sort: str
) -> None:
    world, secrets = whole.world, whole.world.secrets()
    before = others_rows(world)
    wrong: list[object] = []
    asked = 0
    with KeyClient(whole.url, whole.keys.admin) as client:
        for operation, ask in described.ways(sort, client):
            for call, nowhere in foreign_calls(operation, world, OWN, OTHER):
                told, said = ask(call), call.said()
                text = told.text.lower()
                asked += 1
                leaks = [one for one in secrets if one in text and one not in said]
                if leaks:
                    wrong.append((operation.name, call.values, leaks, told.text[:300]))
                elif nowhere is not None and distinguishes(call, told, nowhere, ask(nowhere)):
                    wrong.append((operation.name, call.values, told, ask(nowhere)))
    assert not wrong, "\n".join(map(str, wrong[:20]))
    assert others_rows(world) == before
    with Holdfast(world.settings) as memory:
        assert {memory.context.bank_id(name) for name in world.other.names} == {world.other.id}
    assert asked > 50


def others_rows(world: World) -> object:
    """All of the other bank, and which banks there are."""
    banks = world.rows()["bank"]
    own = [row for row in banks if row[0] == world.other.id]
    return world.rows(world.other.id), own, [row[:2] for row in banks]


def distinguishes(call: Call, told: Reply, twin: Call, other: Reply) -> bool:
    """Whether what is another's is answered otherwise than what there is nowhere."""
    if told.status != other.status or told.succeeded != other.succeeded:
        return True
    return not told.succeeded and told.without(call.words()) != other.without(twin.words())


@pytest.mark.parametrize("sort", INTERFACES)
def test_a_reading_key_changes_nothing(
    whole: Served, described: ServerOperations, sort: str
) -> None:
    world = whole.world
    before = _lasting(world)
    with KeyClient(whole.url, whole.keys.read) as client:
        for operation, ask in described.ways(sort, client):
            for call in [*own_calls(operation, world.own, OWN)][::_EVERY]:
                ask(call)
    assert before["turn"] and _lasting(world) == before


def _lasting(world: World) -> dict[str, object]:
    return {name: rows for name, rows in world.rows().items() if name not in _IGNORED_TABLES}


def test_only_tools_that_a_key_may_call_are_listed(
    whole: Served, described: ServerOperations
) -> None:
    for key, writes in ((whole.keys.read, False), (whole.keys.write, True)):
        with KeyClient(whole.url, key) as client:
            listed = ServerOperations.tools_of(client)
            assert all(writes or tool["annotations"]["readOnlyHint"] for tool in listed)
            assert (len(listed) == len(described.tools)) is writes


@pytest.mark.parametrize("number", range(9))
def test_an_invalid_key_gives_no_access(
    whole: Served, described: ServerOperations, number: int
) -> None:
    key = ("", *whole.keys.bad)[number]
    told: set[tuple[int, str]] = set()
    for place, sort in enumerate(INTERFACES, 1):
        with KeyClient(whole.url, key, f"127.0.{number + 1}.{place}") as client:
            for operation, ask in described.ways(sort, client)[:_MAX_CALLS]:
                found = ask(next(own_calls(operation, whole.world.own, OWN)))
                told.add((found.status, found.text))
    assert len(told) == 1 and {status for status, _ in told} == {401}, told


@pytest.mark.parametrize("sort", INTERFACES)
def test_a_permitted_key_can_use_every_operation(
    made: tuple[World, ServerKeys], described: ServerOperations, sort: str, tmp_path: Path
) -> None:
    """So that the silence above is not for want of a right question. (A form wants to know what
    was seen before, so of pages only those that show something.) What REST answers is as its
    description says. Some of it can be done once, so each interface has a server of its own."""
    never: list[object] = []
    world, keys = made[0].copy(tmp_path), made[1]
    with served(world) as url, KeyClient(url, keys.chief) as client:
        for operation, ask in sorted(
            described.ways(sort, client), key=lambda one: operation_order(one[0])
        ):
            if operation.name in _NOT_THERE or (sort == "pages" and operation.method == "POST"):
                continue
            told, succeeded = Reply(0, "", False), False
            for call in (
                *own_calls(operation, world.other, OTHER),
                *own_calls(operation, world.own, OWN),
            ):
                told = ask(call)
                succeeded |= told.succeeded
                if told.succeeded and sort == "rest":
                    described.check_form(operation, told)
                if told.succeeded and operation.name != _OPEN:
                    break
            if not succeeded:
                never.append((operation.name, told))
    assert not never, "\n".join(map(str, never))


def operation_order(operation: Operation) -> int:
    """First what only looks, last what erases."""
    if any(word in operation.path for word in ("purge", "scrub", "undo", "fix")):
        return 9
    later = {"GET": 0, "query": 0, "POST": 1, "mutation": 1, "PATCH": 2, "DELETE": 3}
    return later[operation.method]
