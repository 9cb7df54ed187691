"""A candidate gathers what every arm and every look at it said; the sum is its score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.model.query import Passage

PassageKey = tuple[str, str, str]


class ScoredPassage(NamedTuple):
    """What an arm found, with the arm's own measure of it: greater is better; and who shared it,
    where a server says so."""

    passage: Passage
    score: float
    shared_by: str = ""


@dataclass(slots=True)
class Candidate:
    """A passage in the running."""

    passage: Passage
    # By arm: the place it gave, and its score on the scale from 0 to 1.
    ranks: dict[str, int] = field(default_factory=dict[str, int])
    scores: dict[str, float] = field(default_factory=dict[str, float])
    # What moved it besides the arms, as factors and summands by name.
    notes: dict[str, float] = field(default_factory=dict[str, float])
    score: float = 0.0
    # What the score has been multiplied by, for whose words it is and when it was said.
    factor: float = 1.0
    # How much of the question it covers, with its context and by itself, and the cosine of its
    # meaning with the question's, where there is one.
    coverage: float = 0.0
    coverage_alone: float = 0.0
    cosine: float = 0.0

    @property
    def key(self) -> PassageKey:
        """What makes it itself."""
        return passage_key(self.passage)


def passage_key(passage: Passage) -> PassageKey:
    """Bank, kind and id."""
    return passage.bank, passage.kind, passage.id


class Pool:
    """The candidates of one recall."""

    def __init__(self) -> None:
        self._candidates: dict[PassageKey, Candidate] = {}

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._candidates.values())

    def __len__(self) -> int:
        return len(self._candidates)

    def add(self, passage: Passage) -> Candidate:
        """The candidate of a passage, new or known."""
        return self._candidates.setdefault(passage_key(passage), Candidate(passage))

    def keep_only(self, wanted: Callable[[Passage], bool]) -> None:
        """Go on with those alone that are wanted."""
        self._candidates = {key: c for key, c in self._candidates.items() if wanted(c.passage)}

    def get(self, key: PassageKey) -> Candidate | None:
        """A candidate that is known."""
        return self._candidates.get(key)

    def ranked(self) -> list[Candidate]:
        """Best first; equal ones in an order that does not depend on who was found first."""
        return sorted(self._candidates.values(), key=lambda c: (-c.score, c.passage.time, c.key))
