"""How far each stage above the session has come: what it has not seen yet is its work list.

Whenever what is derived from a session changes, the session gets a new, higher number. A stage
remembers the number up to which it has seen all, and by which version of its rules; a newer
version has seen nothing. What belongs to no session (commits, remembered texts, decisions about
them) counts as the session "".
"""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Change(NamedTuple):
    """A session whose derived rows changed, or that is gone; a later change has a higher number."""

    number: int
    session: str


class Progress(Protocol):
    """What stages have seen."""

    def changes(self, bank: str, stage: str, version: int, limit: int = 1000) -> list[Change]:
        """What this version of a stage has not seen of a bank, in the order of its changing."""
        ...

    def banks_behind(self, stage: str, version: int) -> list[str]:
        """The banks of which it has not seen all."""
        ...

    def reach(self, bank: str, stage: str, version: int, number: int) -> None:
        """This version of a stage has seen all up to a number; to be said in the transaction
        that writes what it made of it."""
        ...

    def has_reached(self, bank: str, stage: str) -> bool:
        """Whether a stage, in any version, has seen anything of a bank."""
        ...

    def note_change(self, bank: str, session: str) -> None:
        """What a session, or "" the rest of a bank, comes to is not what it was."""
        ...
