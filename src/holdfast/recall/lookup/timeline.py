"""The timeline: records of all kinds in the order of time, around one of them.

Records are ordered by time, then kind, then id. Records without a time are only counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from holdfast.errors import InputError
from holdfast.language import truncate
from holdfast.model.forge import Issue, Pull, Remark
from holdfast.model.graph import Entity
from holdfast.model.imports import ImportedRecord
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import Claim, Concept, Fact, Memory, Pattern, Rule
from holdfast.model.query import Passage, TimelinePosition
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.team import Commit, SharedRecord
from holdfast.model.uris import uri
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.trace import find_record
from holdfast.recall.query.iso_dates import looks_like_date, read_iso_span
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader


class EventKind(StrEnum):
    """A kind of records that a timeline shows."""

    DIGEST = "digest"
    EXCHANGE = "exchange"
    COMMIT = "commit"
    MEMORY = "memory"
    PULL = "pull"
    ISSUE = "issue"
    IMPORTED = "imported"
    TURN = "turn"
    FACT = "fact"
    REMARK = "remark"


# The kinds shown by default; turns would show every single step.
_NOT_BY_DEFAULT = (EventKind.TURN, EventKind.FACT, EventKind.REMARK)
KINDS = tuple(kind.value for kind in EventKind if kind not in _NOT_BY_DEFAULT)
MAX_UNDATED = 1000
TITLE_LIMIT = 200
_END = TimelinePosition("~")
_ForgeRecord = Pull | Issue | Remark
_Known = Memory | Concept | Fact | Claim
TimedRecord = Turn | Exchange | Digest | Commit | _Known | _ForgeRecord | ImportedRecord
_SortKey = tuple[str, str, int, str, str]


@dataclass(frozen=True, slots=True)
class Event:
    """One record on a timeline. `note` is the type of an exchange, the outcome of a digest's
    session, the author of a commit or a remark, the state of a pull request or an issue, the
    speaker of a turn, who gave a memory, or what an imported record was and in which program."""

    uri: str
    kind: str
    time: str
    title: str
    note: str
    session: str
    bank: str
    anchor: bool = False
    # How its title ended, if that does not hold any more.
    ended: str = ""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Events in order. `anchor` is the URI or the time around which they lie, "" for the latest;
    `undated` counts the records without a time, up to `MAX_UNDATED`."""

    bank: str
    anchor: str
    events: tuple[Event, ...]
    undated: int = 0
    query: str = ""
    notes: tuple[str, ...] = ()


def read_anchor(reader: Reader, bank: str | None, text: str) -> Record | TimelinePosition:
    """The anchor of a timeline: a date, or a record by its URI or the start of its id."""
    if looks_like_date(text):
        return TimelinePosition(read_iso_span(text).first)
    return find_record(reader, bank, text)


def timeline(
    reader: Reader,
    bank: str | None,
    anchor: Record | TimelinePosition | None = None,
    kinds: Sequence[str] = (),
    before: int = 5,
    after: int = 5,
) -> Timeline:
    """The records around an anchor; without one, the latest. If no kinds are given, a turn is also
    surrounded by the other turns of its session."""
    if isinstance(anchor, Entity):
        raise InputError(f"{anchor.name} has no time.", f"See `holdfast entity {anchor.name}`.")
    if isinstance(anchor, Session):
        anchor = reader.sessions.digest(anchor.bank, anchor.id) or TimelinePosition(
            _time_of(anchor)
        )
    elif isinstance(anchor, SharedRecord):
        anchor = TimelinePosition(anchor.time or anchor.shared)
    elif isinstance(anchor, Rule | Pattern):
        anchor = TimelinePosition(_time_of(anchor))
    wanted = tuple(kinds) or KINDS
    undated = reader.passages.count_undated(bank, wanted, MAX_UNDATED)
    if anchor is None:
        named = ""
        records = _records(reader, reader.passages.around(bank, _END, wanted, before + after, 0))
    elif isinstance(anchor, TimelinePosition):
        named = anchor.time
        records = _records(reader, reader.passages.around(bank, anchor, wanted, before, after))
    else:
        named = uri(record_kind(anchor), anchor.id)
        records = _records_around(reader, bank, anchor, kinds, before, after)
    return Timeline(bank or "", named, events_of(reader, records, anchor), undated)


