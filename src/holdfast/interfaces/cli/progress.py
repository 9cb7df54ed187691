"""How far a long piece of work is: a line that moves at a terminal, one at the end elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import TextIO

_PAUSE_S = 0.1


class Progress:
    """Called with how much is done and how much there is; `spell` says it in words."""

    def __init__(
        self, what: str, spell: Callable[[int], str], stream: TextIO | None = None
    ) -> None:
        self._what = what
        self._spell = spell
        self._stream = stream or sys.stderr
        self._moves = self._stream.isatty()
        self._started = perf_counter()
        self._shown = 0.0
        self._total = 0

    def __call__(self, done: int, total: int) -> None:
        """Tell, but not more often than an eye can follow."""
        self._total = total
        now = perf_counter()
        if self._moves and total and now - self._shown >= _PAUSE_S:
            self._shown = now
            of = f"{self._spell(done)} of {self._spell(total)}"
            self._stream.write(f"\r\x1b[K{self._what}: {done / total:4.0%}  {of}")
            self._stream.flush()

    def finish(self) -> None:
        """The last line: how much it was, and how long it took."""
        spent = perf_counter() - self._started
        start = "\r\x1b[K" if self._moves else ""
        self._stream.write(f"{start}{self._what}: {self._spell(self._total)} in {spent:.1f} s\n")
