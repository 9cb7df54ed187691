"""Progress of long work: a line that is rewritten at a terminal, or one line at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import TextIO

# How often the line is rewritten: often enough to look alive, seldom enough to cost nothing.
_MIN_INTERVAL_S = 0.1


class Progress:
    """Called with how much is done and how much there is; `format_count` puts such a count into
    words."""

    def __init__(
        self, what: str, format_count: Callable[[int], str], stream: TextIO | None = None
    ) -> None:
        self._what = what
        self._format_count = format_count
        self._stream = stream or sys.stderr
        self._moves = self._stream.isatty()
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
            self._stream.write(f"\r\x1b[K{self._what}: {done / total:4.0%}  {of}")
            self._stream.flush()

    def finish(self) -> None:
        """Print how much was done and how long it took."""
        spent = perf_counter() - self._started
        start = "\r\x1b[K" if self._moves else ""
        self._stream.write(
            f"{start}{self._what}: {self._format_count(self._total)} in {spent:.1f} s\n"
        )
