"""Hits from team servers and plugins. Their texts take no part in the ranking of our own, are
measured only against the words of the query, are never stored, and are shown once.

A server ranks by the same rules over another memory, so its scores are comparable and its hits are
merged into ours; but coverage is measured here as well, and limits the score. A plugin may answer
with anything, even with the query itself, so its hits come after ours and never score higher than
the last of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.language import collapse_spaces
from holdfast.model.query import Hit, Layer, SourceLocation
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.parallel import RetrieverRun
from holdfast.recall.core.relevance import answers, measure_relevance, worth_showing
from holdfast.recall.core.tuning import AbstentionThresholds
from holdfast.recall.query.query import Query

REMOTE_KIND = "remote"
PLUGIN_KIND = "provided"
# A retriever that asks a server is named "remote NAME".
RETRIEVER_PREFIX = "remote "
# So many texts of servers, and of plugins, are shown at most: they must not crowd the answer.
MAX_EXTERNAL_HITS = 6
# A plugin's text that covers the whole query scores half of what a stored record could.
_PLUGIN_SCORE = 0.5


def is_remote(run: RetrieverRun) -> bool:
    """Whether a retriever asked a team server."""
    return run.report.name.startswith(RETRIEVER_PREFIX)


def rank_remote_texts(
    query: Query, runs: Iterable[RetrieverRun], thresholds: AbstentionThresholds
) -> tuple[Candidate, ...]:
    """The servers' texts that are relevant, best first."""
    found: list[Candidate] = []
    for run in runs:
        for rank, text in enumerate(run.result.passages, 1):
            candidate = Candidate(text.passage, {run.report.name: rank}, shared_by=text.shared_by)
            measure_relevance(candidate, query.wanted(thresholds))
            candidate.score = text.score * candidate.coverage
            if worth_showing(candidate.notes, thresholds):
                found.append(candidate)
    return tuple(sorted(found, key=lambda candidate: -candidate.score)[:MAX_EXTERNAL_HITS])


def rank_plugin_texts(
    query: Query, runs: Iterable[RetrieverRun], thresholds: AbstentionThresholds
) -> tuple[Candidate, ...]:
    """The plugins' texts that are relevant, best first; ties in the order they were returned."""
    found = [Candidate(text.passage) for run in runs for text in run.result.passages]
    for candidate in found:
        measure_relevance(candidate, query.wanted(thresholds))
        candidate.score = _PLUGIN_SCORE * candidate.coverage
    ranked = sorted(found, key=lambda c: -c.coverage)
    if not any(answers(candidate.notes) for candidate in ranked):
        return ()
    return tuple([c for c in ranked if worth_showing(c.notes, thresholds)][:MAX_EXTERNAL_HITS])


def merge_remote_hits(
    ours: Sequence[Hit], candidates: Iterable[Candidate], limit: int
) -> tuple[Hit, ...]:
    """Our hits with those from servers that say something else, each before the first of ours that
    scores less. Our own order is not only by score, so it is kept."""
    shown = {collapse_spaces(hit.text) for hit in ours}
    merged = list(ours)
    for candidate in candidates:
        hit = _remote_hit(candidate)
        text = collapse_spaces(hit.text)
        if text not in shown:
            shown.add(text)
            place = next((n for n, one in enumerate(merged) if one.score < hit.score), len(merged))
            merged.insert(place, hit)
    return tuple(merged[: max(limit, len(ours))])


def make_plugin_hits(candidates: Iterable[Candidate], ours: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits for plugin candidates, none scored above our own hits."""
    highest = min((hit.score for hit in ours), default=1.0)
    return tuple(_plugin_hit(candidate, min(highest, candidate.score)) for candidate in candidates)


def _remote_hit(candidate: Candidate) -> Hit:
    passage = candidate.passage
    return Hit(
        uri=uri(REMOTE_KIND, passage.id),
        kind=REMOTE_KIND,
        layer=Layer.TEAM,
        score=round(candidate.score, 4),
        text=passage.body,
        time=passage.time,
        session="",
        bank=passage.bank,
        source=SourceLocation(id=passage.id),
        trust=passage.trust,
        shared=candidate.shared_by,
        provider=passage.id.partition("/")[0],
        why={**candidate.ranks, **_coverage(candidate)},
    )


def _plugin_hit(candidate: Candidate, score: float) -> Hit:
    passage = candidate.passage
    provider = passage.id.rpartition("/")[0]
    return Hit(
        uri=uri(PLUGIN_KIND, passage.id),
        kind=PLUGIN_KIND,
        layer=Layer.PROVIDERS,
        score=round(score, 4),
        text=passage.body,
        time=passage.time,
        session="",
        bank=passage.bank,
        source=SourceLocation(id=provider),
        trust=Trust.EXTERNAL,
        provider=provider,
        why=_coverage(candidate),
    )


def _coverage(candidate: Candidate) -> dict[str, float]:
    return {
        "coverage": round(candidate.coverage, 3),
        "coverage_alone": round(candidate.coverage_alone, 3),
    }