def events_of(
    reader: Reader, records: Sequence[TimedRecord], anchor: object = None
) -> tuple[Event, ...]:
    """Records as events, in their order; one of them may be the anchor."""
    endings = RecordEndings(reader)
    return tuple(_event(reader, record, record == anchor, endings) for record in records)


def _records_around(
    reader: Reader,
    bank: str | None,
    anchor: TimedRecord,
    kinds: Sequence[str],
    before: int,
    after: int,
) -> list[TimedRecord]:
    """An anchor and its neighbours, in order."""
    time = _time_of(anchor)
    moment = TimelinePosition(time, record_kind(anchor), anchor.id, anchor.bank)
    keyed = _records_with_keys(
        reader, reader.passages.around(bank, moment, kinds or KINDS, before, after)
    )
    at = _sort_key(moment)
    if isinstance(anchor, Turn) and not kinds:
        # Turns of one session with the same time keep their order.
        turns = reader.turns.of_session(
            anchor.bank, anchor.session, max(0, anchor.seq - before), anchor.seq + after
        )
        keyed += [((t.time, "turn", t.seq, t.id, t.bank), t) for t in turns if t.time]
        at = (time, "turn", anchor.seq, anchor.id, anchor.bank)
    earlier = sorted((item for item in keyed if item[0] < at), key=lambda item: item[0])
    later = sorted((item for item in keyed if item[0] > at), key=lambda item: item[0])
    near = [*earlier[max(0, len(earlier) - before) :], (at, anchor), *later[:after]]
    return [record for _, record in near]


def _records(reader: Reader, passages: Iterable[Passage]) -> list[TimedRecord]:
    return [record for _, record in _records_with_keys(reader, passages)]


def _records_with_keys(
    reader: Reader, passages: Iterable[Passage]
) -> list[tuple[_SortKey, TimedRecord]]:
    """The records of passages, each with its sort key."""
    keyed: list[tuple[_SortKey, TimedRecord]] = []
    for passage in passages:
        place = _sort_key(TimelinePosition(passage.time, passage.kind, passage.id, passage.bank))
        for record in reader.records.find(passage.bank, passage.kind, passage.id, limit=1):
            if record.id == passage.id and isinstance(record, TimedRecord):
                keyed.append((place, record))
    return keyed


def _sort_key(moment: TimelinePosition) -> _SortKey:
    return moment.time, moment.kind, 0, moment.id, moment.bank


def _time_of(record: TimedRecord | Session | Rule | Pattern) -> str:
    """The time by which a record is ordered: when it began."""
    time = record.moment if isinstance(record, ImportedRecord) else describe_record(record)[1]
    if not time and not isinstance(record, Memory | Concept | Fact):
        name = uri(record_kind(record), record.id)
        raise InputError(
            f"{name} has no time, so nothing lies before or after it.",
            "`holdfast show` opens it by itself.",
        )
    return time


def _event(reader: Reader, record: TimedRecord, anchor: bool, endings: RecordEndings) -> Event:
    title = describe_record(record)[0]
    if isinstance(record, Remark):
        title = title or record.state
    host = ""
    if isinstance(record, ImportedRecord):
        host = record.session
    elif not isinstance(record, Commit | Memory | Concept | Fact | _ForgeRecord):
        session = reader.sessions.get(record.bank, record.session)
        host = session.host if session else record.session
    return Event(
        uri=uri(record_kind(record), record.id),
        kind=record_kind(record),
        time=_time_of(record),
        title=truncate(title, TITLE_LIMIT),
        note=_note(record),
        session=host,
        bank=record.bank,
        anchor=anchor,
        ended=endings.label(record, title),
    )


def _note(record: TimedRecord) -> str:
    match record:
        case Digest():
            return record.outcome.value
        case Exchange():
            return record.type.value
        case Commit() | Remark():
            return record.author
        case Pull() | Issue():
            return f"{record.state.value}, {record.author}"
        case ImportedRecord():
            return f"{record.type}, {record.program}"
        case Turn():
            return (record.speaker if record.tool is None else "") or record.role.value
        case _:
            return _note_of_known(record)


def _note_of_known(record: _Known) -> str:
    match record:
        case Memory():
            return record.who
        case Concept():
            return f"{len(record.members)} records"
        case Fact():
            return f"{record.kind.value}, {record.status.value}"
        case Claim():
            return record.kind.value
