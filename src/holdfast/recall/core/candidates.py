"""Candidates: the passages in the running of one search, with the scores each retriever and each
ranking step gave them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import EndedSentence
from holdfast.model.query import Passage

PassageKey = tuple[str, str, str]


class ScoredPassage(NamedTuple):
    """A passage found by a retriever, with the retriever's own score (greater is better). Passages
    from a team server also say who shared them."""

    passage: Passage
    score: float
    shared_by: str = ""


class Candidate:
    """A passage in the running. Each is itself alone, however alike another is.

    `ranks` and `scores` are by retriever: its rank there (from 1), and its score scaled to 0..1.
    `ended` are its sentences that no longer hold; None before anybody has looked. `names` are the
    identifiers of the query that it holds.
    """

    __slots__ = (
        "cosine",
        "coverage",
        "coverage_alone",
        "ended",
        "factor",
        "names",
        "notes",
        "passage",
        "ranks",
        "score",
        "scores",
        "shared_by",
    )

    def __init__(
        self,
        passage: Passage,
        ranks: dict[str, int] | None = None,
        scores: dict[str, float] | None = None,
        score: float = 0.0,
        shared_by: str = "",
        ended: tuple[EndedSentence, ...] | None = None,
    ) -> None:
        self.passage = passage
        self.ranks: dict[str, int] = {} if ranks is None else ranks
        self.scores: dict[str, float] = {} if scores is None else scores
        # What else changed the score, as factors and summands by name; shown to the user as `why`.
        self.notes: dict[str, float] = {}
        self.score = score
        # The product of all factors in `score`: who said it, when, whether it still holds.
        self.factor = 1.0
        # The share of the query's weight in the text with its context, and in the text alone.
        self.coverage = 0.0
        self.coverage_alone = 0.0
        # The cosine of passage and query vectors; 0 if there is none.
        self.cosine = 0.0
        self.shared_by = shared_by
        self.ended = ended
        self.names: frozenset[str] = frozenset()

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
        key = passage_key(passage)
        known = self._candidates.get(key)
        if known is None:
            known = self._candidates[key] = Candidate(passage)
        return known

    def drop(self, keys: Collection[PassageKey]) -> None:
        """Remove these candidates."""
        for key in keys:
            del self._candidates[key]

    def get(self, key: PassageKey) -> Candidate | None:
        return self._candidates.get(key)

    def ranked(self) -> list[Candidate]:
        """Best first. Ties are broken by time and key, never by the order of insertion."""
        return sorted(self._candidates.values(), key=lambda c: (-c.score, c.passage.time, c.key))
