"""The stage that keeps memories up to date: from exchanges to memories.

Each session has occurrences of memories, a pure function of its visible exchanges and turns. The
occurrences of all sessions with the same key become one memory; statements of one matter have the
same key (`matters`). So the result depends neither on the order of reading nor on interruptions,
and forgotten records leave no trace in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from holdfast.model.corrections import corrected_passage_memory
from holdfast.model.ids import content_id
from holdfast.model.knowledge import ClaimKind, Memory, Validity
from holdfast.model.opinions import MemoryOccurrence, SessionOccurrence
from holdfast.model.query import Passage
from holdfast.model.records import Exchange, Role, Session, Turn
from holdfast.model.trust import PEOPLE, Status, Trust, least_trusted
from holdfast.refine.core.memory_calls import without_retold
from holdfast.refine.core.passages import memory_passage
from holdfast.refine.memories.model_extracted import ExtractedMemories
from holdfast.refine.memories.recaps import retain_recaps
from holdfast.refine.memories.retention_rules import (
    MATTER,
    changed_together,
    distinct,
    retain_exchange,
    retain_stated,
)
from holdfast.refine.memories.salience import stems
from holdfast.sources.claude_code.files import AGENT
from holdfast.store.protocol import Writer

NAME = "retain"
VERSION = 39
# Added to the version where statements got a second look by vectors: a bank whose settings turn
# vectors on or off is made again.
BY_VECTORS = 1000
# Evidence URIs kept in one memory, the latest first; `seen` counts all sessions.
_MAX_EVIDENCE = 12
# Changed sessions taken from the work list at once. Each session has its own transaction, so this
# bounds only the list in memory.
_BATCH_SIZE = 200


def stage_version(by_vectors: bool) -> int:
    """The version of memories that were chosen with vectors, or by words alone."""
    return VERSION + BY_VECTORS if by_vectors else VERSION


def update_memories(
    writer: Writer, on_progress: Callable[[], None] = lambda: None, by_vectors: bool = False
) -> int:
    """Update the memories of all changed sessions of every bank; returns how many there were."""
    done = 0
    for bank in writer.progress.banks_behind(NAME, stage_version(by_vectors)):
        while updated := update_bank_memories(writer, bank, on_progress, by_vectors=by_vectors):
            done += updated
    return done


def update_bank_memories(
    writer: Writer,
    bank: str,
    on_progress: Callable[[], None] = lambda: None,
    limit: int = _BATCH_SIZE,
    by_vectors: bool = False,
) -> int:
    """Update the memories of up to `limit` changed sessions of a bank; returns how many.
    `by_vectors`: with a second look at the statements of a session, which the settings decide for
    all banks."""
    version = stage_version(by_vectors)
    changes = writer.progress.unseen_changes(bank, NAME, version, limit)
    for change in changes:
        on_progress()
        # Vectors of a long session take a second, in which others may want to write.
        read = _read_changed(writer, bank, change.session, by_vectors)
        with writer.transaction():
            if change.session:
                if writer.progress.unseen_changes(bank, NAME, version, 1) != [change]:
                    read = _read_changed(writer, bank, change.session, by_vectors)
                _write_session(writer, bank, change.session, read)
            publish_changed_memories(writer, bank)
            writer.progress.mark_seen(bank, NAME, version, change.number)
    return len(changes)


def _read_changed(writer: Writer, bank: str, id: str, by_vectors: bool) -> list[MemoryOccurrence]:
    session = writer.sessions.get(bank, id) if id else None
    return _read_session(writer, session, by_vectors) if session else []


def _write_session(
    writer: Writer,
    bank: str,
    id: str,
    occurrences: Sequence[MemoryOccurrence],
) -> None:
    if sorted(occurrences) != writer.memories.occurrences(bank, id):
        writer.memories.put_occurrences(bank, id, occurrences)


def _read_session(writer: Writer, session: Session, by_vectors: bool) -> list[MemoryOccurrence]:
    """The occurrences in a session in order of their keys."""
    exchanges = writer.sessions.exchanges(session.bank, session.id)
    extracted = ExtractedMemories(writer.summaries, session.bank)
    found: list[MemoryOccurrence] = []
    floor: list[MemoryOccurrence] = []
    said_in: list[tuple[Exchange, list[Turn]]] = []
    recaps: list[MemoryOccurrence] = []
    whole = writer.turns.summaries(session.bank, session.id)
    states = writer.curation.states_in_session(session.bank, session.id)
    by_agents = {c.id for c in states if c.kind == "exchange" and c.by_agent}
    for number, exchange in enumerate(exchanges, 1):
        turns = writer.turns.of_session(
            session.bank, session.id, exchange.first_seq, exchange.last_seq
        )
        if not turns:
            continue
        whole += turns
        by_person = _is_asked_by_person(session, turns[0])
        if exchange.status is Status.VERIFIED:
            # A person corrected the exchange, so only the tool calls of its turns still count.
            tool_calls = [turn for turn in turns if turn.tool is not None]
            found += retain_exchange(exchange, tool_calls, root=session.cwd) if tool_calls else []
            continue
        if exchange.id in by_agents:
            # An agent did: what people said and the tool calls still count.
            turns = [turn for turn in turns if turn.role is Role.USER or turn.tool is not None]
            if not turns:
                continue
        by_model = None if exchange.id in by_agents else extracted.find(exchange, turns)
        said = without_retold(turns)
        if by_model is not None:
            found += by_model
        elif said:
            found += retain_exchange(exchange, said, exchanges[number:], session.cwd)
            floor += retain_stated(exchange, said, by_person)
            said_in.append((exchange, said))
    if said_in:
        # Needs numpy, which a worker without work does not load.
        from holdfast.refine.memories.retained_statements import left_out, retain_statements

        # What a person laid down is for the facts to keep, or to leave out.
        laid_down = [
            claim.text
            for claim in writer.facts.claims(session.bank, session.id)
            if claim.by_person and claim.kind in (ClaimKind.RULING, ClaimKind.DECISION)
        ]
        found += left_out(floor, found)
        known = [*laid_down, *(one.what for one in found)]
        summed_up = [] if session.parent else retain_recaps(exchanges, _own_words(said_in))
        retold = {name for one in summed_up for name in one.evidence if "/turn/" in name}
        stated = retain_statements(session, exchanges, said_in, whole, known, retold, by_vectors)
        recaps = summed_up
        found += [one for one in stated if retold.isdisjoint(one.evidence)]
    if exchanges and not session.parent:
        found += changed_together(exchanges)
    found = [*recaps, *distinct(found)]
    return sorted({one.key: one for one in reversed(found)}.values())


def _own_words(said_in: Sequence[tuple[Exchange, Sequence[Turn]]]) -> list[Turn]:
    """The turns of exchanges, without what an agent says after it has read text from outside."""
    return [
        turn
        for exchange, own in said_in
        for turn in own
        if turn.role is Role.USER or exchange.trust is not Trust.EXTERNAL
    ]


def _is_asked_by_person(session: Session, first: Turn) -> bool:
    """Whether a person makes the requests, and not the agent that runs this one."""
    return not session.parent and not (first.speaker and session.agent == AGENT)


def publish_changed_memories(writer: Writer, bank: str) -> None:
    """Write the memory of each changed key, or remove it if too few sessions have it."""
    changed = writer.memories.changed_keys(bank)
    decided = {state.id for state in writer.curation.states_of_kind(bank, "memory") if changed}
    for key in changed:
        occurrences = writer.memories.occurrences_of_key(bank, key)
        if not occurrences or len(occurrences) < occurrences[0].occurrence.needs:
            writer.memories.put_retained(bank, key, None, None)
            continue
        shown = max(occurrences, key=_worth)
        memory = _combine(bank, occurrences, shown, _memory_id(occurrences, decided))
        writer.memories.put_retained(bank, key, memory, _current_passage(writer, memory, shown))
    if changed:
        # Which tasks are done depends on the memories of all sessions, and the facts stage, which
        # finds it out, may have seen the session before this stage did.
        writer.progress.mark_changed(bank, "")


def _worth(one: SessionOccurrence) -> tuple[bool, str, str]:
    """Orders the occurrences of a key by whose words are shown: a person's, then the latest."""
    return one.occurrence.trust in PEOPLE, one.occurrence.time, one.session


