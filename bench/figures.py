"""What a measurement of speed gives: the time of a case in times of a control, and how much that
varied. Cases take turns inside each round, so that a noisy machine slows all alike.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import NamedTuple

# How many seconds one run of a case took.
Case = Callable[[], float]
# Rounds that are not counted: files come into memory and modules are compiled.
_WARM_UP = 2


class Figure(NamedTuple):
    """One row of the page of speed."""

    topic: str
    name: str
    control: str
    module: str
    ratio: float
    # Half the distance between the quartiles of the rounds' own ratios.
    noise: float
    milliseconds: float
    rounds: int
    # "processor": user and system; "clock": what somebody waits for, which needs an idle machine.
    by: str
    # The most that the ratio may be; None where nobody has set one.
    limit: float | None = None

    @property
    def missed(self) -> bool:
        """Whether it is above its limit by more than its noise."""
        return self.limit is not None and self.ratio - self.noise > self.limit

    def __str__(self) -> str:
        limit = "" if self.limit is None else f" (limit {self.limit:g})"
        return (
            f"{self.module}: {self.name}: {self.ratio:.2f} ± {self.noise:.2f} x {self.control}"
            f"{limit}; {self.milliseconds:.1f} ms by {self.by}, {self.rounds} rounds"
        )


class Subject(NamedTuple):
    """A case to hold against the control, and what it may cost."""

    name: str
    case: Case
    limit: float | None = None
    topic: str = ""


def count_rounds(usual: int) -> int:
    """How many rounds to take: $HOLDFAST_BENCH_ROUNDS, at least two, or the usual number."""
    return max(2, int(os.environ.get("HOLDFAST_BENCH_ROUNDS") or usual))


def take_turns(cases: Mapping[str, Case], rounds: int) -> dict[str, list[float]]:
    """The seconds of each case in each round, after some rounds that do not count."""
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + _WARM_UP):
        for name, case in cases.items():
            seconds = case()
            if number >= _WARM_UP:
                taken[name].append(seconds)
    return taken


def measure(
    topic: str,
    module: str,
    control: Subject,
    subjects: Sequence[Subject],
    rounds: int,
    by: str = "processor",
) -> list[Figure]:
    """Let the control and the subjects take turns. `by` is what their cases read."""
    cases = {one.name: one.case for one in (control, *subjects)}
    taken = take_turns(cases, count_rounds(rounds))
    plain = taken[control.name]
    return [
        Figure(
            one.topic or topic,
            one.name,
            control.name,
            module,
            round(statistics.median(taken[one.name]) / statistics.median(plain), 3),
            round(spread(s / c for s, c in zip(taken[one.name], plain, strict=True)), 3),
            round(statistics.median(taken[one.name]) * 1000, 3),
            len(plain),
            by,
            one.limit,
        )
        for one in subjects
    ]


def spread(ratios: Iterable[float]) -> float:
    """Half the distance between the quartiles."""
    first, _, third = statistics.quantiles(ratios, n=4, method="inclusive")
    return (third - first) / 2


def cpu_of_command(
    command: Sequence[str], env: Mapping[str, str] | None = None, data: bytes = b""
) -> float:
    """The processor time, user and system, of a command that must succeed."""
    before = _cpu(RUSAGE_CHILDREN)
    run_command(command, env, data)
    return _cpu(RUSAGE_CHILDREN) - before


def run_command(
    command: Sequence[str], env: Mapping[str, str] | None = None, data: bytes = b""
) -> None:
    """Run a command that must succeed."""
    subprocess.run(command, env=env, input=data, stdout=subprocess.DEVNULL, check=True)


def cpu_of_call(call: Callable[[], object]) -> float:
    """The processor time of a call: of this process, and of those that it started and awaited."""
    before = _cpu(RUSAGE_SELF) + _cpu(RUSAGE_CHILDREN)
    call()
    return _cpu(RUSAGE_SELF) + _cpu(RUSAGE_CHILDREN) - before


def clock_of_call(call: Callable[[], object]) -> float:
    """How long a call takes by the clock."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def cpu_of_process(pid: int, call: Callable[[], object]) -> float:
    """The processor time that another process takes while it answers a call."""
    before = cpu_so_far(pid)
    call()
    return cpu_so_far(pid) - before


def cpu_so_far(pid: int) -> float:
    """The processor time of another process since its start."""
    # The clock of a process as clock_getcpuclockid(3) of Linux makes it: exact, where the ticks of
    # /proc are of ten milliseconds.
    return time.clock_gettime((~pid << 3) | 2)


def _cpu(who: int) -> float:
    usage = getrusage(who)
    return usage.ru_utime + usage.ru_stime
