"""`holdfast recall` and `ask`, end to end, against `python -c pass` started the same way.

Processor time (user and system), which others on the machine disturb less than the clock.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from tests.support.transcripts import bug_hunt

from bench.figures import Case, Figure, Subject, cpu_of_command, measure
from holdfast.app.memory import Holdfast
from holdfast.settings import Settings

ROUNDS = 21
SESSIONS = int(os.environ.get("HOLDFAST_BENCH_SESSIONS_OF_A_HOME", "400"))
# The most that a command may take, in times of the control.
RECALL_LIMIT = 10
ASK_LIMIT = 13


def make_home(folder: Path) -> None:
    """A bank of some thousand passages; made once, then copied."""
    shutil.copytree(_made_home().name, folder, dirs_exist_ok=True)


@cache
def _made_home() -> tempfile.TemporaryDirectory[str]:
    made = tempfile.TemporaryDirectory()
    folder = Path(made.name)
    for number in range(SESSIONS):
        script = bug_hunt(f"{number:08x}-0000-4000-8000-000000000001")
        script.user(f"Rename the field tide_{number} to water_{number} in the harbour table")
        script.assistant(f"Renamed tide_{number}; the harbour table and its tests are changed.")
        script.write(folder / "p")
    with Holdfast(Settings(home=folder, claude_dir=folder, bank="bench")) as memory:
        memory.ingest(memory.ingestion.find([folder / "p"]))
    return made


def figures() -> list[Figure]:
    """Recall and ask, as commands."""
    command = Path(sys.executable).with_name("holdfast")
    with tempfile.TemporaryDirectory() as folder:
        make_home(Path(folder))
        env = {**os.environ, "HOLDFAST_HOME": folder}
        env.pop("PYTHONDONTWRITEBYTECODE", None)

        def start(*words: str) -> Case:
            return lambda: cpu_of_command(words, env)

        return measure(
            "Recall",
            "startup",
            Subject("`python -c pass`", start(sys.executable, "-c", "pass")),
            [
                Subject(
                    "`holdfast recall`",
                    start(str(command), "recall", "harbour table tide_7", "--bank", "bench"),
                    RECALL_LIMIT,
                ),
                Subject(
                    "`holdfast ask`",
                    start(str(command), "ask", "what became of tide_7", "--bank", "bench"),
                    ASK_LIMIT,
                    "Ask",
                ),
            ],
            ROUNDS,
        )


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    return [str(figure) for figure in figures()]


if __name__ == "__main__":
    print("\n".join(run()))
