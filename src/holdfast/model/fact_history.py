"""What the evidence on a fact comes to: its confidence, and what it was at an earlier time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from holdfast.model.knowledge import EvidenceKind, Fact, FactEvidence, StatusChange
from holdfast.model.trust import ENDED_STATUSES, Status, Trust

_BY_TRUST = {Trust.USER: 0.9, Trust.TEAM: 0.8, Trust.ASSISTANT: 0.6, Trust.TOOL: 0.5}
_LEAST = 0.4
_PER_BREACH = 0.92
# How much doubt is left after a fact was stated or followed again, and after it was made use of: an
# agent that was told a thing and repeats it bears out little.
_PER_WITNESS = 0.8
_PER_USE = 0.95
_MOST = 8


def fact_confidence(trust: Trust, bearings: Iterable[FactEvidence]) -> float:
    """How far a fact may be believed: by whose word it is, more each time it is borne out anew
    in another place, and less each time something speaks against it."""
    bearings = list(bearings)
    doubt = 1 - _BY_TRUST.get(trust, _LEAST)
    used = sum(1 for b in bearings if b.how is EvidenceKind.USED)
    again = sum(1 for b in bearings if not b.against) - used - 1
    doubt *= _PER_WITNESS ** min(max(again, 0), _MOST) * _PER_USE ** min(used, _MOST)
    return round((1 - doubt) * _PER_BREACH ** sum(1 for b in bearings if b.against), 3)


def status_change_at(lives: Iterable[StatusChange], as_of: str = "") -> StatusChange | None:
    """The last change of a life up to a time, or of all of it."""
    past = [life for life in lives if not as_of or life.time <= as_of]
    return max(past, key=lambda life: life.time, default=None)


def fact_as_of(
    fact: Fact, lives: Iterable[StatusChange], bearings: Iterable[FactEvidence], as_of: str
) -> Fact:
    """A fact as it stood at a time."""
    last = status_change_at(lives, as_of)
    status = last.status if last else fact.status
    past = [b for b in bearings if b.time <= as_of]
    good = [b for b in past if not b.against]
    ended = status in ENDED_STATUSES
    return replace(
        fact,
        status=status,
        confidence=fact_confidence(fact.trust, past),
        contradictions=sum(1 for b in past if b.how is EvidenceKind.BREACHED),
        last_validated=max((b.time for b in good), default=fact.validity.learned),
        validity=replace(fact.validity, until=fact.validity.until if ended else ""),
        evidence=tuple(dict.fromkeys(b.uri for b in past if b.testifies)),
        against=tuple(dict.fromkeys(b.uri for b in past if b.against)),
        superseded_by=fact.superseded_by if status is Status.SUPERSEDED else "",
    )
