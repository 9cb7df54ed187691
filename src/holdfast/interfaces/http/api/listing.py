"""Pages of lists, each in a fixed order. REST and GraphQL use the same lists and cursors."""

from __future__ import annotations

from typing import Any, TypeVar

from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.app.views.decision_log import LogEntry, read_logs
from holdfast.interfaces.http.api.requests import (
    Json,
    invalid_cursor,
    paginate,
    read_cursor,
    write_cursor,
)
from holdfast.model.graph import Entity
from holdfast.model.kinds import read_kinds
from holdfast.model.knowledge import Concept, Fact
from holdfast.model.query import Passage
from holdfast.model.records import Exchange, Session
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

T = TypeVar("T")
# The items of a page, and the next cursor; None at the end.
Page = tuple[list[T], str | None]
_ALL = 1 << 31


def sessions_page(
    memory: Holdfast, bank: str, limit: int, cursor: str, agent: str = "", branch: str = ""
) -> Page[Session]:
    """Sessions, the latest first; of one agent or branch if given."""
    known = [
        one
        for one in memory.reader.sessions.latest(memory.context.bank_id(bank), _ALL)
        if agent in ("", one.agent) and branch in ("", one.branch)
    ]
    return paginate(known, lambda one: (one.started, one.id), limit, cursor)


def exchanges_page(
    reader: Reader, bank: str, session: str, limit: int, cursor: str
) -> Page[Exchange]:
    """The exchanges of a session, in their order."""
    known = reader.sessions.exchanges(bank, session)
    return paginate(known, lambda one: (one.first_seq, one.id), limit, cursor, descending=False)


def facts_page(
    memory: Holdfast, bank: str, kind: str, all: bool, limit: int, cursor: str
) -> Page[Fact]:
    """Facts in force, the latest first; with `all` also those that ended."""
    known = memory.browse.facts(bank, kind, all)
    return paginate(known, lambda fact: (fact.validity.learned, fact.id), limit, cursor)


def concepts_page(memory: Holdfast, bank: str, limit: int, cursor: str) -> Page[Concept]:
    """Concepts, the latest update first."""
    known = memory.browse.concepts(bank, _ALL)
    return paginate(known, lambda one: (one.updated, one.id), limit, cursor)


def entities_page(memory: Holdfast, bank: str, kind: str, limit: int, cursor: str) -> Page[Entity]:
    """Entities, those in most records first."""
    known = memory.browse.entities(bank, kind, _ALL)
    return paginate(known, lambda one: (one.mentions, one.id, one.bank), limit, cursor)


def decisions_page(memory: Holdfast, bank: str, limit: int, cursor: str) -> Page[LogEntry]:
    """The log of decisions, the latest first."""
    log = read_logs(memory.reader, memory.context.bank_ids(bank))
    return paginate(log, lambda one: (one.curation.seq, one.curation.bank), limit, cursor)


def page_json(name: str, kind: str, page: Page[Any]) -> Json:
    """A page of the records of a kind as JSON, under a name."""
    records, more = page
    return {name: [json_shapes.record_json(kind, one) for one in records], "cursor": more}


def latest_records(memory: Holdfast, kind: str, bank: str, limit: int, cursor: str) -> Page[Record]:
    """A page of the records of a kind, the latest first, with the status of what ended."""
    reader, endings = memory.reader, RecordEndings(memory.reader)
    passages, more = _passages(reader, memory.context.bank_id(bank), kind, limit, cursor)
    found = (one for p in passages for one in reader.records.find(p.bank, kind, p.id, 1))
    return [endings.with_status(one) for one in found], more


def memories_page(memory: Holdfast, bank: str, kind: str, limit: int, cursor: str) -> Page[Record]:
    """Memories, the latest first, with the status of those that ended; of one kind if given, then
    without tasks that were done. An unknown kind raises `InputError`."""
    if not kind:
        return latest_records(memory, "memory", bank, limit, cursor)
    read_kinds([kind])
    endings = RecordEndings(memory.reader)
    known = [
        one
        for id in memory.context.bank_ids(bank)
        for one in memory.reader.memories.retained(id, limit=_ALL, kind=kind, only_open=True)
    ]
    page, more = paginate(known, lambda one: (one.when, one.id, one.bank), limit, cursor)
    return [endings.with_status(one) for one in page], more


def _passages(
    reader: Reader, bank: str | None, kind: str, limit: int, cursor: str
) -> Page[Passage]:
    """Passages by time, id and bank, descending. Many can have the same time, so more are read
    until a page is complete beyond those of the time at which the last page ended."""
    after = _place(cursor) if cursor else None
    wanted = limit + 1
    while True:
        found = reader.passages.recent(bank, kind, wanted, until=after[0] if after else "")
        ordered = sorted(found, key=_key, reverse=True)
        left = [p for p in ordered if after is None or _key(p) < after]
        exhausted = len(found) < wanted
        # The last time may be cut off in the middle, so its passages wait for the next read.
        complete = left if exhausted else [p for p in left if p.time > ordered[-1].time]
        if len(complete) > limit or exhausted:
            page = complete[:limit]
            return page, write_cursor(*_key(page[-1])) if len(complete) > limit else None
        wanted *= 2


def _key(passage: Passage) -> tuple[str, str, str]:
    return passage.time, passage.id, passage.bank


def _place(cursor: str) -> tuple[str, str, str]:
    match read_cursor(cursor):
        case (str() as time, str() as id, str() as bank):
            return time, id, bank
        case _:
            raise invalid_cursor()
