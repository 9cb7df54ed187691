"""Memories that were remembered or retained, stances, and opinions with their history.

Occurrences and stances are derived: replacing the derived rows of a session removes them in the
same transaction, so that nothing outlives what it was made of. A memory that occurs in several
sessions is removed too, until it is made again from the occurrences that are left. Opinions are
canonical, because they have a history.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from holdfast.model.knowledge import Memory
from holdfast.model.opinions import (
    MemoryOccurrence,
    Opinion,
    OpinionRevision,
    SessionOccurrence,
    Stance,
)
from holdfast.model.query import Passage


class MemoryReader(Protocol):
    """Reads memories and opinions, without hidden ones and with corrections applied."""

    def remembered(self, bank: str, limit: int = 100) -> list[Memory]:
        """The texts that people asked to remember, the latest first."""
        ...

    def opinions(self, bank: str) -> list[Opinion]:
        """The opinions of a bank, the firmest first."""
        ...

    def opinion_history(self, bank: str, opinion: str) -> list[OpinionRevision]:
        """The revisions of an opinion, oldest first."""
        ...

    def retained(self, bank: str, network: str = "", limit: int = 100) -> list[Memory]:
        """The memories retained from sessions, the latest first; of one network, if one is
        named."""
        ...


class MemoryWriter(Protocol):
    """Writes memories and opinions."""

    def occurrences(self, bank: str, session: str) -> list[MemoryOccurrence]:
        """The occurrences of memories in one session, by key."""
        ...

    def stances(self, bank: str, session: str | None = None) -> list[Stance]:
        """The stances of a bank, or of one session, by time."""
        ...

    def put_retained(
        self,
        bank: str,
        session: str,
        occurrences: Iterable[MemoryOccurrence],
        stances: Iterable[Stance],
    ) -> None:
        """Replace the occurrences and stances of a session."""
        ...

    def changed_memory_keys(self, bank: str) -> list[str]:
        """The keys whose occurrences have changed since their memory was stored."""
        ...

    def occurrences_of_key(self, bank: str, key: str) -> list[SessionOccurrence]:
        """All occurrences of a key, by time and session."""
        ...

    def put_retained_memory(
        self, bank: str, key: str, memory: Memory | None, passage: Passage | None
    ) -> None:
        """Store the memory of a key (None: there is none) with its passage."""
        ...

    def refresh_retained(self, bank: str, id: str) -> str | None:
        """Mark the key of a retained memory as changed; returns the memory's own text, None if
        there is none."""
        ...

    def all_opinions(self, bank: str) -> list[Opinion]:
        """Every opinion, hidden or not, without corrections, by id."""
        ...

    def put_opinion(
        self, opinion: Opinion, revision: OpinionRevision | None, passage: Passage | None
    ) -> None:
        """Store an opinion with its new revision, in place of its earlier state."""
        ...

    def drop_opinion(self, bank: str, id: str) -> None:
        """Remove an opinion with its history."""
        ...
