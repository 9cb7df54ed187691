"""Upgrading a memory that Holdfast 0.1.0 made, whose schema was numbered and named differently.

The memory is copied to `backups/`, a new one is built there from the copy (`old_tables` says of
what), and replaces the content of the old one in one transaction. Whenever this is killed, the
memory is the old one or the new one. Sessions are marked stale, so that all that was derived is
made again. The new one is built in the first schema of the present numbering, and then migrated.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path

from holdfast.errors import StoreBusyError, StoreError
from holdfast.locks import lock_file
from holdfast.operating_system import NO_FOLLOW, OPEN_FLAGS
from holdfast.store.sql.migrations import Migrations
from holdfast.store.sqlite.connection import make_private
from holdfast.store.sqlite.migrate import (
    OLD_SCHEMA,
    apply,
    back_up,
    failed,
    is_of_old_numbering,
)
from holdfast.store.sqlite.old_tables import OLD_TABLES, OldTable
from holdfast.store.sqlite.replacement import put_back

# How often the upgrade starts again because another program wrote to the memory meanwhile. A copy
# takes seconds, and programs of 0.1.0 write for seconds when a session ends.
_TRIES = 5


class _ChangedError(Exception):
    """Another program wrote to the memory since it was copied."""


def upgrade(
    connection: sqlite3.Connection, path: Path, migrations: Migrations, busy_s: float
) -> None:
    """Bring a memory of the old numbering to the present schema. Where another process is doing so,
    wait for it."""
    backups = path.parent / "backups"
    try:
        backups.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_CREAT | os.O_RDWR | OPEN_FLAGS | NO_FOLLOW
        lock = os.open(backups / f".{path.stem}-upgrade.lock", flags, 0o600)
    except OSError as error:
        raise StoreError(
            f"The memory at {path} cannot be upgraded: {backups}: {error.strerror or error}.",
            "Make that folder writable; the memory is not changed without a backup.",
        ) from error
    try:
        if not lock_file(lock, wait=False):
            _tell(f"Another process is upgrading the memory at {path}; waiting for it.")
            lock_file(lock)
        if is_of_old_numbering(connection):
            _upgrade(connection, path, migrations, busy_s)
    finally:
        os.close(lock)


def _upgrade(
    connection: sqlite3.Connection, path: Path, migrations: Migrations, busy_s: float
) -> None:
    built = path.parent / "backups" / f".{path.stem}-upgrade.part"
    for _ in range(_TRIES):
        changes = _changes(connection)
        copy = back_up(connection, path, OLD_SCHEMA)
        try:
            turns = build(copy, built, migrations)
            put_back(built, path, busy_s, lambda seen=changes: _check_same(connection, seen))
        except _ChangedError:
            continue
        except sqlite3.DatabaseError as error:
            raise failed(f"The upgrade of {path} from 0.1.0", error, path, copy) from error
        finally:
            _remove(built)
        _tell(
            f"Upgraded the memory at {path}, which Holdfast 0.1.0 made: {turns:,} turns. A copy "
            f"from before is {copy}. Search finds all again after `holdfast ingest`, or once the "
            "worker has run."
        )
        return
    raise StoreBusyError(
        f"The memory at {path} cannot be upgraded while other programs write to it.",
        "End the programs of the earlier version (`holdfast worker`, `holdfast serve`, agents that "
        "use it), then try again. Nothing was lost.",
    )


def build(copy: Path, built: Path, migrations: Migrations) -> int:
    """Make a memory of the present schema from a copy of an old one; returns how many turns it
    has."""
    _remove(built)
    make_private(built)
    with closing(sqlite3.connect(built, isolation_level=None, uri=True)) as new:
        # Whatever happens to this file, it is made anew: only `put_back` writes durably.
        new.execute("PRAGMA journal_mode = OFF")
        new.execute("PRAGMA synchronous = OFF")
        apply(new, built, 0, migrations[:1], None)
        new.execute("ATTACH ? AS old", (f"{copy.absolute().as_uri()}?mode=ro&immutable=1",))
        new.execute("BEGIN IMMEDIATE")
        for table in OLD_TABLES:
            new.execute(_copy_statement(new, table))
        for statement in _AFTERWARDS:
            new.execute(statement)
        new.execute("COMMIT")
        new.execute("DETACH old")
        # What later versions changed in the schema holds for these rows too.
        apply(new, built, 1, migrations[1:], None)
        return int(new.execute("SELECT count(*) FROM turn").fetchone()[0])


_AFTERWARDS = (
    # A number that was given to a decision is not given again.
    "UPDATE main.sqlite_sequence SET seq = (SELECT seq FROM old.sqlite_sequence AS o "
    "WHERE o.name = 'curation') WHERE name = 'curation'",
    "INSERT INTO main.stale_session SELECT bank, id, 0 FROM main.session",
    # All that is of no session: the stages have seen none of it.
    "INSERT OR IGNORE INTO main.session_change (bank, session) SELECT id, '' FROM main.bank",
)


def _copy_statement(new: sqlite3.Connection, table: OldTable) -> str:
    """The statement that copies a table; a column that the new one does not have fails it."""
    found = new.execute(f"PRAGMA old.table_xinfo('{table.name}')").fetchall()
    columns = [str(row[1]) for row in found]
    into = ", ".join(f'"{table.new_name(column)}"' for column in columns)
    these = ", ".join(f't."{column}"' for column in columns)
    return (
        f'INSERT INTO main."{table.target}" ({into}) SELECT {these} FROM old."{table.name}" AS t '
        f"WHERE {table.where}"
    )


def _changes(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def _check_same(connection: sqlite3.Connection, seen: int) -> None:
    if _changes(connection) != seen:
        raise _ChangedError


def _remove(built: Path) -> None:
    for name in (built.name, f"{built.name}-journal"):
        with suppress(FileNotFoundError):
            built.with_name(name).unlink()


def _tell(line: str) -> None:
    # Standard output may be read by a program.
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] - None without a console
        sys.stderr.write(f"holdfast: {line}\n")
