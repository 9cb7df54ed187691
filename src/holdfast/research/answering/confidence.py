"""How sure an answer is. Everything that states a confidence takes it from here.

The levels are promises about answers, kept on questions that were not used to choose the thresholds
(`python -m bench.confidence`, `bench/RESULTS.md`): of the answers of *high* confidence at least 90%
contain what was asked for, of *medium* at least 65%. What was said once is at most medium, however
well it fits; *low* means that something speaks of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.model.query import Confidence, Hit
from holdfast.model.records import Turn
from holdfast.model.trust import ENDED_STATUSES
from holdfast.store.protocol import Reader

# Records that sum others up are no sources of their own.
SUMMARY_KINDS = frozenset(("digest", "concept"))


class ConfidenceThresholds(NamedTuple):
    """What the evidence for an answer needs: `relevance` of the best record (its share of the
    question's weight and, where vectors are known, its nearness in meaning), `coverage` of the
    question by the words of one record, and the relevance of a `second` record of another exchange.
    """

    relevance: float
    coverage: float
    second: float


_HIGH = ConfidenceThresholds(relevance=0.7, coverage=0.9, second=0.6)
_MEDIUM = ConfidenceThresholds(relevance=0.5, coverage=0.5, second=0.0)


class Evidence(NamedTuple):
    """The best that some records offer, by the names of `ConfidenceThresholds`."""

    relevance: float
    coverage: float
    second: float

    def reaches(self, needed: ConfidenceThresholds) -> bool:
        """Whether it suffices in each respect."""
        return all(own >= least for own, least in zip(self, needed, strict=True))


def confidence_in(reader: Reader, hits: Sequence[Hit]) -> Confidence:
    """The confidence in an answer that rests on these hits."""
    if not hits:
        return Confidence.NONE
    evidence = measure_evidence(reader, hits)
    if evidence.reaches(_HIGH):
        return Confidence.HIGH
    return Confidence.MEDIUM if evidence.reaches(_MEDIUM) else Confidence.LOW


def confidence_in_checked(sources: int, kept: int, dropped: int) -> Confidence:
    """The confidence in what a model wrote, of which each sentence was compared with the records
    it cites: so many sentences were kept and dropped, and `sources` sessions are cited."""
    if dropped > kept:
        return Confidence.LOW
    return Confidence.HIGH if sources > 1 and not dropped else Confidence.MEDIUM


def measure_evidence(reader: Reader, hits: Sequence[Hit]) -> Evidence:
    """What hits offer. What has ended offers nothing: it is known that it was said, not that it
    holds."""
    holding = [hit for hit in hits if hit.status not in ENDED_STATUSES]
    sources = [hit for hit in holding if hit.kind not in SUMMARY_KINDS] or holding
    ranked = sorted(sources, key=relevance_of, reverse=True)
    if not ranked:
        return Evidence(0.0, 0.0, 0.0)
    first = exchange_of(reader, ranked[0])
    others = (hit for hit in ranked[1:] if exchange_of(reader, hit) not in (first, ""))
    second = next(others, None)
    covered = max(hit.why.get("coverage_alone", 0.0) for hit in ranked)
    return Evidence(relevance_of(ranked[0]), covered, relevance_of(second) if second else 0.0)


def relevance_of(hit: Hit) -> float:
    """How well a hit answers: by its words alone where nothing else was measured."""
    return hit.why.get("relevance", hit.why.get("coverage_alone", 0.0))


def exchange_of(reader: Reader, hit: Hit) -> str:
    """The exchange of a turn, any other record itself; "" for a summary of other records."""
    if hit.kind in SUMMARY_KINDS:
        return ""
    turn = _turn_of(reader, hit)
    inside = [
        exchange.id
        for exchange in (reader.sessions.exchanges(turn.bank, turn.session) if turn else ())
        if turn and exchange.first_seq <= turn.seq <= exchange.last_seq
    ]
    return inside[0] if inside else hit.uri.rsplit("/", 1)[-1]


def _turn_of(reader: Reader, hit: Hit) -> Turn | None:
    if hit.kind != "turn":
        return None
    found = reader.records.find(hit.bank, "turn", hit.uri.rsplit("/", 1)[-1], limit=1)
    return found[0] if found and isinstance(found[0], Turn) else None
