"""Candidates: the passages in the running of one search, with the scores each retriever and each
ranking step gave them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.model.knowledge import EndedSentence
from holdfast.model.query import Passage

PassageKey = tuple[str, str, str]


class ScoredPassage(NamedTuple):
    """A passage found by a retriever, with the retriever's own score (greater is better). Passages
    from a team server also say who shared them."""

    passage: Passage
    score: float
    shared_by: str = ""


@dataclass(slots=True, eq=False)
class Candidate:
    """A passage in the running. Each is itself alone, however alike another is."""

    passage: Passage
    # By retriever: its rank there (from 1), and its score scaled to 0..1.
    ranks: dict[str, int] = field(default_factory=dict[str, int])
    scores: dict[str, float] = field(default_factory=dict[str, float])
    # What else changed the score, as factors and summands by name; shown to the user as `why`.
    notes: dict[str, float] = field(default_factory=dict[str, float])
    score: float = 0.0
    # The product of all factors in `score`: who said it, when, whether it still holds.
    factor: float = 1.0
    # The share of the query's weight in the text with its context, and in the text alone.
    coverage: float = 0.0
    coverage_alone: float = 0.0
    # The cosine of passage and query vectors; 0 if there is none.
    cosine: float = 0.0
    shared_by: str = ""
    # Its sentences that no longer hold; None before anybody has looked.
    ended: tuple[EndedSentence, ...] | None = None

    @property
    def key(self) -> PassageKey:
        """Bank, kind and id."""
        return passage_key(self.passage)


def passage_key(passage: Passage) -> PassageKey:
    """Bank, kind and id."""
    return passage.bank, passage.kind, passage.id


class Pool:
    """The candidates of one search, each once."""

    def __init__(self) -> None:
        self._candidates: dict[PassageKey, Candidate] = {}

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._candidates.values())

    def __len__(self) -> int:
        return len(self._candidates)

    def add(self, passage: Passage) -> Candidate:
        """The candidate for a passage; added if it is not in the pool yet."""
        return self._candidates.setdefault(passage_key(passage), Candidate(passage))

    def keep_only(self, wanted: Callable[[Passage], bool]) -> None:
        """Drop the candidates whose passage is not wanted."""
        self._candidates = {key: c for key, c in self._candidates.items() if wanted(c.passage)}

    def get(self, key: PassageKey) -> Candidate | None:
        return self._candidates.get(key)

    def ranked(self) -> list[Candidate]:
        """Best first. Ties are broken by time and key, never by the order of insertion."""
        return sorted(self._candidates.values(), key=lambda c: (-c.score, c.passage.time, c.key))
