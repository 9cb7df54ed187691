"""How far each stage above the session has come: what it has not seen yet is its work list.

Whenever what is derived from a session changes, the session gets a new, higher number. A stage
remembers the number up to which it has seen all, and by which version of its rules; a newer
version has seen nothing. What belongs to no session (commits, remembered texts, decisions about
them) counts as the session "".
"""

from __future__ import annotations

from typing import NamedTuple, Protocol


class SessionChange(NamedTuple):
    """A session whose derived rows changed, or that is gone; a later change has a higher number."""

    number: int
    session: str


class StageProgress(Protocol):
    """What stages have seen."""

    def unseen_changes(
        self, bank: str, stage: str, version: int, limit: int = 1000
    ) -> list[SessionChange]:
        """What this version of a stage has not seen of a bank, in the order of its changing."""
        ...

    def banks_behind(self, stage: str, version: int) -> list[str]:
        """The banks of which it has not seen all."""
        ...

    def mark_seen(self, bank: str, stage: str, version: int, number: int) -> None:
        """This version of a stage has seen all up to a number; to be said in the transaction
        that writes what it made of it."""
        ...

    def has_progress(self, bank: str, stage: str) -> bool:
        """Whether a stage, in any version, has seen anything of a bank."""
        ...

    def mark_changed(self, bank: str, session: str) -> None:
        """What a session, or "" the rest of a bank, comes to is not what it was."""
        ...


class OutdatedSession(NamedTuple):
    """A session of which something was made by an older version."""

    bank: str
    session: str


class DerivationVersions(Protocol):
    """What is older than it could be."""

    def derived_version(self, bank: str, session: str) -> int:
        """The version of the rules by which a session's derived rows were made."""
        ...

    def set_derived_version(self, bank: str, session: str, version: int) -> None:
        """All derived rows of a session are of this version; to be said in the transaction that
        writes them."""
        ...

    def outdated_sessions(self, rules: int, limit: int = 100) -> list[OutdatedSession]:
        """Sessions whose derived rows were made by older rules, the latest first."""
        ...

    def count_outdated_sessions(self, rules: int) -> int:
        """How many there are."""
        ...

    def outdated_summaries(self, prompts: int, limit: int = 100_000) -> list[OutdatedSession]:
        """Sessions with a summary or a digest that a model made when asked in an older way, and
        that it has not been asked for anew; the latest first. What a person said anew is not
        among them."""
        ...


class DerivationState(DerivationVersions, StageProgress, Protocol):
    """How up to date everything derived is, of sessions and above them."""
