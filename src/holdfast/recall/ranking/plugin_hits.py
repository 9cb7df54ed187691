"""Hits from plugins: attributed, and always after our own hits.

A plugin may answer with anything, even with the query itself. So its texts are measured only
against the words of the query, take no part in the ranking of stored records, and never score
higher than the last of our own hits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.model.query import Hit, Layer, SourceLocation
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.parallel import RetrieverRun
from holdfast.recall.core.relevance import measure_relevance, reaches_threshold, worth_showing
from holdfast.recall.query.query import Query

KIND = "provided"
# So many texts of plugins are shown at most: they must not crowd the answer.
MAX_PLUGIN_HITS = 6
# A plugin's text that covers the whole query scores half of what a stored record could.
_SCORE_PER_COVERAGE = 0.5


def rank_plugin_texts(query: Query, runs: Iterable[RetrieverRun]) -> tuple[Candidate, ...]:
    """The plugins' texts that are relevant, best first; ties in the order they were returned."""
    found: list[Candidate] = []
    for run in runs:
        for text in run.result.passages:
            candidate = Candidate(text.passage, {run.report.name: len(found) + 1})
            measure_relevance(candidate, query.stem_weights)
            candidate.score = _SCORE_PER_COVERAGE * candidate.coverage
            found.append(candidate)
    ranked = sorted(found, key=lambda c: -c.coverage)
    relevant = [c for c in ranked if worth_showing(c)] if reaches_threshold(ranked) else []
    return tuple(relevant[:MAX_PLUGIN_HITS])


def make_plugin_hits(candidates: Iterable[Candidate], ours: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits for plugin candidates, none scored above our own hits."""
    highest = min((hit.score for hit in ours), default=1.0)
    return tuple(_hit(candidate, min(highest, candidate.score)) for candidate in candidates)


def _hit(candidate: Candidate, score: float) -> Hit:
    passage = candidate.passage
    provider = passage.id.rpartition("/")[0]
    return Hit(
        uri=uri(KIND, passage.id),
        kind=KIND,
        layer=Layer.PROVIDERS,
        score=round(score, 4),
        text=passage.body,
        time=passage.time,
        session="",
        bank=passage.bank,
        source=SourceLocation(id=provider),
        trust=Trust.EXTERNAL,
        provider=provider,
        why={
            "coverage": round(candidate.coverage, 3),
            "coverage_alone": round(candidate.coverage_alone, 3),
        },
    )
