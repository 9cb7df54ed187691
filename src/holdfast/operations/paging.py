"""Pages of lists, each in a fixed order, and the cursors between them."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.model.query import Passage
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

T = TypeVar("T")
# The items of a page, and the next cursor; None at the end.
Page = tuple[list[T], str | None]
_ALL = 1 << 31


class _OfBank(Protocol):
    @property
    def bank(self) -> str: ...


def bank_names_of(memory: Holdfast, records: Iterable[_OfBank]) -> dict[str, str]:
    """The names of the banks of these records, by id."""
    names = memory.context.bank_names()
    return {one.bank: names[one.bank] for one in records if one.bank in names}


def latest_records(memory: Holdfast, kind: str, bank: str, limit: int, cursor: str) -> Page[Record]:
    """A page of the records of a kind, the latest first, with the status of what ended."""
    reader, endings = memory.reader, RecordEndings(memory.reader)
    passages, more = _passages(reader, memory.context.bank_id(bank), kind, limit, cursor)
    found = (one for p in passages for one in reader.records.find(p.bank, kind, p.id, 1))
    return [endings.with_status(one) for one in found], more


def _passages(
    reader: Reader, bank: str | None, kind: str, limit: int, cursor: str
) -> Page[Passage]:
    """Passages by time, id and bank, descending. Many can have the same time, so more are read
    until a page is complete beyond those of the time at which the last page ended."""
    after = _place(cursor) if cursor else None
    # The least text after a time: `until` leaves out what is of that time itself.
    until = f"{after[0]} " if after and after[0] else ""
    wanted = limit + 1
    while True:
        found = reader.passages.recent(bank, kind, wanted, until=until)
        exhausted = len(found) < wanted
        if exhausted and until:
            # It also leaves out what is undated, which comes last.
            found += [p for p in reader.passages.recent(bank, kind, _ALL) if not p.time]
        ordered = sorted(found, key=_key, reverse=True)
        left = [p for p in ordered if after is None or _key(p) < after]
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


def paginate(
    items: Sequence[T],
    key: Callable[[T], tuple[str | int | float, ...]],
    limit: int,
    cursor: str,
    descending: bool = True,
) -> tuple[list[T], str | None]:
    """The next page of a list after a cursor, and the next cursor; None at the end. A cursor is
    the sort key of an item, so that pages do not shift when items come or go."""
    ordered = sorted(items, key=key, reverse=descending)
    if cursor:
        after = read_cursor(cursor)
        if ordered and len(after) != len(key(ordered[0])):
            raise invalid_cursor()
        try:
            ordered = [i for i in ordered if (key(i) < after if descending else key(i) > after)]
        except TypeError as error:
            raise invalid_cursor() from error
    page = ordered[:limit]
    more = len(ordered) > limit
    return page, write_cursor(*key(page[-1])) if more else None


def write_cursor(*key: str | int | float) -> str:
    """A sort key as a cursor."""
    data = json.dumps(key, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def read_cursor(cursor: str) -> tuple[Any, ...]:
    """The sort key that a cursor stands for; raises `InputError` if it is none."""
    try:
        data = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
        found = json.loads(data)
    except (ValueError, binascii.Error, UnicodeError, RecursionError) as error:
        raise invalid_cursor() from error
    if not isinstance(found, list):
        raise invalid_cursor()
    return tuple(found)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def invalid_cursor() -> InputError:
    """The error for a cursor that is not of this list."""
    return InputError("Invalid cursor.", "Send the `cursor` of the previous page.")
