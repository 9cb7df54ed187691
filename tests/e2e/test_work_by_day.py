"""What was done at a time, through every interface that answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from urllib.parse import quote

import pytest

from holdfast.app.memory import Holdfast
from holdfast.interfaces.mcp.engine import ToolEngine
from holdfast.settings import load_settings
from tests.e2e.test_questions_are_not_evidence import World
from tests.support.command_line import read, runner
from tests.support.http.server import Server, make_home, serving
from tests.support.transcripts import Script

QUESTION = "What was done from 2 March to 4 March 2026?"
WORK = (
    ("2026-03-02T09:00", "Add a lamp to the pier.", "The pier has a lamp that follows the sun."),
    ("2026-03-04T14:00", "Paint the buoy.", "The buoy is painted in signal red now."),
)
LINES = (
    "2 Mar 2026: Add a lamp to the pier — The pier has a lamp that follows the sun. [1]",
    "4 Mar 2026: Paint the buoy — The buoy is painted in signal red now. [2]",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("by-day")
    for number, (start, asked, replied) in enumerate(WORK, start=1):
        script = Script(f"{number:08d}-0000-4000-8000-000000000001", cwd="/home/dev/proj")
        script.start = datetime.fromisoformat(start).replace(tzinfo=UTC)
        script.user(asked)
        script.tool("Edit", "ok", file_path="/home/dev/proj/a.py", old_string="1", new_string="2")
        script.assistant(f"All 12 tests pass. {replied}")
        script.write(folder / "projects")
    with serving(make_home(folder, folder / "projects"), folder) as running:
        yield running


@pytest.fixture
def world(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[World]:
    for name in ("HOLDFAST_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, server.env[name])
    monkeypatch.setenv("HOLDFAST_BANK", "proj")
    engine = ToolEngine()
    with Holdfast(load_settings()) as memory:
        yield World(server, memory, engine, runner(capsys))
    engine.close()


def _by_page(world: World) -> str:
    page = world.get(f"/?q={quote(QUESTION)}&bank=proj")
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


ANSWERS: dict[str, Callable[[World], str]] = {
    "Python": lambda w: w.memory.ask(QUESTION, "proj").answer,
    "command line": lambda w: read(w.run, "ask", QUESTION, "--bank", "proj")["answer"],
    "MCP": lambda w: w.tool("memory", question=QUESTION)["answer"],
    "REST": lambda w: w.post("/api/v1/ask", question=QUESTION, bank="proj")["answer"],
}


@pytest.mark.parametrize("way", ANSWERS)
def test_what_was_done_at_a_time_is_told_by_day(world: World, way: str) -> None:
    assert tuple(ANSWERS[way](world).split("\n")) == LINES


def test_the_page_tells_what_was_done_at_a_time_by_day(world: World) -> None:
    page = _by_page(world)
    told = [line.removesuffix(" [1]").removesuffix(" [2]") for line in LINES]
    for line in told:
        day, _, gist = line.partition(": ")
        assert day in page and gist in page
    assert page.index("lamp that follows") < page.index("signal red")
