"""One bar for all of `holdfast ingest`, from the first transcript to the brief of the next session.

Each phase has a share of the bar, so that it moves until the end and never back.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


class Phase(StrEnum):
    """The phases in their order; the values are what is shown."""

    READ = "reading transcripts"
    REFINE = "refining sessions"
    DISTIL = "distilling knowledge"
    EMBED = "preparing search by meaning"
    BRIEF = "preparing the brief"


# Measured on 98 real sessions (55 MB) on two cores: of 57 s of processor time reading took 1,
# refining 2, distilling 11 and embedding 43. Reading waits for the disk, too.
_SHARES = {
    Phase.READ: 0.05,
    Phase.REFINE: 0.05,
    Phase.DISTIL: 0.2,
    Phase.EMBED: 0.69,
    Phase.BRIEF: 0.01,
}


# Bytes of transcripts that one core reads, refines, distils and embeds in a second, in the same
# measurement; commits and turns, which are embedded for a limited time, are not in it.
_BYTES_PER_CORE_S = 1_600_000


def estimate_seconds(size: int, cores: int, embedding_s: int) -> int:
    """How long it takes to ingest so many bytes, if turns are embedded for so many seconds."""
    reading = size / _BYTES_PER_CORE_S / max(1, cores)
    return round(reading + min(embedding_s, 2 * reading) + 1.5)


def reading_time(seconds: int) -> str:
    """An estimated time as people say it."""
    if seconds < 50:
        return f"about {max(10, -(-seconds // 10) * 10)} seconds"
    minutes = -(-seconds // 60)
    return "about a minute" if minutes == 1 else f"about {minutes} minutes"


class IngestProgress:
    """A bar at a terminal; nothing elsewhere, or if `quiet`."""

    def __init__(self, quiet: bool) -> None:
        console = Console(file=sys.stderr)
        columns = (
            TextColumn("{task.description:<27}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
        )
        hidden = quiet or not console.is_terminal
        self._bar = Progress(*columns, console=console, disable=hidden)
        self._task = self._bar.add_task(Phase.READ.value, total=1.0, count="")
        self._fraction = 0.0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self._bar.update(self._task, completed=1.0, description="done", count="")
        self._bar.stop()

    @property
    def fraction(self) -> float:
        """How much of all is done, from 0 to 1."""
        return self._fraction

    def show(
        self, phase: Phase, done: int, total: int, count: Callable[[int], str] | None = None
    ) -> None:
        """Show how far a phase is; `count` writes a number of what is counted."""
        before = sum(share for one, share in _SHARES.items() if _is_before(one, phase))
        within = min(1.0, done / total) if total else 0.0
        self._fraction = max(self._fraction, before + _SHARES[phase] * within)
        text = f"{count(done)} of {count(total)}" if count and total else ""
        self._bar.update(self._task, completed=self._fraction, description=phase.value, count=text)

    def watch(
        self, phase: Phase, count: Callable[[int], str] | None = None
    ) -> Callable[[int, int], None]:
        """What is called with how much of a phase is done, and how much there is."""
        self.show(phase, 0, 0)
        return lambda done, total: self.show(phase, done, total, count)


def _is_before(one: Phase, other: Phase) -> bool:
    phases = list(Phase)
    return phases.index(one) < phases.index(other)
