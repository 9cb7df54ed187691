"""`holdfast recall`, end to end, against `python -c pass` started the same way.

Cases take turns inside each round, so that a noisy machine slows all alike; medians.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.support.transcripts import bug_hunt

from holdfast.app.memory import Holdfast
from holdfast.settings import Settings

ROUNDS = 21
LIMIT = 12
SESSIONS = 400


def make_home(folder: Path) -> None:
    """A bank of some thousand passages."""
    for number in range(SESSIONS):
        script = bug_hunt(f"{number:08x}-0000-4000-8000-000000000001")
        script.user(f"Rename the field tide_{number} to water_{number} in the harbour table")
        script.assistant(f"Renamed tide_{number}; the harbour table and its tests are changed.")
        script.write(folder / "p")
    with Holdfast(Settings(home=folder, claude_dir=folder, bank="bench")) as memory:
        memory.ingest(memory.ingestion.find([folder / "p"]))


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    command = Path(sys.executable).with_name("holdfast")
    cases = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "holdfast recall": [str(command), "recall", "harbour table tide_7", "--bank", "bench"],
        "holdfast ask": [str(command), "ask", "what became of tide_7", "--bank", "bench"],
    }
    with tempfile.TemporaryDirectory() as folder:
        make_home(Path(folder))
        env = {**os.environ, "HOLDFAST_HOME": folder}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        times: dict[str, list[float]] = {name: [] for name in cases}
        for round in range(ROUNDS + 2):
            for name, case in cases.items():
                started = time.perf_counter()
                subprocess.run(case, env=env, stdout=subprocess.DEVNULL, check=True)
                if round >= 2:
                    times[name].append(time.perf_counter() - started)
    control = statistics.median(times["python -c pass"])
    return [
        f"startup: {name}: {statistics.median(taken) * 1000:.0f} ms, "
        f"{statistics.median(taken) / control:.1f} x (limit {LIMIT})"
        for name, taken in times.items()
    ]


if __name__ == "__main__":
    print("\n".join(run()))
