"""The pages: the first one, a search, and a session of 5,000 messages, over HTTP from a server of
its own, in a memory of 100,000 passages (made as in `scale`) and that session.

Processor time of the server. The control of a search is the recall behind it, asked in this process
in turn with the page, of the others a request that reads nothing. A session's page is asked for at
its start and near its end. What a browser takes to show the page is not in these times.

`python -m bench.pages first [HOME]`: the very first page of a fresh server, asked for as soon as
that says where it is, by the clock and in processor time, and the processor time until it says so.
Without a HOME, over some thousand passages (made as in `startup`).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from tests.support.transcripts import Script

from bench.figures import (
    Case,
    Figure,
    Subject,
    clock_of_call,
    count_rounds,
    cpu_of_call,
    cpu_of_process,
    cpu_so_far,
    measure,
)
from bench.scale import ONE, QUESTIONS, make_large, questions
from bench.startup import make_home
from holdfast.app.memory import Holdfast
from holdfast.recall.core.plan import RecallPlan
from holdfast.refine.ingest.read_plan import Input
from holdfast.settings import Settings

REQUESTS = 1250
SESSION = "66666666-0000-4000-8000-000000000001"
ROUNDS = 15
# Each is a server of its own.
FIRST_ROUNDS = 10
FIRST_PAGES = ("/", "/brief", "/entities", "/sessions")
# 150 ms, which were the limit by the clock, in times of a request that reads nothing (1.1 ms).
PAGE_LIMIT = 136
Ask = Callable[[str], bytes]


@contextmanager
def _home() -> Generator[Settings]:
    """A memory with a large bank and a long session."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir(mode=0o700)
        settings = Settings(home=home, claude_dir=home)
        make_large(home)
        with Holdfast(settings) as memory:
            memory.ingestion.ingest(
                [Input(_long(Path(folder)), "claude-code", "long")], then_know=False
            )
        yield settings


def figures() -> list[Figure]:
    """The pages, and a search."""
    with (
        _home() as settings,
        serving(settings.home) as (ask, pid),
        Holdfast(settings, create=False) as reading,
    ):
        return _pages(ask, pid) + _searches(ask, pid, reading)


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    with (
        _home() as settings,
        serving(settings.home) as (ask, pid),
        Holdfast(settings, create=False) as reading,
    ):
        return [
            *map(str, _pages(ask, pid)),
            _memory_of(pid, "before any search"),
            *map(str, _searches(ask, pid, reading)),
            _memory_of(pid, "with the model and all vectors loaded"),
        ]


def _long(folder: Path) -> Path:
    script = Script(session=SESSION)
    for number in range(REQUESTS):
        script.user(f"Please mend gearbox {number}, it rattles when the boat is in the harbour")
        script.tool("Bash", f"gearbox {number} is quiet", command=f"mend gearbox {number}")
        script.assistant(
            f"Gearbox {number} was loose; I tightened `screw {number * 7}`.\n\n- it holds"
        )
        script.assistant(f"Gearbox {number} is done and **all** tests pass.")
    return script.write(folder)


@contextmanager
def serving(home: Path) -> Generator[tuple[Ask, int]]:
    """A server over a memory, and a way to ask it."""
    command = [sys.executable, "-m", "holdfast", "browse", "--no-open", "--port", "0", "--json"]
    env = {**os.environ, "HOLDFAST_HOME": str(home)}
    # As for everybody, modules and templates are compiled once.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    with subprocess.Popen(command, env=env, cwd=home, stdout=subprocess.PIPE) as process:
        try:
            told = ""
            while "}" not in told and process.stdout is not None:
                told += process.stdout.readline().decode()
            found = json.loads(told)
            key = Path(found["token_file"]).read_text().strip()

            def ask(path: str) -> bytes:
                with_key = {"Authorization": f"Bearer {key}"}
                request = urllib.request.Request(found["url"] + path, headers=with_key)
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return answer.read()

            yield ask, process.pid
        finally:
            process.terminate()


def _pages(ask: Ask, pid: int) -> list[Figure]:
    cases = {
        "the first page": "/",
        "the list of sessions": "/sessions",
        f"a session of {REQUESTS * 4:,} messages": f"/sessions/{SESSION}",
        "the same near its end": f"/sessions/{SESSION}?at={REQUESTS * 4 - 100}",
    }

    def open_page(path: str, times: int = 1) -> Case:
        def case() -> float:
            return cpu_of_process(pid, lambda: [ask(path) for _ in range(times)]) / times

        return case

    return measure(
        "Page",
        "pages",
        Subject("`/health`, which reads nothing", open_page("/health", 20)),
        [Subject(name, open_page(path), PAGE_LIMIT) for name, path in cases.items()],
        ROUNDS,
    )


def _searches(ask: Ask, pid: int, reading: Holdfast) -> list[Figure]:
    plan = RecallPlan(limit=20, tokens=12_000)
    alone, shown = questions(QUESTIONS + 10), questions(QUESTIONS + 10)

    def recall() -> float:
        return cpu_of_call(lambda: reading.search.recall_with_plan(next(alone), "all", plan))

    def search() -> float:
        path = f"/search?q={urllib.parse.quote(next(shown))}"
        return cpu_of_process(pid, lambda: ask(path))

    return measure(
        "Page",
        "pages",
        Subject("the recall behind it", recall),
        [Subject(f"a search, {ONE:,} passages", search, 3)],
        QUESTIONS,
    )


def first_pages(home: Path | None = None) -> list[str]:
    """The first request to a fresh server, page by page; returns the lines of a report."""
    with tempfile.TemporaryDirectory() as folder:
        if home is None:
            home = Path(folder) / "home"
            home.mkdir(mode=0o700)
            make_home(home)
        return [_first_page(home, path) for path in FIRST_PAGES]


def _first_page(home: Path, path: str) -> str:
    taken: list[tuple[float, float, float]] = []
    # The first server compiles what is not compiled yet.
    for _ in range(count_rounds(FIRST_ROUNDS) + 1):
        with serving(home) as (ask, pid):
            start = cpu_so_far(pid)
            clock = clock_of_call(lambda: ask(path))
            taken.append((clock, cpu_so_far(pid) - start, start))
    clock, processor, start = (statistics.median(of) * 1000 for of in zip(*taken[1:], strict=True))
    return (
        f"pages: {path} at once from a fresh server: {clock:.0f} ms by the clock, "
        f"{processor:.0f} ms of processor; start {start:.0f} ms of processor; "
        f"medians of {len(taken) - 1} servers"
    )


def _memory_of(pid: int, when: str) -> str:
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]
    return f"pages: the server's peak {when}: {int(peak) / 1000:.0f} MB"


if __name__ == "__main__":
    lines = first_pages(*map(Path, sys.argv[2:])) if sys.argv[1:2] == ["first"] else run()
    print("\n".join(lines))
