"""Derives sessions in several processes: each gets a snapshot of a session and returns its rows.

The rows depend only on the snapshot. When they are written, in one transaction, the session is
compared with its snapshot; if it has changed meanwhile, it is derived again here. A session of
which only the end changed, one with summaries by a model, and one that is too long are derived here
as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.model.curation import CurationState
from holdfast.model.ledgers.model_calls import ModelSummary
from holdfast.model.records import Session, Turn
from holdfast.refine.core.executor import Executor
from holdfast.refine.core.rules_version import RULES_VERSION
from holdfast.refine.sessions.derive import derive, derive_session
from holdfast.store.across_tables.derived import Derived
from holdfast.store.protocol import Writer
from holdfast.store.records.sessions import StaleSession

# A longer session is derived here as a stream, because a snapshot is characters in memory and sent.
MAX_SNAPSHOT_CHARACTERS = 4_000_000
# Stale sessions that are listed at once.
_MAX_LISTED = 500


class SessionSnapshot(NamedTuple):
    """A `SessionReader` without a store: all that deriving a session reads, but no summaries."""

    bank: str
    id: str
    known: Session | None
    stored_turns: tuple[Turn, ...]
    curated: tuple[CurationState, ...]

    def session(self, bank: str, id: str) -> Session | None:
        return self.known

    def all_turns(self, bank: str, session: str, first: int = 0) -> Iterator[Turn]:
        return (turn for turn in self.stored_turns if turn.seq >= first)

    def turns(self, bank: str, session: str, first: int = 0, last: int | None = None) -> list[Turn]:
        return [t for t in self.stored_turns if t.seq >= first and (last is None or t.seq <= last)]

    def curation_states_in_session(self, bank: str, session: str) -> list[CurationState]:
        return list(self.curated)

    def has_summaries(self, bank: str) -> bool:
        return False

    def summary(self, bank: str, hash: str) -> ModelSummary | None:
        return None


def derive_snapshot(snapshot: SessionSnapshot) -> list[Derived]:
    """The rows derived from a session. Runs in any process."""
    stale = StaleSession(snapshot.bank, snapshot.id, 0)
    return list(derive(snapshot, stale, snapshot.known, [], 0))


def derive_in_parallel(
    executor: Executor,
    writer: Writer,
    on_session: Callable[[int], None] = lambda done: None,
    max_characters: int = MAX_SNAPSHOT_CHARACTERS,
) -> int:
    """Bring every stale session up to date; returns how many, and tells `on_session` so far.
    Sessions of more than `max_characters` are derived here."""
    done = 0
    while stale := writer.sessions.stale(limit=_MAX_LISTED):
        for snapshot, rows in executor.map(
            derive_snapshot, _snapshots(writer, stale, max_characters)
        ):
            if rows is None or not _write_if_unchanged(writer, snapshot, rows, max_characters):
                derive_session(writer, StaleSession(snapshot.bank, snapshot.id, 0))
            done += 1
            on_session(done)
        left = {(one.bank, one.session) for one in writer.sessions.stale(limit=_MAX_LISTED)}
        for one in stale:
            if (one.bank, one.session) in left:
                derive_session(writer, one)
                done += 1
                on_session(done)
    return done


def _snapshots(
    writer: Writer, stale: list[StaleSession], max_characters: int
) -> Iterator[SessionSnapshot]:
    """The snapshots of those sessions that are derived as a whole and can be sent."""
    for one in stale:
        bank, session, first = one
        if (first and writer.sessions.exchanges(bank, session)) or writer.summaries.has_any(bank):
            continue
        snapshot = _take_snapshot(writer, bank, session, max_characters)
        if snapshot is not None:
            yield snapshot


def _take_snapshot(
    writer: Writer, bank: str, session: str, max_characters: int
) -> SessionSnapshot | None:
    """All that deriving a session reads; None if it is too long."""
    turns: list[Turn] = []
    characters = 0
    for turn in writer.turns.stream_uncurated(bank, session):
        characters += len(turn.text) + (len(turn.tool.result) if turn.tool else 0)
        if characters > max_characters:
            return None
        turns.append(turn)
    curated = tuple(writer.curation.states_in_session(bank, session))
    return SessionSnapshot(bank, session, writer.sessions.get(bank, session), tuple(turns), curated)


def _write_if_unchanged(
    writer: Writer, snapshot: SessionSnapshot, rows: list[Derived], max_characters: int
) -> bool:
    """Write the rows of a session unless it has changed since its snapshot; returns whether."""
    bank, session = snapshot.bank, snapshot.id
    with writer.transaction():
        if writer.summaries.has_any(bank):
            return False
        if _take_snapshot(writer, bank, session, max_characters) != snapshot:
            return False
        writer.derived.put(bank, session, rows, 0)
        writer.versions.record(bank, session, RULES_VERSION)
        return True
