"""Moving a whole memory from a file to a server, or back, row by row.

Rows are copied in batches, each in a transaction that also notes the progress (`move_progress`), so
a move that was killed can be resumed. At the end every table is read on both sides and compared by
its number of rows and a hash of them. A target that was begun with other rows than the source has
now is cleared and filled anew. Until the move is finished nobody else can open the target.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Any, NamedTuple

from holdfast.errors import InputError, StoreError
from holdfast.store.postgres import tokens as words
from holdfast.store.postgres.move_progress import MoveProgress, OutdatedMoveError
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.sql import rows
from holdfast.store.sql.statements import placeholders
from holdfast.store.sqlite.store import SqliteStore

AnyStore = SqliteStore | PostgresStore
# Called after each batch with the number of tables that are done, and of all tables.
Tick = Callable[[int, int], None]

_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'passage_fts%' "
    "AND name NOT LIKE 'sqlite%' AND name NOT IN ('move_progress', 'unindexed_parts') ORDER BY name"
)
# Tables that others refer to go first; those that triggers fill go last, after they were emptied.
_FIRST = ("bank", "source", "session")
_LAST = ("stale_memory", "vector_count")
# Rows in one transaction. A kill loses at most so many; more are slightly faster.
BATCH_ROWS = 500


class MoveResult(NamedTuple):
    """How many tables and rows there are, and how many rows an earlier run had moved."""

    tables: int
    rows: int
    before: int = 0


class _Table(NamedTuple):
    """A table: its columns, and those that it is ordered by."""

    name: str
    columns: Sequence[str]
    order: Sequence[str]


class _Fingerprint(NamedTuple):
    """The rows of a table, whatever their order."""

    rows: int
    hash: int


def move(
    source: AnyStore, target: AnyStore, name: str, tick: Tick = lambda done, total: None
) -> MoveResult:
    """Copy all that `source` holds to `target`, which is of the same version; `name` identifies the
    source. After an `OutdatedMoveError` the target must be cleared and the move begun anew."""
    tables = _tables(source, target)
    progress = MoveProgress(target, name)
    before = progress.rows
    with source.transaction():
        if before and _find_changed_table(source, target, tables, progress):
            raise OutdatedMoveError
        _copy(source, target, tables, progress, tick)
        different = _find_different_table(source, target, tables)
    if different and before:
        raise OutdatedMoveError
    if different:
        raise StoreError(
            f"The table {different} did not arrive as it was; nothing can be asked of it.",
            "Run it again; if it happens twice, please report it.",
        )
    if isinstance(target, SqliteStore):
        # A server has the parts of words in the rows themselves; a file gets them later.
        with target.transaction():
            target.passages.mark_parts_missing()
    progress.finish()
    return MoveResult(len(tables), progress.rows, before)


def _tables(source: AnyStore, target: AnyStore) -> list[_Table]:
    file = source if isinstance(source, SqliteStore) else target
    if not isinstance(file, SqliteStore):
        raise InputError("Both memories are on servers.", "Use pg_dump and pg_restore.")
    names = [name for (name,) in file.database.all(_TABLES)]
    others = [name for name in names if name not in (*_FIRST, *_LAST)]
    found: list[_Table] = []
    for name in (*_FIRST, *others, *_LAST):
        info = file.database.all(f'PRAGMA table_info("{name}")')
        columns = [row[1] for row in info]
        key = [row[1] for row in sorted(info, key=lambda row: row[5]) if row[5]]
        found.append(_Table(name, columns, key or columns))
    return found


def _copy(
    source: AnyStore, target: AnyStore, tables: Sequence[_Table], progress: MoveProgress, tick: Tick
) -> None:
    for done, table in enumerate(tables):
        moved_rows = progress.rows_moved(table.name)
        if moved_rows is None:
            continue
        if table.name in _LAST and not moved_rows:
            target.database.run(f'DELETE FROM "{table.name}"')
        found = _read(source, table, moved_rows)
        while some := list(islice(found, BATCH_ROWS)):
            with target.transaction():
                _insert_rows(target, table, some)
                progress.add_rows(table.name, len(some))
            tick(done, len(tables))
        with target.transaction():
            progress.mark_table_done(table.name)
        tick(done + 1, len(tables))


def _read(store: AnyStore, table: _Table, skip: int = 0) -> Iterator[Sequence[Any]]:
    """The rows of a table in their order, without the first `skip`; within a transaction."""
    names = _listed(table.columns)
    statement = f'SELECT {names} FROM "{table.name}" ORDER BY {_listed(table.order)}'
    if isinstance(store, PostgresStore):
        return store.stream(f"{statement} OFFSET {skip}")
    return store.database.stream(f"{statement} LIMIT -1 OFFSET {skip}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _insert_rows(target: AnyStore, table: _Table, some: Sequence[Sequence[Any]]) -> None:
    indexed = table.name == "passage" and isinstance(target, PostgresStore)
    names = _listed((*table.columns, "words", "length") if indexed else table.columns)
    target.database.run_many(
        f'INSERT INTO "{table.name}" ({names}) VALUES ({placeholders(names)})',
        _with_tokens(target, table.columns, some)
        if indexed and isinstance(target, PostgresStore)
        else some,
    )


def _with_tokens(
    target: PostgresStore, columns: Sequence[str], some: Sequence[Sequence[Any]]
) -> Sequence[Sequence[Any]]:
    """Passages with their tokens, which a server needs; a file makes them by itself."""
    bank, body, context = (columns.index(name) for name in ("bank", "body", "context"))
    cut = target.tokens([(row[body], row[context]) for row in some])
    return [
        (*row, *words.to_tsvector(rows.bank_word(row[bank]), cut[n])) for n, row in enumerate(some)
    ]


def _find_changed_table(
    source: AnyStore, target: AnyStore, tables: Sequence[_Table], progress: MoveProgress
) -> str:
    """The first table of which an earlier run moved other rows than the source has now."""
    with _read_transaction(target):
        for table in tables:
            moved_rows = progress.rows_moved(table.name)
            if moved_rows == 0:
                continue
            if _fingerprint(islice(_read(source, table), moved_rows)) != _fingerprint(
                _read(target, table)
            ):
                return table.name
    return ""


def _find_different_table(source: AnyStore, target: AnyStore, tables: Sequence[_Table]) -> str:
    """The first table that is not the same on both sides; "" if there is none."""
    with _read_transaction(target):
        for table in tables:
            if _fingerprint(_read(source, table)) != _fingerprint(_read(target, table)):
                return table.name
    return ""


def _read_transaction(target: AnyStore) -> AbstractContextManager[None]:
    """A transaction, which a server needs for cursors; nothing for a file."""
    return target.transaction() if isinstance(target, PostgresStore) else nullcontext()


def _fingerprint(found: Iterable[Sequence[Any]]) -> _Fingerprint:
    count = total = 0
    for row in found:
        hashed = hashlib.blake2b(repr(tuple(row)).encode(), digest_size=16).digest()
        count, total = count + 1, (total + int.from_bytes(hashed)) % (1 << 128)
    return _Fingerprint(count, total)
