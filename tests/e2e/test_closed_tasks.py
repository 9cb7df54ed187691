"""A task that a later session did is listed as open nowhere, and links to what closed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.model.knowledge import Kind
from tests.e2e.test_kinds import MEMORIES, World
from tests.e2e.test_kinds import world as world  # the fixture
from tests.refine.facts.test_closed_tasks import session_that_does_it, session_that_leaves_open
from tests.support.refine_banks import open_filled

pytestmark = pytest.mark.slow


SESSIONS = [session_that_leaves_open("2026-09-01", 1), session_that_does_it("2026-09-05", 2)]


@pytest.fixture(scope="module", params=[1, 2], ids=["open", "done"])
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tasks")
    open_filled(folder, *SESSIONS[: request.param]).close()
    return folder


def is_done(world: World) -> bool:
    return len(world.memory.reader.sessions.latest(None)) == 2


@pytest.mark.parametrize("name", MEMORIES)
def test_a_task_is_in_every_list_of_tasks_until_it_is_done(world: World, name: str) -> None:
    assert len(MEMORIES[name](world, Kind.TODO)) == (0 if is_done(world) else 1)
    assert bool(MEMORIES[name](world, Kind.OUTCOME)) is is_done(world)


def test_the_brief_tells_a_task_until_it_is_done(world: World) -> None:
    _, told = world.run("brief", "--bank", "proj")
    assert ("still missing" in told) is not is_done(world)


def test_a_closed_task_and_what_closed_it_link_both_ways(world: World) -> None:
    (bank,) = world.memory.banks.all()
    (task,) = world.memory.reader.memories.retained(bank.id, kind=Kind.TODO)
    own, done = f"holdfast://memory/{task.id}", task.superseded_by
    assert bool(done) is is_done(world)
    for name, by, before in ((own, done, []), (done, "", [own])):
        if not name:
            continue
        path = name.removeprefix("holdfast://")
        shown = world.rest(f"records/{path}")["record"]
        assert (shown["superseded_by"], shown["supersedes"]) == (by, before)
        linked = (by or own if done else own).rpartition("/")[2]
        assert linked in world.page(f"/record/{path}")
    items = world.rest("memories?kind=outcome")["memories"]
    assert [one["uri"] for one in items if one["supersedes"] == [own]] == [done] * is_done(world)
