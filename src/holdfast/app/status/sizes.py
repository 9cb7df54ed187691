"""What a memory takes on disk, part by part, and what of it could be freed, and how."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.app.status.health import DiskUse, disk_use
from holdfast.learn.bank_settings import hidden_by_retention
from holdfast.store.protocol.overview import BankContentSize
from holdfast.store.sqlite.connection import open_read_only, translated

_TABLES = (
    "SELECT CASE WHEN t LIKE 'passage_fts%' THEN 'passage_fts' ELSE t END AS n, sum(size) AS s FROM ("
    "SELECT coalesce(m.tbl_name, d.name) AS t, d.pgsize AS size FROM dbstat AS d "
    "LEFT JOIN sqlite_master AS m ON m.name = d.name WHERE d.aggregate = 1) "
    "GROUP BY n ORDER BY s DESC"
)


class BankSize(NamedTuple):
    """What a bank holds: sessions, characters of what can be found, bytes of vectors; how many
    months it shows sessions (0: for ever), and how many are put away for that."""

    name: str
    sessions: int
    words: int
    vectors: int
    retention: int
    put_away: int


class Freeable(NamedTuple):
    """What could be freed, and how."""

    what: str
    bytes: int
    how: str


class Sizes(NamedTuple):
    """All of it. `tables` have their indexes with them in a file; on a server, where `database` is
    the sum of them, indexes stand beside them."""

    disk: DiskUse
    tables: dict[str, int]
    banks: list[BankSize]
    freeable: list[Freeable]


def measure_sizes(memory: Holdfast) -> Sizes:
    """Look at everything that takes room."""
    settings = memory.settings
    disk = disk_use(settings)
    tables: dict[str, int] = {}
    free = 0
    if settings.store:
        tables = {portion.name: portion.bytes for portion in memory.reader.table_sizes()}
        disk = disk._replace(database=sum(tables.values()))
    elif settings.database.exists():
        tables, free = _look_into(settings.database)
    held = {one.bank: one for one in memory.reader.bank_content_sizes()}
    none = BankContentSize("", 0, 0)
    banks = [
        BankSize(
            bank.name,
            memory.reader.counts(bank.id).sessions,
            held.get(bank.id, none).words,
            held.get(bank.id, none).vectors,
            bank.retention,
            len(hidden_by_retention(memory.reader, bank.id)),
        )
        for bank in memory.reader.banks()
    ]
    vectors = sum(one.vectors for one in held.values())
    return Sizes(disk, tables, banks, _freeable(disk, vectors, free))


def _look_into(database: Path) -> tuple[dict[str, int], int]:
    with translated(database), closing(open_read_only(database)) as connection:
        tables: dict[str, int] = {}
        try:
            tables = dict(connection.execute(_TABLES))
        except sqlite3.OperationalError:
            tables = {}  # this SQLite was built without the table that tells
        free = connection.execute("PRAGMA freelist_count").fetchone()[0]
        free *= connection.execute("PRAGMA page_size").fetchone()[0]
        return tables, free


def _freeable(disk: DiskUse, vectors: int, free: int) -> list[Freeable]:
    found = (
        Freeable("backups", disk.backups, "`holdfast restore-backup --list`, then remove old ones"),
        Freeable(
            "free pages", free, "filled again by what comes; `forget --purge` gives them back"
        ),
        Freeable(
            "vectors", vectors + disk.vectors, 'embed.model = "none": then found by words alone'
        ),
    )
    return [one for one in found if one.bytes]
