"""Hits from team servers, merged into our own by score.

A server ranks by the same rules over another memory, so its scores are comparable; but coverage is
measured here as well, and limits the score. Texts from servers take no part in the ranking of our
own, are never stored, and are shown once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.language import collapse_spaces
from holdfast.model.query import Hit, Layer, SourceLocation
from holdfast.model.uris import uri
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.parallel import RetrieverRun
from holdfast.recall.core.relevance import measure_relevance, worth_showing
from holdfast.recall.query.query import Query

KIND = "remote"
# A retriever that asks a server is named "remote NAME".
RETRIEVER_PREFIX = "remote "
# So many texts of servers are shown at most: they must not crowd the answer.
MAX_REMOTE_HITS = 6


def is_remote(run: RetrieverRun) -> bool:
    """Whether a retriever asked a team server."""
    return run.report.name.startswith(RETRIEVER_PREFIX)


def rank_remote_texts(query: Query, runs: Iterable[RetrieverRun]) -> tuple[Candidate, ...]:
    """The servers' texts that are relevant, best first."""
    found: list[Candidate] = []
    for run in runs:
        for rank, text in enumerate(run.result.passages, 1):
            candidate = Candidate(text.passage, {run.report.name: rank}, shared_by=text.shared_by)
            measure_relevance(candidate, query.stem_weights)
            candidate.score = text.score * candidate.coverage
            if worth_showing(candidate):
                found.append(candidate)
    return tuple(sorted(found, key=lambda candidate: -candidate.score)[:MAX_REMOTE_HITS])


def merge_remote_hits(
    ours: Sequence[Hit], candidates: Iterable[Candidate], limit: int
) -> tuple[Hit, ...]:
    """Our hits with those from servers inserted by score; ours come first on ties."""
    theirs = [_hit(candidate) for candidate in candidates]
    if not theirs:
        return tuple(ours)
    shown = {collapse_spaces(hit.text) for hit in ours}
    distinct = list({collapse_spaces(hit.text): hit for hit in reversed(theirs)}.items())[::-1]
    new = [hit for text, hit in distinct if text not in shown]
    return tuple(_merged(list(ours), new)[: max(limit, len(ours))])


def _merged(ours: list[Hit], theirs: list[Hit]) -> list[Hit]:
    """Each of theirs before the first of ours that scores less. Our own order is not only by score,
    so it is kept."""
    merged = list(ours)
    for hit in theirs:
        place = next((n for n, one in enumerate(merged) if one.score < hit.score), len(merged))
        merged.insert(place, hit)
    return merged


def _hit(candidate: Candidate) -> Hit:
    passage = candidate.passage
    return Hit(
        uri=uri(KIND, passage.id),
        kind=KIND,
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
        why={
            **candidate.ranks,
            "coverage": round(candidate.coverage, 3),
            "coverage_alone": round(candidate.coverage_alone, 3),
        },
    )
