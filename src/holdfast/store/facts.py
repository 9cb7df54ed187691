"""What a store keeps of claims, facts and their lives, and how a fact stood at a time.

All of it is derived, except for advice, which was paid for, and for what sessions made use of. A
life is a list of changes, so that what was known and held on any day can be told: a change after
that day has not happened yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from holdfast.model.accounts import Used
from holdfast.model.knowledge import Bearing, Claim, Fact, How, Life, Review
from holdfast.model.query import Passage
from holdfast.model.records import Turn
from holdfast.model.trust import Status, Trust

ENDED = (Status.SUPERSEDED, Status.RETRACTED)
_BY_TRUST = {Trust.USER: 0.9, Trust.TEAM: 0.8, Trust.ASSISTANT: 0.6, Trust.TOOL: 0.5}
_LEAST = 0.4
_PER_BREACH = 0.92
# How much doubt is left after a fact was stated or followed again, and after it was made use of: an
# agent that was told a thing and repeats it bears out little.
_PER_WITNESS = 0.8
_PER_USE = 0.95
_MOST = 8


class Known(NamedTuple):
    """A fact with the passage it is found by; None where another record says the same."""

    fact: Fact
    passage: Passage | None


class Knowledge(NamedTuple):
    """All that a bank's claims come to. `dropped` counts what was no fact, by reason."""

    facts: Sequence[Known] = ()
    lives: Sequence[Life] = ()
    bearings: Sequence[Bearing] = ()
    reviews: Sequence[Review] = ()
    dropped: Sequence[tuple[str, int]] = ()


class FactQuestions(Protocol):
    """What can be asked."""

    def claims(self, bank: str, session: str = "", turns: Sequence[str] = ()) -> list[Claim]:
        """The claims of a bank, of one session, or of some turns, by time."""
        ...

    def facts(self, bank: str | None) -> list[Fact]:
        """Every fact that is shown, whatever its status; the latest learned first."""
        ...

    def lives(self, bank: str, names: Sequence[tuple[str, str]]) -> list[Life]:
        """The lives of records, each named by kind and id, by time."""
        ...

    def bearings(self, bank: str, fact: str) -> list[Bearing]:
        """What bears on a fact, by time."""
        ...

    def facts_on(self, bank: str, uri: str) -> list[Fact]:
        """The facts that were stated in a record."""
        ...

    def uses(self, bank: str) -> list[Used]:
        """What sessions made use of after they were told, by time, as far as the turns that show
        it are shown."""
        ...

    def reviews(self, bank: str | None) -> list[Review]:
        """What people should decide or have decided, the oldest first."""
        ...

    def dropped(self, bank: str | None) -> dict[str, int]:
        """How many claims were no fact, by reason."""
        ...


class FactWays(Protocol):
    """The ways in."""

    def put_knowledge(self, bank: str, knowledge: Knowledge) -> None:
        """Replace what the claims of a bank come to. What stays the same is not written anew."""
        ...

    def deeds(self, bank: str, words: Sequence[str]) -> Iterator[Turn]:
        """The tool calls of a bank whose target or action holds one of these words, as shown, by
        time."""
        ...

    def put_uses(self, bank: str, uses: Iterable[Used]) -> None:
        """Keep what sessions made use of; what is known stays."""
        ...

    def drop_uses(self, bank: str, record: str, session: str) -> None:
        """Take back that a person found a record of use in an investigation."""
        ...

    def put_advice(self, bank: str, review: str, time: str, model: str, text: str) -> None:
        """Keep what a model says of a question that people should decide."""
        ...


def confidence(trust: Trust, bearings: Iterable[Bearing]) -> float:
    """How far a fact may be believed: by whose word it is, more each time it is borne out anew
    in another place, and less each time something speaks against it."""
    bearings = list(bearings)
    doubt = 1 - _BY_TRUST.get(trust, _LEAST)
    used = sum(1 for b in bearings if b.how is How.USED)
    again = sum(1 for b in bearings if not b.against) - used - 1
    doubt *= _PER_WITNESS ** min(max(again, 0), _MOST) * _PER_USE ** min(used, _MOST)
    return round((1 - doubt) * _PER_BREACH ** sum(1 for b in bearings if b.against), 3)


def status_at(lives: Iterable[Life], as_of: str = "") -> Life | None:
    """The last change of a life up to a time, or of all of it."""
    past = [life for life in lives if not as_of or life.time <= as_of]
    return max(past, key=lambda life: life.time, default=None)


def fact_at(fact: Fact, lives: Iterable[Life], bearings: Iterable[Bearing], as_of: str) -> Fact:
    """A fact as it stood at a time."""
    last = status_at(lives, as_of)
    status = last.status if last else fact.status
    past = [b for b in bearings if b.time <= as_of]
    good = [b for b in past if not b.against]
    ended = status in ENDED
    return replace(
        fact,
        status=status,
        confidence=confidence(fact.trust, past),
        contradictions=sum(1 for b in past if b.how is How.BREACHED),
        last_validated=max((b.time for b in good), default=fact.validity.learned),
        validity=replace(fact.validity, until=fact.validity.until if ended else ""),
        evidence=tuple(dict.fromkeys(b.uri for b in past if b.testifies)),
        against=tuple(dict.fromkeys(b.uri for b in past if b.against)),
        superseded_by=fact.superseded_by if status is Status.SUPERSEDED else "",
    )
