"""A whole memory from a file to a server, or back, row by row.

All of it goes over in one transaction: after a kill the new memory is whole or as empty as
before, and moving again begins anew. Before it stands, every table is read on both sides and
compared: how many rows there are, and a hash of them all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from holdfast.errors import InputError, StoreError
from holdfast.store.postgres import words
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.sqlite import rows
from holdfast.store.sqlite.asking import Connection
from holdfast.store.sqlite.store import SqliteStore

Either = SqliteStore | PostgresStore
# Called with the tables that are over, and how many there are.
Tick = Callable[[int, int], None]

_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'fts%' "
    "AND name NOT LIKE 'sqlite%' ORDER BY name"
)
# What others refer to goes first; what triggers fill by themselves, last and anew.
_FIRST = ("bank", "source", "session")
_LAST = ("unshown",)
_AT_ONCE = 500
_NUMBERED = (
    "SELECT table_name, column_name FROM information_schema.columns "
    "WHERE table_schema = current_schema() AND is_identity = 'YES'"
)


class Moved(NamedTuple):
    """How much went over."""

    tables: int
    rows: int


class _Print(NamedTuple):
    """What a table holds, whatever the order of its rows."""

    rows: int
    hash: int


def move(source: Either, target: Either, tick: Tick = lambda done, total: None) -> Moved:
    """Fill an empty memory with all that another one of the same version holds."""
    if target.banks():
        raise InputError(
            "The memory to move to is not empty.", "Name a new database, or another file."
        )
    have, get = source.connection, target.connection
    file = have if isinstance(source, SqliteStore) else get
    tables = _in_order([name for (name,) in file.execute(_TABLES)])
    moved = 0
    with source.transaction(), target.transaction():
        for number, table in enumerate(tables, 1):
            columns = [row[1] for row in file.execute(f'PRAGMA table_info("{table}")')]
            if table in _LAST:
                get.execute(f'DELETE FROM "{table}"')
            before = _copied(have, target, table, columns)
            if _print(_read(get, table, columns)) != before:
                raise StoreError(
                    f"The table {table} did not arrive as it was; nothing was moved.",
                    "Run it again; if it happens twice, please report it.",
                )
            moved += before.rows
            tick(number, len(tables))
        if isinstance(target, PostgresStore):
            _count_on(get)
    return Moved(len(tables), moved)


def _in_order(tables: Sequence[str]) -> list[str]:
    others = [name for name in tables if name not in (*_FIRST, *_LAST)]
    return [*_FIRST, *others, *_LAST]


def _read(connection: Connection, table: str, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    names = ", ".join(f'"{name}"' for name in columns)
    return iter(connection.execute(f'SELECT {names} FROM "{table}"'))


def _copied(have: Connection, target: Either, table: str, columns: Sequence[str]) -> _Print:
    """Copy a table; what it held."""
    names = ", ".join(f'"{name}"' for name in columns)
    more = ', "words", "length"' if _indexed(target, table) else ""
    marks = rows.marks(names + more)
    statement = f'INSERT INTO "{table}" ({names}{more}) VALUES ({marks})'
    found = _read(have, table, columns)
    count = total = 0
    while some := list(islice(found, _AT_ONCE)):
        held = _print(some)
        count, total = count + held.rows, (total + held.hash) % (1 << 128)
        target.connection.executemany(statement, _with_words(target, table, columns, some))
    return _Print(count, total)


def _indexed(target: Either, table: str) -> bool:
    return table == "passage" and isinstance(target, PostgresStore)


def _with_words(
    target: Either, table: str, columns: Sequence[str], some: Sequence[Sequence[Any]]
) -> Sequence[Sequence[Any]]:
    """Passages bring their words along to a server; a file finds them by itself."""
    if table != "passage" or not isinstance(target, PostgresStore):
        return some
    bank, body, context = (columns.index(name) for name in ("bank", "body", "context"))
    cut = target.tokens([row[at] for row in some for at in (body, context)])
    return [
        (*row, *words.vector(rows.bank_word(row[bank]), cut[2 * n], cut[2 * n + 1]))
        for n, row in enumerate(some)
    ]


def _print(found: Iterable[Sequence[Any]]) -> _Print:
    count = total = 0
    for row in found:
        hashed = hashlib.blake2b(repr(tuple(row)).encode(), digest_size=16).digest()
        count, total = count + 1, (total + int.from_bytes(hashed)) % (1 << 128)
    return _Print(count, total)


def _count_on(get: Connection) -> None:
    """Let numbers go on after those that came along."""
    for table, column in get.execute(_NUMBERED).fetchall():
        get.execute(
            f"SELECT setval(pg_get_serial_sequence('\"{table}\"', '{column}'), "
            f'max("{column}")) FROM "{table}" HAVING count(*) > 0'
        )
