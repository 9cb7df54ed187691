"""Whoever asks: what they are called, which banks they see, and how much they may do there.

The owner of a home asks as nobody in particular and may do everything. On a server that several
people share, every request is carried out as the principal of the key that it came with.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    """How much may be done: look, change what is remembered, change how it is kept or erase it.
    Each includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def includes(self, other: Level) -> bool:
        """Whether this much is enough for that."""
        return _ORDER[self] >= _ORDER[other]


_ORDER = {level: place for place, level in enumerate(Level)}


class Principal(NamedTuple):
    """In whose name something is done. `banks` are ids, None for every one; `key` is the id of the
    key that was shown."""

    name: str
    banks: tuple[str, ...] | None = None
    level: Level = Level.ADMIN
    key: str = ""

    @property
    def unbounded(self) -> bool:
        """Whether there is nothing that they may not."""
        return self.banks is None and self.level is Level.ADMIN

    @property
    def label(self) -> str:
        """How a log names them, so that two keys of one name are told apart."""
        return f"{self.name}, key {self.key}" if self.key else self.name

    def sees(self, bank: str) -> bool:
        """Whether a bank, by its id, is one of theirs."""
        return self.banks is None or bank in self.banks
