"""Progress of long work at a terminal: a line that is rewritten, then how long it took."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter

# How often the line is rewritten: often enough to look alive, seldom enough to cost nothing.
_MIN_INTERVAL_S = 0.1


class Progress:
    """Called with how much is done and how much there is; `format_count` puts such a count into
    words."""

    def __init__(self, what: str, format_count: Callable[[int], str], quiet: bool = False) -> None:
        self._what = what
        self._format_count = format_count
        self._moves = sys.stderr.isatty() and not quiet
        self._started = perf_counter()
        self._last_shown = 0.0
        self._total = 0

    def __call__(self, done: int, total: int) -> None:
        """Rewrite the line, unless that was done a moment ago."""
        self._total = total
        now = perf_counter()
        if self._moves and total and now - self._last_shown >= _MIN_INTERVAL_S:
            self._last_shown = now
            of = f"{self._format_count(done)} of {self._format_count(total)}"
            sys.stderr.write(f"\r\x1b[K{self._what}: {done / total:4.0%}  {of}")
            sys.stderr.flush()

    def finish(self) -> None:
        """Print how much was done and how long it took, if anything was shown before."""
        if self._moves and self._total:
            spent = perf_counter() - self._started
            count = self._format_count(self._total)
            sys.stderr.write(f"\r\x1b[K{self._what}: {count} in {spent:.1f} s\n")
