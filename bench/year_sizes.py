"""What one more session costs a memory of a given size, without simulating every day before it.

The sessions of `bench.year` are read in bulk up to each size, and then eleven more one by one, as a
worker does it after each: two hours apart, so that what is done once an hour is done each time. The
first warms the process up and is not counted. They are the same sessions at every size.
While the bulk is read, a text that differs only in the numbers after its symbols gets the vector of
the first such text, because computing all of them would take most of the time; the sessions that
are measured get their own.

`python -m bench.year_sizes build FOLDER SIZE...` makes the memories, `... measure FOLDER SIZE...`
measures one more session at each, which may be repeated with other code.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from bench import year
from bench.corpus import real_transcripts
from bench.year_measures import measure, peak_mb
from bench.year_vectors import reused_vectors
from holdfast.app.background.step_runner import Step, WorkerPass
from holdfast.app.background.steps import STEPS
from holdfast.app.background.worker import WorkerOptions, run_worker
from holdfast.app.memory import Holdfast
from holdfast.times import format_time

A_DAY = 5
COUNTED = 10
HOURS_APART = 2
PROCESSES = 3


def main() -> int:
    """Build memories, or measure them."""
    what, place, sizes = sys.argv[1], Path(sys.argv[2]), [int(size) for size in sys.argv[3:]]
    if what == "build":
        with real_transcripts() as found:
            if found is None:
                print("year_sizes: no real transcripts at hand ($HOLDFAST_BENCH_DATA)")
                return 0
            year.make_home(place, year.chosen(found))
        build(place, sizes)
    elif what == "measure":
        for size in sizes:
            restore(place, size)
            command = [sys.executable, "-m", "bench.year_sizes", "one", str(place), str(size)]
            subprocess.run(command, check=True)
    elif what == "one":
        print(json.dumps(measure_size(place, sizes[0])), flush=True)
    return 0


def build(place: Path, sizes: Sequence[int]) -> None:
    """Read sessions up to each size, and keep a copy of the memory at each."""
    done = 0
    for size in sizes:
        write_sessions(place, range(done, size))
        with reused_vectors(place / "vectors.npz"):
            read_all(place, size)
        kept = place / f"size-{size}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(place / ".holdfast", kept / ".holdfast")
        shutil.copytree(place / ".claude", kept / ".claude", copy_function=os.link)
        print(f"{size} sessions after {time.process_time():.0f} s", flush=True)
        done = size


def restore(place: Path, size: int) -> None:
    """Put the memory of a size into its place."""
    for name, copy in ((".holdfast", shutil.copy2), (".claude", os.link)):
        shutil.rmtree(place / name, ignore_errors=True)
        shutil.copytree(place / f"size-{size}" / name, place / name, copy_function=copy)


def write_sessions(place: Path, numbers: Sequence[int]) -> None:
    """Write the sessions with these numbers, in order of time."""
    sources = sorted((place / "sources").iterdir())
    with ProcessPoolExecutor(PROCESSES) as pool:
        written = [
            pool.submit(
                year.write_session,
                place,
                sources[number % len(sources)],
                number,
                number // A_DAY,
                number % A_DAY,
            )
            for number in numbers
        ]
        for one in written:
            one.result()


def read_all(place: Path, size: int) -> None:
    """Let a worker do all that waits, after the transcripts were read by several processes."""
    settings, day = year.settings_of(place), size // A_DAY - 1
    now = partial(year.day_time, day)
    year.drain_day(settings, day)
    with Holdfast(settings, now) as memory:
        memory.ingestion.ingest(memory.ingestion.find(()), workers=PROCESSES, then_know=False)
    run_worker(settings, WorkerOptions(start_delay_s=0, linger_s=0), now=now)


def measure_size(place: Path, size: int) -> dict[str, Any]:
    """Processor time of one more session, in all and by step, and what `year` measures."""
    sources, steps = sorted((place / "sources").iterdir()), dict[str, float]()
    by_session: list[float] = []
    for number in range(COUNTED + 1):
        day = size // A_DAY + number // A_DAY
        year.write_session(place, sources[number], size + number, day, number % A_DAY)
        if number == 1:
            steps.clear()
        by_session.append(work(place, day, number % A_DAY, steps))
    counted = by_session[1:]
    return {
        "sessions": size,
        "worker_s_a_session": round(statistics.mean(counted), 3),
        "median_s": round(statistics.median(counted), 3),
        "steps": {name: round(used / COUNTED, 3) for name, used in steps.items()},
        "peak_mb": round(peak_mb()),
        **measure(year.settings_of(place), year.day_time(size // A_DAY + COUNTED // A_DAY, 20)),
    }


def work(place: Path, day: int, of_day: int, steps: dict[str, float]) -> float:
    """Let a worker do the work that waits; returns the processor time, and adds that of steps."""
    settings = year.settings_of(place)
    time_of_day = year.FIRST + timedelta(days=day, hours=1 + HOURS_APART * of_day)
    options = WorkerOptions(start_delay_s=0, linger_s=0)
    began = time.process_time()
    year.drain_day(settings, day)
    run_worker(
        settings, options, [timed(s, steps) for s in STEPS], lambda: format_time(time_of_day)
    )
    return time.process_time() - began


def timed(step: Step, steps: dict[str, float]) -> Step:
    """The same step, which adds its processor time."""

    def run(worker_pass: WorkerPass) -> str:
        began = time.process_time()
        try:
            return step.run(worker_pass)
        finally:
            used = time.process_time() - began
            steps[step.name] = steps.get(step.name, 0.0) + used

    return step._replace(run=run)


if __name__ == "__main__":
    sys.exit(main())
