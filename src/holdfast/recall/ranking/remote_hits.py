"""What servers of the team's know of a question, as hits among ours.

A server ranks by the same rules over another memory, so its scores mean the same; but how much of
the question a text covers is judged here as well, and bounds what a server can say of it. Their
texts have no part in how ours are ranked, are never stored, and never stand twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.language import squeeze
from holdfast.model.query import Hit, Layer, SourceLocation
from holdfast.model.uris import uri
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.parallel import RetrieverRun
from holdfast.recall.core.relevance import measure_relevance, worth_showing
from holdfast.recall.query.question import Query

KIND = "remote"
STRATEGY_PREFIX = "remote "
MAX_REMOTE_HITS = 6


class Heard(NamedTuple):
    """A text of a server's in the running, and who shared it."""

    candidate: Candidate
    shared: str


def is_remote(finish: RetrieverRun) -> bool:
    """Whether an arm asked a server."""
    return finish.strategy.name.startswith(STRATEGY_PREFIX)


def rank_remote_texts(query: Query, finishes: Iterable[RetrieverRun]) -> tuple[Heard, ...]:
    """The texts that speak of the question, best first."""
    found: list[Heard] = []
    for finish in finishes:
        for place, find in enumerate(finish.result.passages, 1):
            candidate = Candidate(find.passage, {finish.strategy.name: place})
            measure_relevance(candidate, query.stem_weights)
            candidate.score = find.score * candidate.coverage
            if worth_showing(candidate):
                found.append(Heard(candidate, find.shared_by))
    return tuple(sorted(found, key=lambda heard: -heard.candidate.score)[:MAX_REMOTE_HITS])


def merge_remote_hits(ours: Sequence[Hit], heard: Iterable[Heard], limit: int) -> tuple[Hit, ...]:
    """Theirs among ours, by score; of equal ones ours come first."""
    theirs = [_hit(one) for one in heard]
    if not theirs:
        return tuple(ours)
    said = {squeeze(hit.text) for hit in ours}
    new = list({squeeze(hit.text): hit for hit in reversed(theirs)}.items())[::-1]
    kept = [hit for text, hit in new if text not in said]
    return tuple(_merged(list(ours), kept)[: max(limit, len(ours))])


def _merged(ours: list[Hit], theirs: list[Hit]) -> list[Hit]:
    """Each of theirs before the first of ours that scores less; the order of ours is not only by
    score, and stays."""
    merged = list(ours)
    for hit in theirs:
        place = next((n for n, one in enumerate(merged) if one.score < hit.score), len(merged))
        merged.insert(place, hit)
    return merged


def _hit(heard: Heard) -> Hit:
    candidate = heard.candidate
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
        shared=heard.shared,
        provider=passage.id.partition("/")[0],
        why={
            **candidate.ranks,
            "coverage": round(candidate.coverage, 3),
            "coverage_alone": round(candidate.coverage_alone, 3),
        },
    )
