"""Memories of the statements that the selector chooses from a session.

| kind | network |
|---|---|
| rule, decision, fact | world, if it is meant to last |
| lesson, preference | observation |
| outcome, todo | experience |
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.knowledge import Kind, Network
from holdfast.model.opinions import MemoryOccurrence
from holdfast.model.records import Exchange, Role, Session, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.distil import Distilled, distil
from holdfast.refine.distil.features import content_words
from holdfast.refine.distil.selector import packaged_selector, says_the_same
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.refine.memories.retention_rules import make_occurrence
from holdfast.refine.sessions.titles import session_subject

_NETWORKS = {
    Kind.RULE: Network.WORLD,
    Kind.DECISION: Network.WORLD,
    Kind.FACT: Network.WORLD,
    Kind.LESSON: Network.OBSERVATION,
    Kind.PREFERENCE: Network.OBSERVATION,
    Kind.OUTCOME: Network.EXPERIENCE,
    Kind.TODO: Network.EXPERIENCE,
}


def retain_statements(
    session: Session,
    exchanges: Sequence[Exchange],
    said_in: Sequence[tuple[Exchange, Sequence[Turn]]],
    known: Sequence[str] = (),
) -> list[MemoryOccurrence]:
    """The statements of a session to retain, each with the turn that states it. `said_in` are the
    exchanges to choose from, with their turns; texts that are `known` are not retained again."""
    # What an agent says after it has read text from outside the project may be that text.
    turns = [
        turn
        for exchange, own in said_in
        for turn in own
        if turn.role is Role.USER or exchange.trust is not Trust.EXTERNAL
    ]
    exchange_of = {turn.id: exchange for exchange, own in said_in for turn in own}
    subject = session_subject(session, exchanges)
    words = [content_words(text) for text in known]
    return [
        _occurrence(exchange_of[one.turn.id], one)
        for one in distil(turns, subject, packaged_selector())
        if not any(says_the_same(content_words(one.text), other) for other in words)
    ]


def _occurrence(exchange: Exchange, one: Distilled) -> MemoryOccurrence:
    network = _NETWORKS[one.kind]
    if network is Network.WORLD and one.is_person and is_for_the_moment(one.text):
        # What a person wants at the moment shows how they like things; it lays nothing down.
        network = Network.OBSERVATION
    return make_occurrence(
        exchange,
        network,
        one.text,
        who="user" if one.is_person else "",
        trust=one.turn.trust,
        evidence=[one.turn],
        kind=one.kind,
    )
