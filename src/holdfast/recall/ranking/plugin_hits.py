"""What plugins said to a question, as hits: set apart, attributed, and after all that is ours.

A plugin may answer with the question itself, or with anything. So its texts are weighed only
against the words of the question, and only among themselves; they have no part in the ranking of
what is remembered, and never a better score than the last of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.model.query import Hit, Layer, SourceLocation
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.parallel import RetrieverRun
from holdfast.recall.core.relevance import measure_relevance, reaches_threshold, worth_showing
from holdfast.recall.query.question import Query

KIND = "provided"
MAX_PLUGIN_HITS = 6
_WORTH = 0.5


def rank_plugin_texts(query: Query, finishes: Iterable[RetrieverRun]) -> tuple[Candidate, ...]:
    """The texts that speak of the question, best first; equal ones in the order they came."""
    found: list[Candidate] = []
    for finish in finishes:
        for find in finish.result.passages:
            candidate = Candidate(find.passage, {finish.strategy.name: len(found) + 1})
            measure_relevance(candidate, query.stem_weights)
            candidate.score = _WORTH * candidate.coverage
            found.append(candidate)
    ranked = sorted(found, key=lambda c: -c.coverage)
    good = [c for c in ranked if worth_showing(c)] if reaches_threshold(ranked) else []
    return tuple(good[:MAX_PLUGIN_HITS])


def make_plugin_hits(told: Iterable[Candidate], ours: Sequence[Hit]) -> tuple[Hit, ...]:
    """They as the world sees them."""
    most = min((hit.score for hit in ours), default=1.0)
    return tuple(_hit(candidate, min(most, candidate.score)) for candidate in told)


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
