"""Draining the inbox: raw event, redacted line, journal, and only then is the file removed.

Killed at any point it loses nothing, because the raw event is still there, and doubles nothing,
because the journal knows its events by name and time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from holdfast.capture import inbox, journal
from holdfast.capture.inbox import RawEvent
from holdfast.capture.places import INJECTED, Places
from holdfast.model.accounts import InjectionKind
from holdfast.refine.core.banks import Banks
from holdfast.refine.hooks.payloads import Payload, Scribe, read_payload, session_of
from holdfast.refine.ingest.turns import Rules
from holdfast.sources.json_fields import Record, items, normal_time, string

_BATCH_EVENTS = 500
_BATCH_BYTES = 4 * 1024 * 1024
_KINDS = {kind.value: kind for kind in InjectionKind}


class Injected(NamedTuple):
    """A hook's note that it put something into a session."""

    id: str
    session: str
    time: str
    kind: InjectionKind
    characters: int
    records: tuple[str, ...]
    cwd: str


@dataclass(slots=True)
class News:
    """What events told of one session: where its transcript and its work lie, and how far it is.
    Paths are as they were told, for use and not for keeping."""

    session: str
    transcript: str = ""
    cwd: str = ""
    events: int = 0
    last: str = ""
    ended: bool = False
    stopped: bool = False


@dataclass(slots=True)
class Drained:
    """The account of one draining. `waiting` events may still be being written, `foreign` files
    are another version's."""

    events: int = 0
    failed: int = 0
    excluded: int = 0
    injected: int = 0
    waiting: int = 0
    foreign: int = 0
    emptied: int = 0
    redacted: int = 0
    last: str = ""
    sessions: dict[str, News] = field(default_factory=dict[str, News])
    problems: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _Batch:
    """Lines that go to disk together, with the events that may be removed then."""

    lines: dict[str, list[tuple[RawEvent, Record]]] = field(
        default_factory=dict[str, list[tuple[RawEvent, Record]]]
    )
    notes: list[tuple[RawEvent, Injected]] = field(default_factory=list[tuple[RawEvent, Injected]])
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
    places: Places,
    banks: Banks,
    rules: Rules,
    now: Callable[[], str],
    keep: Callable[[Sequence[Injected]], bool] = lambda notes: True,
) -> Drained:
    """Move every event that is whole from the inbox to the journals. `keep` is given the notes
    on injections and says whether it has stored them; if not, they wait."""
    done = Drained()
    scribe = Scribe(places, banks, rules)
    for folder in inbox.folders(places):
        listed = inbox.waiting(folder)
        done.foreign += listed.foreign
        batch = _Batch()
        for raw in listed.events:
            _take(raw, batch, scribe, places, now, done)
            if batch.full:
                _store(batch, places, keep, done)
                batch = _Batch()
        _store(batch, places, keep, done)
        if done.problems:  # what cannot be stored must not fill the memory either
            done.emptied += inbox.relieve(folder)
    done.redacted = sum(scribe.taken.values())
    return done


def _take(
    raw: RawEvent,
    batch: _Batch,
    scribe: Scribe,
    places: Places,
    now: Callable[[], str],
    done: Drained,
) -> None:
    payload = read_payload(raw)
    unfinished = payload.problem is not None or (not raw.size and not places.names_only.exists())
    if unfinished and inbox.may_grow(raw, _seconds(now())):
        done.waiting += 1
        return
    if raw.event == INJECTED:
        note = _injected(raw, payload.record)
        if note is None or payload.problem is not None:
            done.failed += 1
            inbox.remove(raw)
        else:
            batch.notes.append((raw, note))
        return
    line = scribe.line(raw, payload)
    batch.add(raw, line)
    _tell(done, raw, line, payload)


def _seconds(now: str) -> float:
    return datetime.fromisoformat(now).timestamp()


def _tell(done: Drained, raw: RawEvent, line: Record, payload: Payload) -> None:
    session = line["session"]
    news = done.sessions.setdefault(session, News(session))
    news.transcript = string(payload.record, "transcript_path") or news.transcript
    news.cwd = string(payload.record, "cwd") or news.cwd
    news.events += 1
    news.last = max(news.last, line["time"])
    news.ended = raw.event == "SessionEnd" or (news.ended and raw.event != "SessionStart")
    news.stopped = news.stopped or raw.event == "Stop"
    done.failed += "problem" in line
    done.excluded += line.get("skip") == "excluded"
    done.last = max(done.last, line["time"])


def _store(
    batch: _Batch, places: Places, keep: Callable[[Sequence[Injected]], bool], done: Drained
) -> None:
    for session, lines in batch.lines.items():
        try:
            done.events += journal.append(places.journal(session), [line for _, line in lines])
        except OSError as error:
            done.problems.append(f"{places.journal(session)}: {error.strerror or error}")
            continue
        _remove(raw for raw, _ in lines)
    if batch.notes and keep([note for _, note in batch.notes]):
        done.injected += len(batch.notes)
        _remove(raw for raw, _ in batch.notes)
    elif batch.notes:
        done.waiting += len(batch.notes)


def _remove(events: Iterable[RawEvent]) -> None:
    for raw in events:
        inbox.remove(raw)


def _injected(raw: RawEvent, record: Record) -> Injected | None:
    kind = _KINDS.get(string(record, "kind"))
    id = string(record, "id")
    characters: object = record.get("characters")
    if kind is None or not id or not isinstance(characters, int):
        return None
    records = tuple(name for name in items(record.get("records")) if isinstance(name, str))
    time = normal_time(string(record, "time")) or normal_time(raw.changed_ns / 1e9)
    session, cwd = session_of(raw, record), string(record, "cwd")
    return Injected(id, session, time, kind, characters, records, cwd)
