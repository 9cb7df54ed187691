"""The latest records of a kind, page by page."""

from __future__ import annotations

from holdfast.app import shapes
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.http.api.asked import Told, read_cursor, write_cursor
from holdfast.model.query import Passage
from holdfast.store.protocol import Reader, Record

_PLURALS = {"memory": "memories", "exchange": "exchanges", "commit": "commits"}


def latest(memory: Holdfast, kind: str, bank: str, limit: int, cursor: str) -> Told:
    """A page of the records of a kind, the latest first, and where to go on."""
    records, more = latest_records(memory.reader, memory.bank_id(bank), kind, limit, cursor)
    return {_PLURALS[kind]: [shapes.named(kind, one) for one in records], "cursor": more}


def latest_records(
    reader: Reader, bank: str | None, kind: str, limit: int, cursor: str
) -> tuple[list[Record], str | None]:
    """The records themselves."""
    passages, more = _passages(reader, bank, kind, limit, cursor)
    found = [one for p in passages for one in reader.find(p.bank, kind, p.id, 1)]
    return found, more


def _passages(
    reader: Reader, bank: str | None, kind: str, limit: int, cursor: str
) -> tuple[list[Passage], str | None]:
    """By time, then id and bank, all falling. Several may be of one moment, so as many are taken
    as it takes to get past those of the moment where the last page ended."""
    after = _place(cursor) if cursor else None
    wanted = limit + 1
    while True:
        found = reader.recent(bank, kind, wanted, until=after[0] if after else "")
        ordered = sorted(found, key=_key, reverse=True)
        left = [p for p in ordered if after is None or _key(p) < after]
        exhausted = len(found) < wanted
        # What is cut off in the middle of a moment may miss some that sort before the rest.
        whole = left if exhausted else [p for p in left if p.time > ordered[-1].time]
        if len(whole) > limit or exhausted:
            page = whole[:limit]
            return page, write_cursor(*_key(page[-1])) if len(whole) > limit else None
        wanted *= 2


def _key(passage: Passage) -> tuple[str, str, str]:
    return passage.time, passage.id, passage.bank


def _place(cursor: str) -> tuple[str, str, str]:
    match read_cursor(cursor):
        case (str() as time, str() as id, str() as bank):
            return time, id, bank
        case _:
            raise InputError("This is no cursor of this list.", "Take the one of the page before.")
