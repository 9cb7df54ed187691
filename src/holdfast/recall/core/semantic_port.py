"""What models add to a search, as the engine sees it. The implementation
(`retrievers.semantic_search`) needs NumPy and ONNX, which take longer to load than a search by
words takes in all, so nothing here imports them.

Also: how near the sessions of a bank are to a prompt in general. Every session of a project is near
to a prompt that names the project or what it is for, and none is to a prompt in unusual words. So a
cosine means something only against those of the other sessions: the one that a prompt is about
stands out from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from holdfast.model.query import Layer, Passage
from holdfast.recall.core.candidates import PassageKey, ScoredPassage
from holdfast.store.protocol import Reader

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from typing import Protocol

    from holdfast.recall.core.parallel import RetrieverResult
else:
    Protocol = object

# Passages nearest in meaning that sessions are compared by, and those of a session whose cosines
# count: more of them, and long sessions win by chance.
NEAREST = 300
BEST_PASSAGES = 3
# Among fewer sessions the median says nothing: it may be that of the session in question.
_MIN_SESSIONS = 8
_KINDS = ("turn", "exchange", "digest", "memory")


class SemanticSearch(Protocol):
    """Search by meaning instead of spelling."""

    def reranks(self, query: str, thoroughly: bool) -> bool:
        """Whether a cross-encoder reads the best candidates: one that the settings ask for, or, if
        `thoroughly`, the one that comes with Holdfast; which knows English only."""
        ...

    @property
    def reranker_ships(self) -> bool:
        """Whether the cross-encoder is the one that comes with Holdfast, whose scores are known."""
        ...

    def understands(self, query: str) -> bool:
        """Whether the model knows the language of a query, so that a cosine tells whether a
        passage answers it."""
        ...

    def nearest(
        self,
        reader: Reader,
        bank: str | None,
        query: str,
        limit: int,
        layers: Sequence[Layer] = (),
    ) -> RetrieverResult:
        """The passages nearest in meaning to a query, of some layers or of all."""
        ...

    def similarities(
        self, reader: Reader, query: str, passages: Sequence[Passage]
    ) -> dict[PassageKey, float]:
        """The cosines of some passages; those without a vector are left out."""
        ...

    def cosines(self, query: str, texts: Sequence[str]) -> list[float]:
        """How near some texts are to a query; empty if there is no embedder."""
        ...

    def soft_coverage(
        self, weight: Mapping[str, float], texts: Sequence[Sequence[str]]
    ) -> list[float]:
        """How much of some weighted words each text covers, from 0 to 1, where a similar word
        counts in part. A text is given in one stretch or several."""
        ...

    def rerank(
        self, query: str, texts: Iterable[str], deadline: float, tokens: int
    ) -> list[float] | None:
        """A cross-encoder's scores for as many texts as `tokens` allows; None if there is no
        cross-encoder or time ran out."""
        ...


def by_session(nearest: Sequence[ScoredPassage]) -> dict[str, list[ScoredPassage]]:
    """The passages of sessions among those nearest to a prompt, in their order."""
    found: dict[str, list[ScoredPassage]] = {}
    for one in nearest:
        if one.passage.session and one.passage.kind in _KINDS:
            found.setdefault(one.passage.session, []).append(one)
    return found


def session_cosine(found: Sequence[ScoredPassage], least: float = 0.0) -> float:
    """How near a session is: the mean cosine of its best passages, nearest first. Those that it
    lacks count as `least`."""
    best = [one.score for one in found[:BEST_PASSAGES]]
    return (sum(best) + least * (BEST_PASSAGES - len(best))) / BEST_PASSAGES


def typical_cosine(sessions: Mapping[str, Sequence[ScoredPassage]]) -> float | None:
    """The median of how near some sessions are; None if they are too few to tell."""
    if len(sessions) < _MIN_SESSIONS:
        return None
    least = min(found[-1].score for found in sessions.values())
    # `statistics` takes a hook ten milliseconds to import.
    cosines = sorted(session_cosine(found, least) for found in sessions.values())
    return (cosines[(len(cosines) - 1) // 2] + cosines[len(cosines) // 2]) / 2
