"""How much space a memory takes, part by part, and what of it could be freed, and how."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.app.status.health import DiskUse, disk_use
from holdfast.learn.bank_settings import hidden_by_retention
from holdfast.store.across_tables.overview import BankContentSize
from holdfast.store.sqlite.connection import open_read_only, translated

# The full-text index consists of several tables, which are added up as one.
_TABLES = (
    "SELECT CASE WHEN t LIKE 'passage_fts%' THEN 'passage_fts' ELSE t END AS n, sum(size) AS s "
    "FROM ("
    "SELECT coalesce(m.tbl_name, d.name) AS t, d.pgsize AS size FROM dbstat AS d "
    "LEFT JOIN sqlite_master AS m ON m.name = d.name WHERE d.aggregate = 1) "
    "GROUP BY n ORDER BY s DESC"
)


class BankSize(NamedTuple):
    """A bank: its sessions, the characters that can be searched (`words`), the bytes of its
    vectors, for how many months it shows sessions (`retention`, 0 for ever), and how many sessions
    that hides (`put_away`)."""

    name: str
    sessions: int
    words: int
    vectors: int
    retention: int
    put_away: int


class Freeable(NamedTuple):
    """A part that could be freed, its size, and how to free it."""

    what: str
    bytes: int
    how: str


class Sizes(NamedTuple):
    """All sizes. In a file the size of a table includes its indexes; on a server indexes are
    entries of their own, and `disk.database` is the sum of all entries."""

    disk: DiskUse
    tables: dict[str, int]
    banks: list[BankSize]
    freeable: list[Freeable]


def measure_sizes(memory: Holdfast) -> Sizes:
    """Measure the home, the tables and the banks."""
    settings = memory.settings
    disk = disk_use(settings)
    tables: dict[str, int] = {}
    free = 0
    if settings.store:
        tables = {table.name: table.bytes for table in memory.reader.overview.table_sizes()}
        disk = disk._replace(database=sum(tables.values()))
    elif settings.database.exists():
        tables, free = _table_sizes(settings.database)
    contents = {one.bank: one for one in memory.reader.overview.bank_content_sizes()}
    empty = BankContentSize("", 0, 0)
    banks = [
        BankSize(
            bank.name,
            memory.reader.records.counts(bank.id).sessions,
            contents.get(bank.id, empty).words,
            contents.get(bank.id, empty).vectors,
            bank.retention,
            len(hidden_by_retention(memory.reader, bank.id)),
        )
        for bank in memory.reader.banks.all()
    ]
    vectors = sum(one.vectors for one in contents.values())
    return Sizes(disk, tables, banks, _freeable(disk, vectors, free))


def _table_sizes(database: Path) -> tuple[dict[str, int], int]:
    """The bytes of each table of a SQLite file, and those of its free pages."""
    with translated(database), closing(open_read_only(database)) as connection:
        tables: dict[str, int] = {}
        try:
            tables = dict(connection.execute(_TABLES))
        except sqlite3.OperationalError:
            tables = {}  # this SQLite was built without the dbstat table
        free = connection.execute("PRAGMA freelist_count").fetchone()[0]
        free *= connection.execute("PRAGMA page_size").fetchone()[0]
        return tables, free


def _freeable(disk: DiskUse, vectors: int, free: int) -> list[Freeable]:
    found = (
        Freeable("backups", disk.backups, "`holdfast restore-backup --list`, then remove old ones"),
        Freeable(
            "free pages", free, "reused by new data; `forget --purge` returns them to the disk"
        ),
        Freeable(
            "vectors", vectors + disk.vectors, 'embed.model = "none": search then uses words only'
        ),
    )
    return [one for one in found if one.bytes]
