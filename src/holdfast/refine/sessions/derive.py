"""Derives exchanges, digests, claims and passages for each session whose turns have changed.

The store keeps the work list: a session is stale until its derived rows are written, in one
transaction, so a run can be killed at any point. A session is read as a stream, from the first
exchange that changed, so a long session does not fill the memory. All rows of a session have the
same rules version: one that an older version derived is derived again as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from holdfast.model.records import Digest, Exchange, Role, Session, Turn
from holdfast.refine.core.passages import TurnPassageBuilder
from holdfast.refine.core.rules_version import RULES_VERSION
from holdfast.refine.sessions.curation_overlay import CurationOverlay, SessionContent, StoredSession
from holdfast.refine.sessions.digests import build_digest
from holdfast.refine.sessions.exchanges import ExchangeGrouper, build_exchange
from holdfast.sources.own_calls import is_memory_call
from holdfast.store.across_tables.derived import Derived, HiddenTurn
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Writer
from holdfast.store.records.sessions import StaleSession

# Reads the turns of a session (bank, session) between two positions, both included.
ReadTurns = Callable[[str, str, int, int], list[Turn]]


def derive_stale(writer: Writer, on_session: Callable[[], None] = lambda: None) -> int:
    """Bring every stale session up to date; returns how many. Calls `on_session` after each."""
    done = 0
    while stale := writer.sessions.stale(limit=50):
        for one in stale:
            derive_session(writer, one)
            done += 1
            on_session()
    return done


def derive_outdated(
    writer: Writer, on_progress: Callable[[int, int], None] = lambda done, total: None
) -> int:
    """Derive again the sessions that an older rules version derived; returns how many. Calls
    `on_progress` with how many are done and how many there are."""
    done, total = 0, writer.versions.count_outdated_sessions(RULES_VERSION)
    while outdated := writer.versions.outdated_sessions(RULES_VERSION, limit=50):
        for bank, session in outdated:
            derive_session(writer, StaleSession(bank, session, 0))
            done += 1
            on_progress(done, max(done, total))
    return done


def derive_session(writer: Writer, stale: StaleSession) -> None:
    """Replace the rows derived from the changed part of one session."""
    bank, session, _ = stale
    with writer.transaction():
        if writer.versions.of_session(bank, session) != RULES_VERSION:
            stale = stale._replace(first=0)
        kept = _unchanged_exchanges(writer, stale)
        first = kept[-1].last_seq + 1 if kept else 0
        known = writer.sessions.get(bank, session)
        rows = derive(StoredSession(writer), stale, known, kept, first)
        writer.derived.put(bank, session, rows, first)
        writer.versions.record(bank, session, RULES_VERSION)


def _unchanged_exchanges(writer: Writer, stale: StaleSession) -> list[Exchange]:
    """The exchanges before the one that the first changed turn is in or may continue."""
    bank, session, first = stale
    before = [x for x in writer.sessions.exchanges(bank, session) if x.first_seq <= first][:-1]
    if not before or _has_other_roles(StoredSession(writer), bank, session, last=first - 1):
        return before
    # The first turn that is not a person's changes how all turns of the session are grouped.
    return [] if _has_other_roles(StoredSession(writer), bank, session) else before


def _has_other_roles(
    content: SessionContent, bank: str, session: str, last: int | None = None
) -> bool:
    """Whether a session has turns of an agent or a tool, up to position `last`."""
    for turn in content.all_turns(bank, session):
        if last is not None and turn.seq > last:
            return False
        if turn.role not in (Role.USER, Role.SUMMARY):
            return True
    return False


def derive(
    content: SessionContent,
    stale: StaleSession,
    session: Session | None,
    kept: list[Exchange],
    first: int,
) -> Iterator[Derived]:
    """The rows derived from a session, from `first` on; the exchanges before it are `kept`."""
    exchanges = list(kept)
    reply = ""
    overlay = CurationOverlay(content, stale.bank, stale.session)
    passages = TurnPassageBuilder(_previous_text(content.turns, kept))
    grouper = ExchangeGrouper(dialogue=not _has_other_roles(content, stale.bank, stale.session))

    def close(group: list[Turn]) -> Iterator[Derived]:
        exchange, derived = overlay.exchange(group)
        exchanges.extend([exchange] if exchange else [])
        yield from derived

    for read in content.all_turns(stale.bank, stale.session, first):
        if read.role is Role.SUMMARY:
            yield from [HiddenTurn(read.id)] if overlay.hides_summary(read) else []
            continue
        turn, replaced = overlay.apply_correction(read)
        yield from replaced
        if group := grouper.add(turn):
            yield from close(group)
        if overlay.hide(turn, grouper.exchange):
            yield HiddenTurn(turn.id)
            continue
        if turn.tool is None or not is_memory_call(turn.tool):
            yield overlay.set_status(passages.build(turn), turn, grouper.exchange)
        if turn.role is Role.ASSISTANT:
            reply = turn.text
    if group := grouper.finish():
        yield from close(group)
    closing = reply or last_assistant_text(content.turns, kept)
    digest = build_digest(session, exchanges, closing) if session else None
    yield from overlay.digest(digest, stale.session, exchanges, closing)


def _turns_backwards(read_turns: ReadTurns, kept: Sequence[Exchange]) -> Iterator[list[Turn]]:
    for x in reversed(kept):
        yield read_turns(x.bank, x.session, x.first_seq, x.last_seq)


def _previous_text(read_turns: ReadTurns, kept: Sequence[Exchange]) -> str:
    """The text before the first turn that is derived again, as context for its passage."""
    passages = TurnPassageBuilder()
    for turns in _turns_backwards(read_turns, kept):
        passages = TurnPassageBuilder()
        for turn in turns:
            passages.build(turn)
        if any(turn.role is not Role.TOOL for turn in turns):
            break
    return passages.previous


def last_assistant_text(read_turns: ReadTurns, kept: Sequence[Exchange]) -> str:
    """The text of the assistant's last turn in these exchanges."""
    for turns in _turns_backwards(read_turns, kept):
        for turn in reversed(turns):
            if turn.role is Role.ASSISTANT:
                return turn.text
    return ""


def rebuild_by_rules(reader: Writer, record: Record) -> Exchange | Digest | None:
    """An exchange or a digest as the rules build it from its turns, without the summary by a model;
    None for any other kind of record."""
    if isinstance(record, Exchange):
        x, known = record, reader.sessions.get(record.bank, record.session)
        turns = reader.turns.of_session(x.bank, x.session, x.first_seq, x.last_seq)
        return build_exchange(turns, known.cwd if known else "")
    session = (
        reader.sessions.get(record.bank, record.session) if isinstance(record, Digest) else None
    )
    if session is None:
        return None
    exchanges = reader.sessions.exchanges(session.bank, session.id)
    built = [x for e in exchanges if isinstance(x := rebuild_by_rules(reader, e), Exchange)]
    return build_digest(session, built, last_assistant_text(reader.turns.of_session, exchanges))
