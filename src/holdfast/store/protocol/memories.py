"""What a store keeps of a mind: what was retained of sessions, stances, opinions and their history.

Sightings and stances are derived: whatever replaces the derived rows of a session takes them away
in the same transaction, so that nothing outlives what it was made of. A memory that several
sessions have is gone, too, until it is shown again from the sightings that are left. Opinions are
canonical, because they have a history.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from holdfast.model.bank import Bank
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
    """What can be asked about it. What is forgotten is in no answer, and what was corrected is in
    the words of its correction."""

    def remembered(self, bank: str, limit: int = 100) -> list[Memory]:
        """What people asked to remember, the latest first."""
        ...

    def opinions(self, bank: str) -> list[Opinion]:
        """The opinions of a bank, the firmest first."""
        ...

    def opinion_history(self, bank: str, opinion: str) -> list[OpinionRevision]:
        """How an opinion came about, oldest first."""
        ...

    def retained(self, bank: str, network: str = "", limit: int = 100) -> list[Memory]:
        """What was retained of sessions, the latest first; of one network, if one is named."""
        ...


class MemoryWriter(Protocol):
    """The ways in."""

    def occurrences(self, bank: str, session: str) -> list[MemoryOccurrence]:
        """What is retained of one session, by key."""
        ...

    def stances(self, bank: str, session: str | None = None) -> list[Stance]:
        """The stances of a bank, or of one session, by time."""
        ...

    def put_retained(
        self,
        bank: str,
        session: str,
        sightings: Iterable[MemoryOccurrence],
        stances: Iterable[Stance],
    ) -> None:
        """Replace what is retained of a session."""
        ...

    def changed_memory_keys(self, bank: str) -> list[str]:
        """The keys whose sightings have changed since a memory was shown for them."""
        ...

    def occurrences_of_key(self, bank: str, key: str) -> list[SessionOccurrence]:
        """The sightings of a key, by time and session."""
        ...

    def put_retained_memory(
        self, bank: str, key: str, memory: Memory | None, passage: Passage | None
    ) -> None:
        """Let a memory, or none, stand for the sightings of a key, found as this passage."""
        ...

    def refresh_retained(self, bank: str, id: str) -> str | None:
        """Have a retained memory shown anew; returns its own words, None if there is none."""
        ...

    def all_opinions(self, bank: str) -> list[Opinion]:
        """Every opinion, hidden or not, in its own words, by id."""
        ...

    def put_opinion(
        self, opinion: Opinion, belief: OpinionRevision | None, passage: Passage | None
    ) -> None:
        """Set an opinion down, and how firm it is, in place of what was believed."""
        ...

    def drop_opinion(self, bank: str, id: str) -> None:
        """Forget an opinion with its history."""
        ...

    def update_bank(self, bank: Bank) -> None:
        """Change what a known bank is like: its disposition, background, retention and aliases."""
        ...
