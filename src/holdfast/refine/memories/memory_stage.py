"""The stage *retain*: from exchanges to memories in four networks, and to the stances of people.

What one session has is a pure function of its exchanges and turns as they are shown; what stands
for it in the bank is a pure function of the sightings of all sessions. So neither the order of
reading nor being killed makes a difference, and what is forgotten is in neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from holdfast.model.corrections import worded_memory
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Memory, Validity
from holdfast.model.opinions import Met, Sighting, Stance
from holdfast.model.query import Passage
from holdfast.model.records import Exchange, Session, Turn
from holdfast.model.trust import Status, least_trusted
from holdfast.refine.core.passages import memory_passage
from holdfast.refine.memories.model_extracted import Extracted
from holdfast.refine.memories.retention_rules import changed_together, distinct, retain_exchange
from holdfast.refine.memories.stances import stances_in, stances_of
from holdfast.sources.claude_code.files import AGENT
from holdfast.store.protocol import Writer

NAME = "retain"
VERSION = 1
_EVIDENCE = 12
_PORTION = 200


def know_retained(writer: Writer, tick: Callable[[], None] = lambda: None) -> int:
    """Retain what changed in every bank; returns how many sessions that were."""
    done = 0
    for bank in writer.banks_behind(NAME, VERSION):
        while part := retain_bank(writer, bank, tick):
            done += part
    return done


def retain_bank(
    writer: Writer, bank: str, tick: Callable[[], None] = lambda: None, most: int = _PORTION
) -> int:
    """Retain what changed in a bank, at most so many sessions; returns how many there were."""
    changes = writer.changes(bank, NAME, VERSION, most)
    for change in changes:
        tick()
        with writer.transaction():
            if change.session:
                _retain_session(writer, bank, change.session)
            else:
                _retain_remembered(writer, bank)
            show_unshown(writer, bank)
            writer.reach(bank, NAME, VERSION, change.number)
    return len(changes)


def _retain_session(writer: Writer, bank: str, id: str) -> None:
    session = writer.session(bank, id)
    sightings, stances = retain_session(writer, session) if session else ([], [])
    known = writer.sightings(bank, id)
    if sorted(sightings) == known and stances == writer.stances(bank, id):
        return
    writer.put_retained(bank, id, sightings, stances)


def retain_session(writer: Writer, session: Session) -> tuple[list[Sighting], list[Stance]]:
    """What is to be retained of a session, by key, and the stances in it, by time."""
    exchanges = writer.exchanges(session.bank, session.id)
    extracted = Extracted(writer, session.bank)
    found: list[Sighting] = []
    stances: list[Stance] = []
    for exchange in exchanges:
        turns = writer.turns(session.bank, session.id, exchange.first_seq, exchange.last_seq)
        if not turns:
            continue
        by_person = _by_person(session, turns[0])
        if exchange.status is Status.VERIFIED:
            # Somebody said it anew: of its turns only what was done counts.
            deeds = [turn for turn in turns if turn.tool is not None]
            found += retain_exchange(exchange, deeds, by_person) if deeds else []
            continue
        by_model = extracted.of(exchange, turns)
        found += retain_exchange(exchange, turns, by_person) if by_model is None else by_model
        stances += stances_in(turns, by_person)
    found = distinct([*found, *_together(session, exchanges)])
    stances.sort(key=lambda s: (s.time, s.session, s.seq, s.uri, s.target, s.aspect))
    return sorted({one.key: one for one in reversed(found)}.values()), stances


def _by_person(session: Session, first: Turn) -> bool:
    """Whether a person asked: a subagent is asked by an agent, and so is what an agent types."""
    return not session.parent and not (first.speaker and session.agent == AGENT)


def _together(session: Session, exchanges: Sequence[Exchange]) -> list[Sighting]:
    return [] if session.parent or not exchanges else changed_together(exchanges)


def _retain_remembered(writer: Writer, bank: str) -> None:
    """What people asked to retain as their opinion counts as evidence, too."""
    shown = writer.remembered(bank, 10_000)
    stances = [stance for memory in shown for stance in stances_of(memory)]
    if sorted(stances) != sorted(writer.stances(bank, "")):
        writer.put_retained(bank, "", [], stances)


def show_unshown(writer: Writer, bank: str) -> None:
    """Let one memory stand for the sightings of each key that has changed."""
    for key in writer.unshown(bank):
        met = writer.met(bank, key)
        if not met or len(met) < met[0].sighting.needs:
            writer.show_retained(bank, key, None, None)
            continue
        memory = memory_of(bank, met)
        writer.show_retained(bank, key, memory, passage_of(writer, memory, met[0]))


def memory_of(bank: str, met: Sequence[Met]) -> Memory:
    """The memory that sightings of one key are: in the words of the first, by all the evidence."""
    first, last = met[0].sighting, met[-1].sighting
    evidence = dict.fromkeys(uri for one in reversed(met) for uri in one.sighting.evidence)
    times = f" (in {len(met)} sessions)" if first.needs > 1 else ""
    return Memory(
        bank,
        content_id("memory", first.key),
        first.network,
        first.what + times,
        least_trusted(one.sighting.trust for one in met),
        when=last.time,
        where=first.where,
        who=first.who,
        why=next((m.sighting.why for m in reversed(met) if m.sighting.why), ""),
        validity=Validity(since=first.time, learned=first.time),
        confidence=first.confidence,
        evidence_for=tuple(evidence)[:_EVIDENCE],
        seen=len(met),
    )


def passage_of(writer: Writer, memory: Memory, first: Met) -> Passage | None:
    """How a memory is found: in the words of now, or not at all, as people decided."""
    known = writer.curated(memory.bank, "memory", memory.id)
    if known is not None and known.gone:
        return None
    if known is not None and known.text:
        memory = replace(worded_memory(memory, known.text), status=Status.VERIFIED)
    return memory_passage(memory, first.session, first.sighting.seq, first.sighting.context)
