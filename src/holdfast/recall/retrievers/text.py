"""The retrievers over the full-text index and over time, and the one that wraps semantic search.

Each function returns a `Retriever`; its name is shown to users.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.query import LAYER_BY_KIND, Layer, Passage
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.recall.core.parallel import Retriever, RetrieverResult
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.recall.query.terms import Terms
from holdfast.recall.query.time_ranges import TimeRange
from holdfast.store.index.passages import LayerLimit, Match
from holdfast.store.protocol import Reader

_SUMMARY_LAYERS = (Layer.SUMMARIES, Layer.OBSERVATIONS, Layer.RULES)
# How many records of each kind answer a query about nothing but a time, or about recent work.
_MAX_RECENT = 12
# The kinds that tell what happened at a time.
_KINDS_OF_WORK = ("digest", "exchange", "commit")


def direct(
    bank: str | None, terms: Terms, layers: Sequence[Layer], pool_size: int, until: str = ""
) -> Retriever:
    """Full text with the words of the query."""
    return _full_text("direct_fts", bank, terms.all, layers, pool_size, until)


def expanded(
    bank: str | None,
    terms: Terms,
    more: Sequence[str],
    layers: Sequence[Layer],
    pool_size: int,
    until: str = "",
) -> Retriever:
    """Full text with the words of the query and their synonyms."""
    return _full_text("expanded_fts", bank, (*terms.all, *more), layers, pool_size, until)


def summaries(
    bank: str | None, terms: Terms, layers: Sequence[Layer], pool_size: int, until: str = ""
) -> Retriever:
    """Full text over summaries only (digests, exchanges, facts, rules), so that the many turns do
    not crowd them out."""
    among = _summary_layers(layers)
    words = terms.all if among else ()
    return _full_text("summaries", bank, words, among, pool_size // 3, until)


def direct_and_summaries(
    bank: str | None, terms: Terms, layers: Sequence[Layer], pool_size: int, until: str = ""
) -> tuple[Retriever, Retriever]:
    """`direct` and `summaries`, which find the passages of both in one query. The second has to run
    after the first and takes no time; if the first failed, it asks by itself."""
    alone = summaries(bank, terms, layers, pool_size, until)
    among = _summary_layers(layers)
    wanted = [LayerLimit(layers, pool_size)]
    if among:
        wanted.append(LayerLimit(among, pool_size // 3))
    found: list[list[Match]] = []

    def run_both(reader: Reader) -> RetrieverResult:
        found.extend(reader.passages.search_each(bank, terms.all, wanted, until=until))
        return _scored(found[0])

    def take_second(reader: Reader) -> RetrieverResult:
        return _scored(found[1]) if len(found) > 1 else alone.run(reader)

    return Retriever("direct_fts", run_both), Retriever(alone.name, take_second)


def temporal(
    bank: str | None,
    terms: Terms,
    time_range: TimeRange,
    layers: Sequence[Layer],
    pool_size: int,
) -> Retriever:
    """Records of the time that the query names: by words, or the latest if it names only a time."""

    def run(reader: Reader) -> RetrieverResult:
        words = () if time_range.only_time else terms.all
        start, end = time_range.start, time_range.end
        if words:
            return _scored(reader.passages.search(bank, words, layers, pool_size, start, end))
        found = [
            passage
            for kind in (_KINDS_OF_WORK if not layers else LAYER_BY_KIND)
            if not layers or LAYER_BY_KIND[kind] in layers
            for passage in reader.passages.recent(bank, kind, _MAX_RECENT, start, end)
        ]
        return RetrieverResult(_latest_first(found))

    return Retriever("temporal", run)


def recent(bank: str | None, until: str = "") -> Retriever:
    """The digests of the latest sessions."""

    def run(reader: Reader) -> RetrieverResult:
        found = reader.passages.recent(bank, "digest", _MAX_RECENT, until=until)
        return RetrieverResult(_latest_first(found))

    return Retriever("recent", run)


def semantic(
    bank: str | None, search: SemanticSearch, query: str, layers: Sequence[Layer], pool_size: int
) -> Retriever:
    """The passages nearest in meaning, in whatever words."""

    def run(reader: Reader) -> RetrieverResult:
        return search.nearest(reader, bank, query, pool_size, layers)

    return Retriever("semantic", run)


def _latest_first(passages: Sequence[Passage]) -> list[ScoredPassage]:
    """The passages by time, the nth latest with the score 1 / n."""
    ordered = sorted(passages, key=lambda p: (p.time, p.kind, p.id), reverse=True)
    return [ScoredPassage(passage, 1 / rank) for rank, passage in enumerate(ordered, start=1)]


def _full_text(
    name: str,
    bank: str | None,
    terms: Sequence[str],
    layers: Sequence[Layer],
    pool_size: int,
    until: str = "",
) -> Retriever:
    def run(reader: Reader) -> RetrieverResult:
        return _scored(reader.passages.search(bank, terms, layers, pool_size, until=until))

    return Retriever(name, run)


def _summary_layers(layers: Sequence[Layer]) -> list[Layer]:
    return [layer for layer in _SUMMARY_LAYERS if not layers or layer in layers]


def _scored(matches: Sequence[Match]) -> RetrieverResult:
    return RetrieverResult([ScoredPassage(match.passage, match.score) for match in matches])
