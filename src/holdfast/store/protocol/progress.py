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


class Outdated(NamedTuple):
    """A session of which something was made by an older version."""

    bank: str
    session: str


class Versions(Protocol):
    """What is older than it could be."""

    def rules_of(self, bank: str, session: str) -> int:
        """The version of the rules by which a session's derived rows were made."""
        ...

    def note_rules(self, bank: str, session: str, version: int) -> None:
        """All derived rows of a session are of this version; to be said in the transaction that
        writes them."""
        ...

    def outdated(self, rules: int, limit: int = 100) -> list[Outdated]:
        """Sessions whose derived rows were made by older rules, the latest first."""
        ...

    def count_outdated(self, rules: int) -> int:
        """How many there are."""
        ...

    def outdated_summaries(self, prompts: int, limit: int = 100_000) -> list[Outdated]:
        """Sessions with a summary or a digest that a model made when asked in an older way, and
        that it has not been asked for anew; the latest first. What a person said anew is not
        among them."""
        ...


class Standing(Versions, Progress, Protocol):
    """How up to date everything derived is, of sessions and above them."""
