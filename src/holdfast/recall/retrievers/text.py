"""The ways to search that need no model."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.query import LAYER_BY_KIND, Layer, Passage
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.recall.core.parallel import Retriever, RetrieverResult
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.recall.query.terms import Terms
from holdfast.recall.query.time_phrases import TimeRange
from holdfast.store.protocol import Reader

_SUMMING_UP = (Layer.SUMMARIES, Layer.OBSERVATIONS, Layer.RULES)
_RECENT = 12
_OF_A_TIME = ("digest", "exchange", "commit")


def direct(
    bank: str | None, terms: Terms, layers: Sequence[Layer], pool: int, until: str = ""
) -> Retriever:
    """The words of the question, as they stand."""
    return _by_words("direct_fts", bank, terms.all, layers, pool, until)


def expanded(
    bank: str | None,
    terms: Terms,
    more: Sequence[str],
    layers: Sequence[Layer],
    pool: int,
    until: str = "",
) -> Retriever:
    """The words of the question and others that mean about the same."""
    return _by_words("expanded_fts", bank, (*terms.all, *more), layers, pool, until)


def summaries(
    bank: str | None, terms: Terms, layers: Sequence[Layer], pool: int, until: str = ""
) -> Retriever:
    """Only what sums up: digests, exchanges and what is above them, so that the many turns do
    not crowd them out."""
    among = [layer for layer in _SUMMING_UP if not layers or layer in layers]
    return _by_words("summaries", bank, terms.all if among else (), among, pool // 3, until)


def temporal(
    bank: str | None, terms: Terms, when: TimeRange, layers: Sequence[Layer], pool: int
) -> Retriever:
    """What was said in the time that the question names; by words if it has any others."""

    def run(reader: Reader) -> RetrieverResult:
        words = () if when.only_time else terms.all
        if words:
            matches = reader.search(bank, words, layers, pool, when.start, when.end)
            return RetrieverResult([ScoredPassage(m.passage, m.score) for m in matches])
        found = [
            passage
            for kind in (_OF_A_TIME if not layers else LAYER_BY_KIND)
            if not layers or LAYER_BY_KIND[kind] in layers
            for passage in reader.recent_passages(bank, kind, _RECENT, when.start, when.end)
        ]
        return RetrieverResult(_latest_best(found))

    return Retriever("temporal", run)


def recent(bank: str | None, until: str = "") -> Retriever:
    """The latest digests, for questions about what one was doing."""

    def run(reader: Reader) -> RetrieverResult:
        return RetrieverResult(
            _latest_best(reader.recent_passages(bank, "digest", _RECENT, until=until))
        )

    return Retriever("recent", run)


def semantic(
    bank: str | None, meaning: SemanticSearch, query: str, layers: Sequence[Layer], pool: int
) -> Retriever:
    """What means about the same, in whatever words."""

    def run(reader: Reader) -> RetrieverResult:
        return meaning.nearest(reader, bank, query, pool, layers)

    return Retriever("semantic", run)


def _latest_best(passages: Sequence[Passage]) -> list[ScoredPassage]:
    ordered = sorted(passages, key=lambda p: (p.time, p.kind, p.id), reverse=True)
    return [ScoredPassage(passage, 1 / place) for place, passage in enumerate(ordered, start=1)]


def _by_words(
    name: str,
    bank: str | None,
    terms: Sequence[str],
    layers: Sequence[Layer],
    pool: int,
    until: str = "",
) -> Retriever:
    def run(reader: Reader) -> RetrieverResult:
        matches = reader.search(bank, terms, layers, pool, until=until)
        return RetrieverResult([ScoredPassage(match.passage, match.score) for match in matches])

    return Retriever(name, run)
