"""What hooks that answer cost, against `python -I -S -c pass` started the same way.

A warm bank of some thousand passages with a decision in it; the goal brief is one that has
something to say. Processor time, but by the clock where a server answers.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from tests.support.transcripts import Script

from bench.figures import Case, Figure, Subject, clock_of_call, cpu_of_call, measure
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
PROMPT = (
    "The totals on the harbour invoices are off by a cent when a discount is applied. Please fix "
    "the rounding in src/invoice.py so that the customer sees the right sum."
)
_SCRIPTS = Path(claude_code.__file__).parent / "scripts"
# As capture.sh runs it.
_RUN_ANSWER = (
    "import sys; sys.path.insert(0, sys.argv[1]); import answer; "
    "del sys.path[0], sys.argv[1]; answer.run()"
)


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
    script.write(folder / "decided")


class Lab:
    """A home whose hooks are answered."""

    def __init__(self, folder: Path) -> None:
        make_home(folder)
        decide(folder)
        self.settings = Settings(home=folder, claude_dir=folder, bank="bench")
        self.places = HomePaths(folder)
        self.inbox = make_inbox(self.places)
        for script in _SCRIPTS.glob("*.py"):
            shutil.copy(script, self.places.hooks)
        self.places.interpreter.write_text(f"{sys.executable}\n-I\n")
        self.places.worker_pid.write_text(f"{os.getpid()}\n{process_start(os.getpid())}\n")
        with Holdfast(self.settings) as memory:
            memory.ingest(memory.ingestion.find([folder / "decided"]))
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
        command = [sys.executable, "-I", "-S", "-c", _RUN_ANSWER, str(self.places.hooks)]
        done = subprocess.run(
            [*command, what, f"bench-{os.getpid()}-{self._asked}"],
            input=json.dumps({"cwd": "/home/dev/proj", **payload}).encode(),
            capture_output=True,
            check=True,
        )
        return done.stdout.decode()

    def start(self) -> None:
        for event in self.inbox.iterdir():  # as after a worker has read them
            event.unlink()
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


def _hold(*subjects: Subject, rounds: int = ROUNDS) -> list[Figure]:
    control = Subject("`python -I -S -c pass`", _cpu(nothing))
    return measure("Session start", "answers", control, subjects, rounds)


def _cpu(call: Callable[[], None]) -> Case:
    return lambda: cpu_of_call(call)


def _alone(lab: Lab) -> list[Figure]:
    """What hooks cost that no server answers."""
    found = _hold(
        Subject("brief at the start of a session", _cpu(lab.start), 5),
        Subject("look at a file before an edit", _cpu(lab.file)),
        Subject("brief for the first prompt, no server", _cpu(lab.goal), 15),
    )
    lab.outdate()
    # Only where a file or the bank changed since the worker's last pass: it makes the whole brief.
    outdated = Subject("brief at the start, out of date", _cpu(lab.start), 25)
    return found + _hold(outdated, rounds=ROUNDS // 2)


def figures() -> list[Figure]:
    """What hooks cost that no server answers."""
    with _open_lab() as lab:
        return _alone(lab)


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    with _open_lab() as lab:
        found = _alone(lab)
        asking = serve_briefs(lab.settings)
        assert asking is not None
        # By the clock: another process has most of the work, and the hook waits for it.
        control = Subject("`python -I -S -c pass`", lambda: clock_of_call(nothing))
        goal = Subject("brief for the first prompt, socket", lambda: clock_of_call(lab.goal), 5)
        found += measure("Session start", "answers", control, [goal], ROUNDS, "clock")
        asking.close()
    return [str(figure) for figure in found]


@contextmanager
def _open_lab() -> Generator[Lab]:
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder))
        try:
            yield lab
        finally:
            shutil.rmtree(lab.inbox, ignore_errors=True)


if __name__ == "__main__":
    print("\n".join(run()))
