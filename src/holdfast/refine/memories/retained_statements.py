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
from holdfast.model.records import Exchange, Session, Turn
from holdfast.refine.distil.distil import Distilled, distil
from holdfast.refine.distil.selector import packaged_selector
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.refine.memories.retention_rules import make_occurrence
from holdfast.refine.sessions.titles import session_title

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
) -> list[MemoryOccurrence]:
    """The statements of a session to retain, each with the turn that states it. `said_in` are the
    exchanges to choose from, with their turns."""
    turns = [turn for _, own in said_in for turn in own]
    if not turns:
        return []
    exchange_of = {turn.id: exchange for exchange, own in said_in for turn in own}
    subject = session_title(session, exchanges)
    return [
        _occurrence(exchange_of[one.turn.id], one)
        for one in distil(turns, subject, packaged_selector())
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
