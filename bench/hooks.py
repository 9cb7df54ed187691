"""What hooks cost: the capture hook against `true`, run the same way, and a storm of events.

The hook is timed by the clock, as its limit is: it makes people wait. The storm:
`SESSIONS` sessions with `EVENTS` events each, eight hooks at a time, then drained; every event
must be in its journal, once.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from bench.figures import Case, Figure, Subject, clock_of_call, measure, run_command
from holdfast.app.core.lease import process_start
from holdfast.capture import journal
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.inbox import list_events, make_inbox
from holdfast.hosts import claude_code
from holdfast.refine.core.banks import BankMaker
from holdfast.refine.hooks.drain import drain
from holdfast.refine.ingest.turns import PrivacyRules
from holdfast.settings import Settings

ROUNDS = 101
LIMIT = 4
SESSIONS = int(os.environ.get("HOLDFAST_BENCH_SESSIONS", "1000"))
EVENTS = 50
AT_ONCE = 8
_SCRIPT = Path(claude_code.__file__).parent / "scripts" / "capture.sh"
_NOW = "2100-01-01T00:00:00.000Z"


@contextmanager
def hooked_home() -> Generator[HomePaths]:
    """A home with hooks and an inbox of its own; its worker does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        places = HomePaths(Path(folder) / "home")
        inbox = make_inbox(places)
        shutil.copy(_SCRIPT, places.hooks)
        places.interpreter.write_text("/bin/true\n-I\n")
        try:
            yield places
        finally:
            shutil.rmtree(inbox, ignore_errors=True)


def payload(event: str, session: str, number: int) -> bytes:
    """What Claude Code gives to a hook, of an ordinary size."""
    told = {
        "session_id": session,
        "transcript_path": f"/home/dev/.claude/projects/-home-dev-proj/{session}.jsonl",
        "cwd": "/home/dev/proj",
        "hook_event_name": event,
        "tool_name": "Bash",
        "tool_use_id": f"toolu_{session}_{number}",
        "tool_input": {"command": f"pytest -q tests/test_{number}.py"},
        "tool_response": {"stdout": "line of output\n" * 200 + f"{number} passed", "stderr": ""},
        "prompt": f"Please look at part {number} of the harbour plan",
        "last_assistant_message": f"Part {number} of the plan is about the quay wall.",
        "duration_ms": 12,
    }
    return json.dumps(told).encode()


def figures() -> list[Figure]:
    """One hook at a time, as the host starts it: through a shell."""
    with hooked_home() as places:
        script = shlex.quote(str(places.hooks / "capture.sh"))
        env = {**os.environ, "CLAUDE_CODE_SESSION_ID": "bench"}
        numbers = itertools.count()

        def hook(event: str) -> Case:
            entry = f"sh {script} {event} 2>/dev/null || exit 0" if event else "true"
            command = ["/bin/sh", "-c", entry]

            def case() -> float:
                data = payload(event, "bench", next(numbers))
                return clock_of_call(lambda: run_command(command, env, data))

            return case

        with subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
        ) as worker:
            places.worker_pid.write_text(f"{worker.pid}\n{process_start(worker.pid)}\n")
            found = measure(
                "Hook",
                "hooks",
                Subject("`true`", hook("")),
                [
                    Subject("capture of an event", hook("PostToolUse"), LIMIT),
                    Subject("capture at `Stop`, worker running", hook("Stop"), LIMIT),
                ],
                ROUNDS,
                "clock",
            )
            worker.communicate()
    return found


def play(places: HomePaths, session: str) -> None:
    """One session's hooks, one after the other, none of which may fail or say anything."""
    env = {
        **os.environ,
        "CLAUDE_CODE_SESSION_ID": session,
        "CLAUDE_CONFIG_DIR": str(places.home / "claude"),
        "HOLDFAST_EMBEDDER": "none",
    }
    script = str(places.hooks / "capture.sh")
    for number in range(EVENTS):
        event = ("UserPromptSubmit", "PostToolUse", "PostToolUse", "Stop")[number % 4]
        done = subprocess.run(
            ["/bin/sh", script, event],
            env=env,
            input=payload(event, session, number),
            capture_output=True,
            check=True,
        )
        assert not done.stdout and not done.stderr


def storm(places: HomePaths) -> list[str]:
    """All sessions, eight at a time, then the draining."""
    names = [f"storm-{number:05d}" for number in range(SESSIONS)]
    places.session_marks.mkdir()
    for name in names:
        (places.session_marks / f"{name}.goal").touch()
    started = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(play, [places] * len(names), names))
    spent = time.perf_counter() - started
    inbox = places.inbox()
    assert inbox is not None
    left = list_events(inbox).events
    held = sum(event.size for event in left) / 1e6
    settings = Settings(home=places.home, claude_dir=places.home / "claude")
    started = time.perf_counter()
    banks = BankMaker(settings, lambda: _NOW)
    done = drain(places, banks, PrivacyRules(), lambda: _NOW)
    draining = time.perf_counter() - started
    lost, twice = count(places, names)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return [
        f"hooks: storm of {SESSIONS} sessions with {EVENTS} events, {AT_ONCE} at a time: "
        f"{spent:.0f} s, {len(left)} events waiting ({held:.0f} MB)",
        f"hooks: drained {done.events} in {draining:.1f} s "
        f"({done.events / draining:.0f} a second, peak {memory:.0f} MB): {lost} lost, "
        f"{twice} twice, {done.failed} failed, {len(list_events(inbox).events)} left",
    ]


def count(places: HomePaths, names: list[str]) -> tuple[int, int]:
    """Events that are missing from the journals, and events that are there more than once."""
    lost = twice = 0
    for name in names:
        events = list(journal.read(places.journal(name)))
        ids = {event["id"] for event in events}
        with_words = sum("text" in event or "tool" in event for event in events)
        lost += EVENTS - min(len(ids), with_words)
        twice += len(events) - len(ids)
    return lost, twice


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    report = [str(figure) for figure in figures()]
    with hooked_home() as places:
        return report + storm(places)


if __name__ == "__main__":
    print("\n".join(run()))
