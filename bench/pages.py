"""The pages: the first one, a search, and a session of 5,000 messages, over HTTP from a server of
its own, in a memory of 100,000 passages (made as in `scale`) and that session.

The control of a search is the recall behind it, asked in this process in turn with the page. A
session's page is asked for at its start and near its end. What a browser takes to show the page
is not in these times.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from tests.support.transcripts import Script

from bench.scale import ONE, QUESTIONS, fill, words
from holdfast.app.memory import Holdfast
from holdfast.recall.core.plan import RecallPlan
from holdfast.refine.ingest.read_plan import Input
from holdfast.settings import Settings
from holdfast.store.sqlite.store import SqliteStore

REQUESTS = 1250
SESSION = "66666666-0000-4000-8000-000000000001"
ROUNDS = 15
_LIMIT_MS = 150
Ask = Callable[[str], bytes]


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir(mode=0o700)
        settings = Settings(home=home, claude_dir=home)
        store = SqliteStore(settings.database)
        fill(store, "one", ONE, home / "vectors")
        store.close()
        with Holdfast(settings) as memory:
            memory.ingestion.ingest(
                [Input(_long(Path(folder)), "claude-code", "long")], then_know=False
            )
        with serving(home) as (ask, pid), Holdfast(settings, create=False) as reading:
            return [
                *_pages(ask),
                _memory_of(pid, "before any search"),
                *_searches(ask, reading),
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


def _timed(ask: Callable[[], object]) -> float:
    started = time.perf_counter()
    ask()
    return (time.perf_counter() - started) * 1000


def _pages(ask: Ask) -> list[str]:
    cases = {
        "the first page": "/",
        "the list of sessions": "/sessions",
        f"a session of {REQUESTS * 4:,} messages": f"/sessions/{SESSION}",
        "the same near its end": f"/sessions/{SESSION}?at={REQUESTS * 4 - 100}",
    }
    lines: list[str] = []
    for name, path in cases.items():
        size = len(ask(path))
        taken = [_timed(lambda path=path: ask(path)) for _ in range(ROUNDS)]
        lines.append(
            f"pages: {name}, {ONE:,} passages beside: {statistics.median(taken):.0f} ms median, "
            f"{max(taken):.0f} ms at most, {size / 1000:.0f} KB (limit {_LIMIT_MS} ms)"
        )
    return lines


def _searches(ask: Ask, reading: Holdfast) -> list[str]:
    chance = random.Random(7)
    questions = [words(chance, 6, 100) for _ in range(QUESTIONS)]
    plan = RecallPlan(limit=20, tokens=12_000)
    reading.search.recall_with_plan(questions[0], "all", plan)
    ask(f"/search?q={urllib.parse.quote(questions[0])}")
    page: list[float] = []
    alone: list[float] = []
    for question in questions[1:]:
        path = f"/search?q={urllib.parse.quote(question)}"
        alone.append(_timed(lambda q=question: reading.search.recall_with_plan(q, "all", plan)))
        page.append(_timed(lambda path=path: ask(path)))
    base, whole = statistics.median(alone), statistics.median(page)
    return [
        f"pages: a search, {ONE:,} passages: {whole:.0f} ms median, {whole / base:.2f} x the "
        f"recall behind it ({base:.0f} ms; limit 3)"
    ]


def _memory_of(pid: int, when: str) -> str:
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]
    return f"pages: the server's peak {when}: {int(peak) / 1000:.0f} MB"


if __name__ == "__main__":
    print("\n".join(run()))
