"""The passages around a point in time. The index `passage_time` starts with bank and kind, so each
pair is queried for its nearest few, and these are merged."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.query import Passage, TimelinePosition
from holdfast.store.sql.connection import Connection
from holdfast.store.sql.table import PASSAGE

# `time > ''` is on one side only: of two lower bounds SQLite may use the wrong one, and then it
# reads the whole bank.
_EARLIER = ("time > '' AND (time, kind, id, bank) < (?, ?, ?, ?)", "DESC")
# Memories of no session. Those that were retained from sessions would repeat their exchanges, and
# there are many: without `no_merge` SQLite reads all of them.
_OF_NO_SESSION = (
    "(SELECT * FROM passage WHERE bank = ? AND session = '' AND kind = ?{no_merge}) AS kept"
)
_LATER = ("(time, kind, id, bank) > (?, ?, ?, ?)", "ASC")


def around(
    connection: Connection,
    banks: Sequence[str],
    moment: TimelinePosition,
    kinds: Sequence[str],
    before: int,
    after: int,
) -> list[Passage]:
    """The nearest passages on both sides, in order."""
    # A blank lies after no time and before every time.
    moment = max(moment, TimelinePosition(" "))
    pairs = [(bank, kind) for bank in banks for kind in dict.fromkeys(kinds)]
    earlier = [p for pair in pairs for p in _nearest(connection, *pair, moment, before, _EARLIER)]
    later = [p for pair in pairs for p in _nearest(connection, *pair, moment, after, _LATER)]
    earlier.sort(key=_order)
    later.sort(key=_order)
    return earlier[max(0, len(earlier) - before) :] + later[:after]


def _order(passage: Passage) -> TimelinePosition:
    return TimelinePosition(passage.time, passage.kind, passage.id, passage.bank)


def _nearest(
    connection: Connection,
    bank: str,
    kind: str,
    moment: TimelinePosition,
    limit: int,
    side: tuple[str, str],
) -> list[Passage]:
    if limit < 1:
        return []
    beside, direction = side
    table, where = "passage", "bank = ? AND kind = ?"
    if kind == "memory":
        table, where = _OF_NO_SESSION.format(no_merge=connection.dialect.no_merge), "true"
    found = connection.all(
        f"SELECT {PASSAGE.columns} FROM {table} WHERE {where} AND {beside} "
        f"ORDER BY time {direction}, id {direction} LIMIT ?",
        (bank, kind, *moment, limit),
    )
    return PASSAGE.records(found)


def undated(connection: Connection, banks: Sequence[str], kinds: Sequence[str], most: int) -> int:
    """How many passages have no time, counted up to `most`."""
    counted = 0
    for bank in banks:
        for kind in dict.fromkeys(kinds):
            ((count,),) = connection.all(
                "SELECT count(*) FROM (SELECT 1 FROM passage WHERE bank = ? AND kind = ? "
                "AND time = '' AND (kind <> 'memory' OR session = '') LIMIT ?)",
                (bank, kind, most - counted),
            )
            counted += count
    return counted