def _memory_id(occurrences: Sequence[SessionOccurrence], decided: Collection[str]) -> str:
    """The id of a memory: that of its key, or the one that it had when its key was made of its
    stems, if a person decided about that."""
    key = occurrences[0].occurrence.key
    id = content_id("memory", key)
    if not decided or id in decided or f":{MATTER}:" not in key:
        return id
    by_stems = {
        content_id("memory", f"{o.network.value}:{content_id(*sorted(stems(o.what)))}")
        for _, o in occurrences
    }
    return min(by_stems.intersection(decided), default=id)


def _combine(
    bank: str, occurrences: Sequence[SessionOccurrence], shown: SessionOccurrence, id: str
) -> Memory:
    """One memory from all occurrences of a key: the words of the one to show, the evidence of all.
    What a person said stays a person's words, whoever repeats it."""
    first, last = occurrences[0].occurrence, occurrences[-1].occurrence
    words = shown.occurrence
    evidence = dict.fromkeys(
        uri for one in (shown, *reversed(occurrences)) for uri in one.occurrence.evidence
    )
    trusts = [one.occurrence.trust for one in occurrences]
    sessions = f" (in {len(occurrences)} sessions)" if first.needs > 1 else ""
    return Memory(
        bank,
        id,
        words.network,
        words.what + sessions,
        least_trusted([t for t in trusts if t in PEOPLE] or trusts),
        when=last.time,
        where=words.where,
        who=words.who,
        why=next((m.occurrence.why for m in reversed(occurrences) if m.occurrence.why), ""),
        validity=Validity(since=first.time, learned=first.time),
        confidence=words.confidence,
        evidence_for=tuple(evidence)[:_MAX_EVIDENCE],
        seen=len(occurrences),
        kind=words.kind,
        worth=max((o.worth for _, o in occurrences if o.worth is not None), default=None),
    )


def _current_passage(writer: Writer, memory: Memory, shown: SessionOccurrence) -> Passage | None:
    """The passage that makes a memory searchable, in its corrected words; None if it is hidden."""
    known = writer.curation.state(memory.bank, "memory", memory.id)
    if known is not None and known.is_hidden:
        return None
    if known is not None and known.text:
        memory = corrected_passage_memory(memory, known)
    return memory_passage(memory, shown.session, shown.occurrence.seq, shown.occurrence.context)
