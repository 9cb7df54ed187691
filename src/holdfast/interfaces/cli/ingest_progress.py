"""One bar for all of `holdfast ingest`, from the first transcript to the brief of the next session.

Each phase has a share of the bar, so that it moves until the end and never back.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from enum import StrEnum
from time import monotonic
from types import TracebackType
from typing import Self, TextIO

from holdfast.operating_system import show_escape_codes


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


_BAR_CHARACTERS = 20
# More often than this nobody sees a difference.
_REDRAW_S = 0.1


class IngestProgress:
    """A bar at a terminal, on a line that is written over; nothing elsewhere, or if `quiet`."""

    def __init__(
        self, quiet: bool, stream: TextIO | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        can_draw = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._is_shown = not quiet and can_draw and show_escape_codes()
        self._started = self._drawn = clock()
        self._fraction = 0.0
        self._label: str = Phase.READ.value
        self._count = ""

    def __enter__(self) -> Self:
        self._draw(always=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self._fraction, self._label, self._count = 1.0, "done", ""
        self._draw(always=True)
        if self._is_shown:
            self._stream.write("\n")

    def _draw(self, always: bool = False) -> None:
        now = self._clock()
        if not self._is_shown or (now - self._drawn < _REDRAW_S and not always):
            return
        self._drawn = now
        full = round(_BAR_CHARACTERS * min(1.0, self._fraction))
        minutes, seconds = divmod(int(now - self._started), 60)
        parts = [
            f"{self._label:<27}",
            "━" * full + " " * (_BAR_CHARACTERS - full),
            f"{self._fraction * 100:>3.0f}%",
            self._count,
            f"{minutes}:{seconds:02}",
        ]
        # A line that is as wide as the terminal would begin another one.
        width = shutil.get_terminal_size().columns - 1
        self._stream.write("\r" + " ".join(part for part in parts if part)[:width] + "\x1b[K")
        self._stream.flush()

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
        is_new, self._label, self._count = self._label != phase.value, phase.value, text
        self._draw(always=is_new)

    def watch(
        self, phase: Phase, count: Callable[[int], str] | None = None
    ) -> Callable[[int, int], None]:
        """What is called with how much of a phase is done, and how much there is."""
        self.show(phase, 0, 0)
        return lambda done, total: self.show(phase, done, total, count)


def _is_before(one: Phase, other: Phase) -> bool:
    phases = list(Phase)
    return phases.index(one) < phases.index(other)
