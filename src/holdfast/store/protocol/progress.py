"""How far each derivation stage has come, and by which version derived rows were made.

Whenever the derived rows of a session change, the session gets a new, higher number. A stage stores
the number up to which it has seen everything, and with which version of its rules; a newer version
has seen nothing. What belongs to no session (commits, remembered texts, decisions about them)
counts as the session "".

Rows that were made before versions were counted are of version 0.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol


class SessionChange(NamedTuple):
    """A session whose derived rows changed, or that was removed; a later change has a higher
    number."""

    number: int
    session: str


class StageProgress(Protocol):
    """What each stage above the session has seen."""

    def unseen_changes(
        self, bank: str, stage: str, version: int, limit: int = 1000
    ) -> list[SessionChange]:
        """The changes of a bank that this version of a stage has not seen, oldest first."""
        ...

    def banks_behind(self, stage: str, version: int) -> list[str]:
        """The banks with changes that this version of a stage has not seen."""
        ...

    def mark_seen(self, bank: str, stage: str, version: int, number: int) -> None:
        """This version of a stage has seen everything up to a number; to be called in the
        transaction that writes its results."""
        ...

    def has_progress(self, bank: str, stage: str) -> bool:
        """Whether a stage, in any version, has seen anything of a bank."""
        ...

    def mark_changed(self, bank: str, session: str) -> None:
        """The derived rows of a session, or with "" of the rest of the bank, have changed."""
        ...


class OutdatedSession(NamedTuple):
    """A session with something that an older version made."""

    bank: str
    session: str


class DerivationVersions(Protocol):
    """Which derived rows are of an older version than they could be."""

    def derived_version(self, bank: str, session: str) -> int:
        """The version of the rules that made a session's derived rows."""
        ...

    def set_derived_version(self, bank: str, session: str, version: int) -> None:
        """All derived rows of a session are of this version; to be called in the transaction that
        writes them."""
        ...

    def outdated_sessions(self, rules: int, limit: int = 100) -> list[OutdatedSession]:
        """Sessions whose derived rows were made by older rules, the latest first."""
        ...

    def count_outdated_sessions(self, rules: int) -> int:
        """How many there are."""
        ...

    def outdated_summaries(self, prompts: int, limit: int = 100_000) -> list[OutdatedSession]:
        """Sessions with a summary or a digest that a model made with an older prompt and was not
        asked for again; the latest first. Records that a person corrected are left out."""
        ...


class DerivationState(DerivationVersions, StageProgress, Protocol):
    """How up to date all derived rows are, of sessions and of the stages above them."""
