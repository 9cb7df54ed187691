"""What a store keeps of concepts and keywords, and what can be asked of both.

Concepts are derived, all of a bank at once. A member belongs to one concept; the id of the concept
that it would have founded by itself leads to the one it is in, so that a concept that went into
another is still found. The members that a concept had when a person decided something about it
are canonical: by them it is known again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from holdfast.model.curation import CurationState
from holdfast.model.knowledge import Concept, Memory
from holdfast.model.query import Passage
from holdfast.model.records import Exchange


class Keyword(NamedTuple):
    """A keyword of a bank as it is spelled, the stem that it is known by, and how many records
    of each kind bear it."""

    word: str
    stem: str
    counts: Mapping[str, int]


class KeywordMatch(NamedTuple):
    """A record that bears a keyword."""

    bank: str
    kind: str
    id: str
    time: str


class DerivedConcept(NamedTuple):
    """A concept, the passage it is found as (None: not at all), and of each member the id of the
    concept that it would found."""

    concept: Concept
    passage: Passage | None
    aliases: tuple[str, ...]


class ConceptReader(Protocol):
    """What can be asked of concepts and keywords."""

    def concepts(self, bank: str | None, limit: int = 20) -> list[Concept]:
        """Concepts, the one that was touched last first."""
        ...

    def concept_of(self, bank: str, kind: str, id: str) -> Concept | None:
        """The concept that a record is in."""
        ...

    def keywords(self, bank: str | None, limit: int = 50) -> list[Keyword]:
        """The keywords that most records bear, the most frequent first."""
        ...

    def records_with_keywords(
        self, bank: str | None, words: str, limit: int = 50
    ) -> list[KeywordMatch]:
        """The records that bear all of some words, in any form, the latest first."""
        ...


class ConceptWriter(Protocol):
    """The ways in for concepts, and what they are made of."""

    def bank_exchanges(self, bank: str) -> Iterator[Exchange]:
        """All exchanges of a bank that are shown."""
        ...

    def shown_remembered(self, bank: str) -> list[Memory]:
        """All remembered texts that are shown, in their words of now, oldest first."""
        ...

    def curation_states_of_kind(self, bank: str, kind: str) -> list[CurationState]:
        """What the log comes to for all records of a kind."""
        ...

    def put_concepts(self, bank: str, made: Iterable[DerivedConcept]) -> int:
        """These are all the concepts of a bank; what has not changed is not written. Returns how
        many were written or removed."""
        ...

    def save_concept_members(self, bank: str, concept: str) -> None:
        """Keep which members a concept has now."""
        ...

    def saved_concept_members(self, bank: str) -> dict[str, list[str]]:
        """The URIs of the members that concepts had when they were last decided about."""
        ...

    def vector_model(self, bank: str) -> str:
        """The model that most vectors of a bank's exchanges and memories are of; "" if there are
        none."""
        ...
