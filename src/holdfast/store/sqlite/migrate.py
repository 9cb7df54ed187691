"""Bringing a database to this program's schema: numbered steps, each whole or not at all.

A database that holds something is copied to `backups/` before the first of them; only the latest
few of such copies are kept. The number of the last step lies in `PRAGMA user_version`; a higher
one than we know is left alone.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from holdfast.errors import NewerSchemaError, StoreError
from holdfast.regex import regex
from holdfast.store.sqlite.connection import corrupt, make_private, open_read_only

# "HOLD": how we know our own files.
APPLICATION_ID = 0x484F4C44
# How many copies from before an upgrade are kept.
KEPT = 3
_BESIDE = "SELECT 1 FROM temp.sqlite_master WHERE name = ?"
_DROPPED = regex(r"DROP VIEW (\w+);")
_ADDED = regex(r"ALTER TABLE (\w+) ADD COLUMN (\w+) .*DEFAULT (\S+);")


def check_ours(connection: sqlite3.Connection, path: Path, known: int) -> None:
    """Refuse a newer memory, and a database of some other program, before touching either."""
    version = version_of(connection)
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application == APPLICATION_ID and version > known:
        raise NewerSchemaError(version, known)
    holds = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION_ID and (holds or version):
        raise corrupt(path, "it belongs to another program")


def check_current(connection: sqlite3.Connection, path: Path, known: int) -> None:
    """Refuse an older memory, for those who have no time to bring it up to date."""
    if path.exists() and version_of(connection) != known:
        raise StoreError(
            f"The memory at {path} is of an older version.",
            "Run `holdfast worker`, which brings it up to date.",
        )


def check_still(version: int, path: Path, opened: int) -> None:
    """Refuse to write where another program has changed the schema since this one opened it."""
    if version > opened:
        raise NewerSchemaError(version, opened)
    if version < opened:
        raise StoreError(
            f"The memory at {path} is of an older version than when this program opened it.",
            "Somebody put back a backup. Start this program again. Nothing was changed.",
        )


def cookie_of(path: Path) -> int:
    """A number that changes with the schema, and when a backup is put back; 0 where it cannot be
    told."""
    if not path.exists():
        return 0
    try:
        with closing(open_read_only(path)) as connection:
            return int(connection.execute("PRAGMA schema_version").fetchone()[0])
    except (sqlite3.DatabaseError, StoreError):
        return 0


def migrate(connection: sqlite3.Connection, path: Path, steps: Sequence[tuple[str, str]]) -> None:
    """Apply the steps that are missing; to a new database all of them as one."""
    copied = False
    while True:
        version = version_of(connection)
        if version > len(steps):
            raise NewerSchemaError(version, len(steps))
        if version == len(steps):
            return
        if version > 0:
            if not copied:
                back_up(connection, path, version)
            copied = True
            _apply(connection, version, steps[version : version + 1])
        else:
            _apply(connection, 0, steps)


def stand_in(connection: sqlite3.Connection, steps: Sequence[tuple[str, str]]) -> None:
    """Where an older database may not be changed, the tables, views and columns it lacks stand
    beside it and are empty, for as long as it is open."""
    added: dict[str, list[str]] = {}
    for statement in (part for _, script in steps for part in _statements(script)):
        if statement.lstrip().startswith(("CREATE TABLE", "CREATE VIEW")):
            temporary = statement.replace("CREATE ", "CREATE TEMP ", 1)
            connection.execute(temporary.replace(" REFERENCES bank (id)", ""))
        elif view := _DROPPED.search(statement):
            connection.execute(f"DROP VIEW IF EXISTS temp.{view[1]}")
        elif column := _ADDED.search(statement):
            table, name, default = column.groups()
            if connection.execute(_BESIDE, (table,)).fetchone():
                connection.execute(statement.replace("ALTER TABLE ", "ALTER TABLE temp.", 1))
            else:
                added.setdefault(table, []).append(f"{default} AS {name}")
    for table, columns in added.items():
        connection.execute(
            f"CREATE TEMP VIEW {table} AS SELECT *, {', '.join(columns)} FROM main.{table}"
        )


def version_of(connection: sqlite3.Connection) -> int:
    """How many steps a database has taken."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _apply(connection: sqlite3.Connection, version: int, steps: Sequence[tuple[str, str]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have taken these very steps while we waited for the lock.
        if version_of(connection) == version:
            for _, script in steps:
                for statement in _statements(script):
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {version + len(steps)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> list[str]:
    """Cut a script at the semicolons that end statements; triggers have inner ones."""
    statements: list[str] = []
    part = ""
    for piece in script.split(";"):
        part += piece + ";"
        if sqlite3.complete_statement(part):
            if part.strip() != ";":
                statements.append(part)
            part = ""
    # What is left is unfinished: let SQLite say so.
    return [*statements, part.removesuffix(";")] if part.strip(" \n;") else statements


def back_up(connection: sqlite3.Connection, path: Path, version: int) -> Path:
    """Copy the database aside, readable by its owner alone."""
    folder = path.parent / "backups"
    number = 1
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        while (copy := folder / f"{path.stem}-schema{version}-{number}.db").exists():
            number += 1
        part = copy.with_name(f".{copy.name}.{os.getpid()}.part")
        make_private(part)
    except OSError as error:
        raise StoreError(
            f"No backup can be made in {folder}: {error.strerror or error}.",
            "Make that folder writable; the memory is not changed without a backup.",
        ) from error
    with closing(sqlite3.connect(part)) as target:
        connection.backup(target)
    # A copy that a kill cut short never bears the name of a whole one.
    part.replace(copy)
    _drop_old(folder, path.stem)
    return copy


def _drop_old(folder: Path, stem: str) -> None:
    """Keep the latest copies of our own making. A step that fails again and again must not fill
    the disk with them."""
    known: list[tuple[int, str, Path]] = []
    for copy in folder.glob(f"{stem}-schema*-*.db"):
        with suppress(OSError):
            known.append((copy.stat().st_mtime_ns, copy.name, copy))
    for _, _, copy in sorted(known)[:-KEPT]:
        with suppress(OSError):
            copy.unlink()
