"""Concepts and keywords.

Concepts are derived, all of a bank at once. A member belongs to one concept. The id of the concept
that a member would form by itself leads to the concept that it is in, so that a concept is still
found after it was merged into another. The members that a concept had when a person decided
something about it are canonical: by them it is recognised after a rebuild.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from holdfast.model.curation import CurationState
from holdfast.model.knowledge import Concept, Memory
from holdfast.model.query import Passage
from holdfast.model.records import Exchange


class Keyword(NamedTuple):
    """A keyword of a bank as it is spelled, its stem, and how many records of each kind have it."""

    word: str
    stem: str
    counts: Mapping[str, int]


class KeywordMatch(NamedTuple):
    """A record that has a keyword."""

    bank: str
    kind: str
    id: str
    time: str


class DerivedConcept(NamedTuple):
    """A concept, its passage (None: it cannot be found), and for each member the id of the concept
    that the member would form by itself."""

    concept: Concept
    passage: Passage | None
    aliases: tuple[str, ...]


class ConceptReader(Protocol):
    """Reads concepts and keywords."""

    def concepts(self, bank: str | None, limit: int = 20) -> list[Concept]:
        """Concepts, the most recently updated first."""
        ...

    def concept_of(self, bank: str, kind: str, id: str) -> Concept | None:
        """The concept that a record is in."""
        ...

    def keywords(self, bank: str | None, limit: int = 50) -> list[Keyword]:
        """The keywords that most records have, the most frequent first."""
        ...

    def records_with_keywords(
        self, bank: str | None, words: str, limit: int = 50
    ) -> list[KeywordMatch]:
        """The records whose keywords contain all of some words, in any form, the latest first."""
        ...


class ConceptWriter(Protocol):
    """Writes concepts, and reads what they are made of."""

    def bank_exchanges(self, bank: str) -> Iterator[Exchange]:
        """All exchanges of a bank that are not hidden."""
        ...

    def shown_remembered(self, bank: str) -> list[Memory]:
        """All remembered texts that are not hidden, with corrections applied, oldest first."""
        ...

    def curation_states_of_kind(self, bank: str, kind: str) -> list[CurationState]:
        """The curation states of all records of a kind."""
        ...

    def put_concepts(self, bank: str, concepts: Iterable[DerivedConcept]) -> int:
        """Replace all concepts of a bank; unchanged ones are not written. Returns how many were
        written or removed."""
        ...

    def save_concept_members(self, bank: str, concept: str) -> None:
        """Keep which members a concept has now."""
        ...

    def saved_concept_members(self, bank: str) -> dict[str, list[str]]:
        """By concept, the URIs of the members that it had when they were last saved."""
        ...

    def vector_model(self, bank: str) -> str:
        """The model of most vectors of a bank's exchanges and memories; "" if there are none."""
        ...
