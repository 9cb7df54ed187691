"""What the evidence on a fact adds up to: its confidence, and its state at an earlier time."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import EvidenceKind, Fact, FactEvidence, StatusChange
from holdfast.model.trust import ENDED_STATUSES, REPLACED_STATUSES, Trust


class ConfidenceWeights(NamedTuple):
    """How confidence follows from trust and evidence. None of these is fitted to data; they set
    an order: whose word it is counts most, then repetition, then use, then contradiction."""

    # Confidence of a fact that was stated once, by whose word it is.
    user: float = 0.9
    team: float = 0.8
    assistant: float = 0.6
    tool: float = 0.5
    other: float = 0.4
    # Share of the doubt that is left after a fact was stated or followed once more elsewhere.
    doubt_per_repetition: float = 0.8
    # The same after a session made use of it. It is higher, because an agent that was given a
    # fact and repeats it confirms little.
    doubt_per_use: float = 0.95
    # Share of the confidence that is left after one piece of evidence against it.
    confidence_per_contradiction: float = 0.92
    # Repetitions, and uses, that count; more of them would push confidence towards certainty.
    max_counted: int = 8

    def initial(self, trust: Trust) -> float:
        """The confidence of a fact that was stated once."""
        by_trust = {
            Trust.USER: self.user,
            Trust.TEAM: self.team,
            Trust.ASSISTANT: self.assistant,
            Trust.TOOL: self.tool,
        }
        return by_trust.get(trust, self.other)


WEIGHTS = ConfidenceWeights()


def fact_confidence(trust: Trust, evidence: Iterable[FactEvidence]) -> float:
    """How far a fact may be believed, from 0 to 1: it starts with whose word it is, rises with
    each repetition in another place, and falls with each contradiction."""
    evidence = list(evidence)
    uses = sum(1 for e in evidence if e.how is EvidenceKind.USED)
    contradictions = sum(1 for e in evidence if e.against)
    repetitions = max(len(evidence) - contradictions - uses - 1, 0)
    most = WEIGHTS.max_counted
    doubt = 1 - WEIGHTS.initial(trust)
    doubt *= WEIGHTS.doubt_per_repetition ** min(repetitions, most) * (
        WEIGHTS.doubt_per_use ** min(uses, most)
    )
    return round((1 - doubt) * WEIGHTS.confidence_per_contradiction**contradictions, 3)


def status_change_at(changes: Iterable[StatusChange], as_of: str = "") -> StatusChange | None:
    """The last status change up to a time; the last of all where no time is given."""
    past = [change for change in changes if not as_of or change.time <= as_of]
    return max(past, key=lambda change: change.time, default=None)


def fact_as_of(
    fact: Fact, changes: Iterable[StatusChange], evidence: Iterable[FactEvidence], as_of: str
) -> Fact:
    """A fact as it was known at a time."""
    last = status_change_at(changes, as_of)
    status = last.status if last else fact.status
    past = [e for e in evidence if e.time <= as_of]
    supporting = [e for e in past if not e.against]
    ended = status in ENDED_STATUSES
    return replace(
        fact,
        status=status,
        confidence=fact_confidence(fact.trust, past),
        contradictions=sum(1 for e in past if e.how is EvidenceKind.BREACHED),
        last_validated=max((e.time for e in supporting), default=fact.validity.learned),
        validity=replace(fact.validity, until=fact.validity.until if ended else ""),
        evidence=tuple(dict.fromkeys(e.uri for e in past if e.supports_directly)),
        against=tuple(dict.fromkeys(e.uri for e in past if e.against)),
        superseded_by=fact.superseded_by if status in REPLACED_STATUSES else "",
    )
