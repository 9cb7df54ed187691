"""Drains the inbox: writes each raw event to its session's journal, redacted, then removes it.

Killed at any point, it loses nothing, because the raw event is still there, and duplicates nothing,
because the journal recognises events by id and time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from holdfast.capture import inbox, journal
from holdfast.capture.home_paths import INJECTED_EVENT, HomePaths
from holdfast.capture.inbox import RawEvent
from holdfast.capture.unread_mark import mark_unread
from holdfast.model.ledgers.injections import InjectionKind
from holdfast.refine.core.banks import Banks
from holdfast.refine.hooks.payloads import JournalLineBuilder, Payload, read_payload, session_of
from holdfast.refine.ingest.turns import PrivacyRules
from holdfast.sources.claude_code.events import PROMPT_EVENT
from holdfast.sources.json_fields import Record, items, normal_time, string

# Events and bytes that are written to disk at once. More saves disk syncs, and holds more in memory
# and repeats more after a crash.
_BATCH_EVENTS = 500
_BATCH_BYTES = 4 * 1024 * 1024
_KINDS = {kind.value: kind for kind in InjectionKind}


class InjectionNote(NamedTuple):
    """A hook's note that it injected context into a session."""

    id: str
    session: str
    time: str
    kind: InjectionKind
    characters: int
    records: tuple[str, ...]
    cwd: str


@dataclass(slots=True)
class SessionActivity:
    """What drained events say about a session. Its paths are not redacted: not to be stored."""

    session: str
    transcript: str = ""
    cwd: str = ""
    events: int = 0
    last: str = ""
    ended: bool = False
    stopped: bool = False


@dataclass(slots=True)
class DrainReport:
    """What one run did. `waiting` events may still be incomplete, `foreign` files belong to another
    version, `emptied` events were dropped because they could not be stored."""

    events: int = 0
    failed: int = 0
    excluded: int = 0
    injected: int = 0
    waiting: int = 0
    foreign: int = 0
    emptied: int = 0
    redacted: int = 0
    last: str = ""
    sessions: dict[str, SessionActivity] = field(default_factory=dict[str, SessionActivity])
    problems: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _Batch:
    """Lines that are written together, each with the event that is removed afterwards."""

    lines: dict[str, list[tuple[RawEvent, Record]]] = field(
        default_factory=dict[str, list[tuple[RawEvent, Record]]]
    )
    notes: list[tuple[RawEvent, InjectionNote]] = field(
        default_factory=list[tuple[RawEvent, InjectionNote]]
    )
    events: int = 0
    size: int = 0

    @property
    def full(self) -> bool:
        return self.events >= _BATCH_EVENTS or self.size >= _BATCH_BYTES

    def add(self, raw: RawEvent, line: Record) -> None:
        self.lines.setdefault(line["session"], []).append((raw, line))
        self.events += 1
        self.size += min(raw.size, len(line.get("text", "")) + 2000)


def drain(
    paths: HomePaths,
    banks: Banks,
    rules: PrivacyRules,
    now: Callable[[], str],
    store_notes: Callable[[Sequence[InjectionNote]], bool] = lambda notes: True,
) -> DrainReport:
    """Move every complete event from the inbox to the journals. `store_notes` gets the notes on
    injections and returns whether it stored them; if not, they stay in the inbox."""
    done = DrainReport()
    builder = JournalLineBuilder(paths, banks, rules)
    for folder in inbox.inbox_folders(paths):
        listed = inbox.list_events(folder)
        done.foreign += listed.foreign
        batch = _Batch()
        for raw in listed.events:
            _process_event(raw, batch, builder, paths, now, done)
            if batch.full:
                _store_batch(batch, paths, store_notes, done)
                batch = _Batch()
        _store_batch(batch, paths, store_notes, done)
        if done.problems:  # events that cannot be stored must not fill the memory
            done.emptied += inbox.drop_oldest_payloads(folder)
    done.redacted = sum(builder.redacted.values())
    return done


def _process_event(
    raw: RawEvent,
    batch: _Batch,
    builder: JournalLineBuilder,
    paths: HomePaths,
    now: Callable[[], str],
    done: DrainReport,
) -> None:
    payload = read_payload(raw)
    is_empty = not raw.size and not paths.names_only_flag.exists()
    unfinished = payload.problem is not None or is_empty
    if unfinished and inbox.may_grow(raw, datetime.fromisoformat(now()).timestamp()):
        done.waiting += 1
        return
    if raw.event == INJECTED_EVENT:
        note = _read_note(raw, payload.record)
        if note is None or payload.problem is not None:
            done.failed += 1
            inbox.remove_event(raw)
        else:
            batch.notes.append((raw, note))
        return
    line = builder.build(raw, payload)
    batch.add(raw, line)
    _record_activity(done, raw, line, payload)


def _record_activity(done: DrainReport, raw: RawEvent, line: Record, payload: Payload) -> None:
    session = line["session"]
    activity = done.sessions.setdefault(session, SessionActivity(session))
    activity.transcript = string(payload.record, "transcript_path") or activity.transcript
    activity.cwd = string(payload.record, "cwd") or activity.cwd
    activity.events += 1
    activity.last = max(activity.last, line["time"])
    activity.ended = raw.event == "SessionEnd" or (activity.ended and raw.event != "SessionStart")
    activity.stopped = activity.stopped or raw.event == "Stop"
    done.failed += "problem" in line
    done.excluded += line.get("skip") == "excluded"
    done.last = max(done.last, line["time"])


def _store_batch(
    batch: _Batch,
    paths: HomePaths,
    store_notes: Callable[[Sequence[InjectionNote]], bool],
    done: DrainReport,
) -> None:
    for session, lines in batch.lines.items():
        try:
            done.events += journal.append(paths.journal(session), [line for _, line in lines])
        except OSError as error:
            done.problems.append(f"{paths.journal(session)}: {error.strerror or error}")
            continue
        if any(raw.event == PROMPT_EVENT for raw, _ in lines):
            mark_unread(paths, [session])
        for raw, _ in lines:
            inbox.remove_event(raw)
    if batch.notes and store_notes([note for _, note in batch.notes]):
        done.injected += len(batch.notes)
        for raw, _ in batch.notes:
            inbox.remove_event(raw)
    elif batch.notes:
        done.waiting += len(batch.notes)


def _read_note(raw: RawEvent, record: Record) -> InjectionNote | None:
    kind = _KINDS.get(string(record, "kind"))
    id = string(record, "id")
    characters: object = record.get("characters")
    if kind is None or not id or not isinstance(characters, int):
        return None
    records = tuple(name for name in items(record.get("records")) if isinstance(name, str))
    time = normal_time(string(record, "time")) or normal_time(raw.changed_ns / 1e9)
    session, cwd = session_of(raw, record), string(record, "cwd")
    return InjectionNote(id, session, time, kind, characters, records, cwd)
