"""`holdfast recall` and `ask`, end to end, against `python -c pass` started the same way.

Cases take turns inside each round, so that a noisy machine slows all alike; medians, of the time by
the clock and of processor time (user and system, which others on the machine disturb less).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from tests.support.transcripts import bug_hunt

from holdfast.app.memory import Holdfast
from holdfast.settings import Settings

ROUNDS = 21
SESSIONS = 400
_CONTROL = "python -c pass"
# The most that a command may take, in times of the control.
LIMITS = {_CONTROL: 1, "holdfast recall": 10, "holdfast ask": 13}


def make_home(folder: Path) -> None:
    """A bank of some thousand passages."""
    for number in range(SESSIONS):
        script = bug_hunt(f"{number:08x}-0000-4000-8000-000000000001")
        script.user(f"Rename the field tide_{number} to water_{number} in the harbour table")
        script.assistant(f"Renamed tide_{number}; the harbour table and its tests are changed.")
        script.write(folder / "p")
    with Holdfast(Settings(home=folder, claude_dir=folder, bank="bench")) as memory:
        memory.ingest(memory.ingestion.find([folder / "p"]))


def _measure(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    """How long a command takes: by the clock, and of the processor."""
    before, started = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=True)
    taken, after = time.perf_counter() - started, getrusage(RUSAGE_CHILDREN)
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    command = Path(sys.executable).with_name("holdfast")
    cases = {
        _CONTROL: [sys.executable, "-c", "pass"],
        "holdfast recall": [str(command), "recall", "harbour table tide_7", "--bank", "bench"],
        "holdfast ask": [str(command), "ask", "what became of tide_7", "--bank", "bench"],
    }
    with tempfile.TemporaryDirectory() as folder:
        make_home(Path(folder))
        env = {**os.environ, "HOLDFAST_HOME": folder}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
        for round in range(ROUNDS + 2):
            for name, case in cases.items():
                taken = _measure(case, env)
                if round >= 2:
                    times[name].append(taken)
    medians = {
        name: tuple(statistics.median(one) for one in zip(*taken, strict=True))
        for name, taken in times.items()
    }
    return [
        f"startup: {name}: {clock * 1000:.0f} ms, {clock / medians[_CONTROL][0]:.1f} x; "
        f"processor {cpu * 1000:.0f} ms, {cpu / medians[_CONTROL][1]:.1f} x (limit {LIMITS[name]})"
        for name, (clock, cpu) in medians.items()
    ]


if __name__ == "__main__":
    print("\n".join(run()))
