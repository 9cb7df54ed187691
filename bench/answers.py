"""What hooks that answer cost, against `python -I -S -c pass` started the same way.

A warm bank of some thousand passages with a decision in it; the goal brief is one that has
something to say. Cases take turns inside each round; medians.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.transcripts import Script

from bench.startup import make_home
from holdfast.app.briefs.briefing import prepare_briefs
from holdfast.app.briefs.hook_server import serve_briefs
from holdfast.app.core.lease import process_start
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.inbox import make_inbox
from holdfast.hosts import claude_code
from holdfast.settings import Settings

ROUNDS = 21
LIMITS = {
    "session start": 5,
    "goal brief, socket": 5,
    "goal brief, no server": 15,
    # Only where a file or the bank changed since the worker's last pass: it makes the whole brief.
    "session start, brief out of date": 25,
}
PROMPT = (
    "The totals on the harbour invoices are off by a cent when a discount is applied. Please fix "
    "the rounding in src/invoice.py so that the customer sees the right sum."
)
_SCRIPTS = Path(claude_code.__file__).parent / "scripts"


def decide(folder: Path) -> None:
    """A conversation that settled what the prompt is about."""
    script = Script("decided0-0000-4000-8000-000000000001", cwd="/home/dev/proj")
    script.user("How shall we round on the harbour invoices in src/invoice.py?")
    script.assistant("Either once on the total, or on each line.")
    script.user(
        "We decided: round each invoice line by itself, half to even, never the total. Rounding "
        "the total was rejected because the tax office adds up the lines."
    )
    script.assistant("Noted: each line is rounded half to even in src/invoice.py.")
    script.write(folder / "p")


class Lab:
    """A home whose hooks are answered."""

    def __init__(self, folder: Path) -> None:
        decide(folder)
        make_home(folder)
        self.settings = Settings(home=folder, claude_dir=folder, bank="bench")
        self.places = HomePaths(folder)
        self.inbox = make_inbox(self.places)
        shutil.copy(_SCRIPTS / "answer.py", self.places.hooks)
        self.places.interpreter.write_text(f"{sys.executable}\n-I\n")
        self.places.worker_pid.write_text(f"{os.getpid()}\n{process_start(os.getpid())}\n")
        with Holdfast(self.settings) as memory:
            memory.ingestion.embed()
            bank = memory.context.bank_id()
        prepare_briefs(self.settings)
        self._prepared = self.places.briefs / f"{bank}.json"
        named = self.places.briefs / "folders.json"
        folders = json.loads(named.read_text())
        folders["folders"]["/home/dev/proj"] = bank
        named.write_text(json.dumps(folders))
        self._asked = 0

    def answer(self, what: str, **payload: object) -> str:
        """Run the script as the shell hook does, in a session of its own."""
        self._asked += 1
        command = [sys.executable, "-I", "-S", str(self.places.hooks / "answer.py")]
        done = subprocess.run(
            [*command, what, f"bench-{os.getpid()}-{self._asked}"],
            input=json.dumps({"cwd": "/home/dev/proj", **payload}).encode(),
            capture_output=True,
            check=True,
        )
        return done.stdout.decode()

    def start(self) -> None:
        assert "harbour" in self.answer("start", source="startup")

    def outdate(self) -> None:
        """Let the prepared brief be one of an earlier revision of the bank."""
        brief = json.loads(self._prepared.read_text())
        self._prepared.write_text(json.dumps({**brief, "revision": -1}))

    def goal(self) -> None:
        asked = f"{PROMPT} This is ticket {self._asked}."
        assert "half to even" in self.answer("goal", prompt=asked)

    def file(self) -> None:
        self.answer("file", tool_input={"file_path": "/home/dev/proj/src/other.py"})


def nothing() -> None:
    subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], input=b"", check=True)


def medians(cases: dict[str, Callable[[], None]]) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in cases}
    for round in range(ROUNDS + 2):
        for name, case in cases.items():
            started = time.perf_counter()
            case()
            if round >= 2:
                times[name].append(time.perf_counter() - started)
    return {name: statistics.median(taken) for name, taken in times.items()}


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder))
        try:
            alone = medians(
                {
                    "python -I -S -c pass": nothing,
                    "session start": lab.start,
                    "file trigger": lab.file,
                    "goal brief, no server": lab.goal,
                }
            )
            lab.outdate()
            outdated = medians(
                {
                    "python -I -S -c pass": nothing,
                    "session start, brief out of date": lab.start,
                }
            )
            asking = serve_briefs(lab.settings)
            assert asking is not None
            lab.goal()
            served = medians({"python -I -S -c pass": nothing, "goal brief, socket": lab.goal})
            asking.close()
        finally:
            shutil.rmtree(lab.inbox, ignore_errors=True)
    return [*_lines(alone), *_lines(outdated)[1:], *_lines(served)[1:]]


def _lines(found: dict[str, float]) -> list[str]:
    control = found["python -I -S -c pass"]
    return [
        f"answers: {name}: {taken * 1000:.0f} ms, {taken / control:.1f} x"
        + (f" (limit {LIMITS[name]})" if name in LIMITS else "")
        for name, taken in found.items()
    ]


if __name__ == "__main__":
    print("\n".join(run()))
