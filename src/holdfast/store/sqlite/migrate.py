"""Bringing a database to this program's schema: numbered steps, each whole or not at all.

The number of the last step is in `PRAGMA user_version`; a database with a higher one than this
program knows is left alone. A database that holds something is copied to `backups/` before its
first step.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from holdfast.errors import NewerSchemaError, StoreBusyError, StoreError, StoreFullError
from holdfast.store.sql.migrations import Migrations
from holdfast.store.sqlite.connection import corrupt, make_private, open_read_only, store_error

# "HOLD": how we know our own files.
APPLICATION_ID = 0x484F4C44
# The last schema of Holdfast 0.1.0, whose schemas were numbered from 1, too: see `upgrade`.
OLD_SCHEMA = 22
# How many copies from before upgrades are kept, besides the first one of the version that is being
# upgraded. Each takes as much room as the database.
KEPT_COPIES = 3


def check_ours(connection: sqlite3.Connection, path: Path, known: int) -> None:
    """Refuse a newer memory, and a database of some other program, before touching either."""
    version = version_of(connection)
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application == APPLICATION_ID and is_of_old_numbering(connection):
        check_upgradable(version, path)
    elif application == APPLICATION_ID and version > known:
        raise NewerSchemaError(version, known)
    holds = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION_ID and (holds or version):
        raise corrupt(path, "it belongs to another program")


def check_current(connection: sqlite3.Connection, path: Path, known: int) -> None:
    """Refuse an older memory, for callers that may not upgrade it or have no time to."""
    if path.exists() and (version_of(connection) != known or is_of_old_numbering(connection)):
        raise StoreError(
            f"The memory at {path} is of an older version.",
            "Run `holdfast worker`, which brings it up to date.",
        )


def is_of_old_numbering(connection: sqlite3.Connection) -> bool:
    """Whether Holdfast 0.1.0 made this memory: it called the table of names of banks `alias`, and
    no table has been called so since."""
    tables = (
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('alias', 'bank_alias')"
    )
    return connection.execute(tables).fetchall() == [("alias",)]


def check_upgradable(version: int, path: Path) -> None:
    """Refuse a memory of the old numbering that is not of its last schema."""
    if version != OLD_SCHEMA:
        raise StoreError(
            f"The memory at {path} has schema {version} of a Holdfast from before 0.1.0.",
            f"Open it once with Holdfast 0.1.0 (`holdfast status`), which brings it to schema "
            f"{OLD_SCHEMA}; then open it with this version. Nothing was changed.",
        )


def schema_cookie(path: Path) -> int:
    """A number that changes with the schema, and when a backup is put back; 0 where the file
    cannot be read."""
    if not path.exists():
        return 0
    try:
        with closing(open_read_only(path)) as connection:
            return int(connection.execute("PRAGMA schema_version").fetchone()[0])
    except (sqlite3.DatabaseError, StoreError):
        return 0


def migrate(connection: sqlite3.Connection, path: Path, migrations: Migrations) -> None:
    """Apply the migrations that are missing: to a new database all of them as one, else one by
    one, after a copy was made."""
    copy: Path | None = None
    while True:
        version = version_of(connection)
        if version > len(migrations):
            raise NewerSchemaError(version, len(migrations))
        if version == len(migrations):
            return
        if version > 0:
            copy = copy or back_up(connection, path, version)
            apply(connection, path, version, migrations[version : version + 1], copy)
        else:
            apply(connection, path, 0, migrations, None)


def version_of(connection: sqlite3.Connection) -> int:
    """The number of a database's last migration; 0 for a new one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def apply(
    connection: sqlite3.Connection,
    path: Path,
    version: int,
    migrations: Migrations,
    copy: Path | None,
) -> None:
    """Apply the migrations that follow a version, all of them or none. `copy` is the backup that an
    error names."""
    name = ""
    try:
        connection.execute("BEGIN IMMEDIATE")
        # Another process may have taken these very steps while we waited for the lock.
        if version_of(connection) == version:
            for migration, script in migrations:
                name = migration
                for statement in _statements(script):
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {version + len(migrations)}")
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if name and isinstance(error, sqlite3.DatabaseError):
            raise failed(f"The migration {name} of {path}", error, path, copy) from error
        raise


def failed(what: str, error: sqlite3.DatabaseError, path: Path, copy: Path | None) -> StoreError:
    """The error for a migration that failed. Every command that opens the memory would fail in the
    same way, so the remedy names none."""
    message = f"{what} failed: {error}."
    kept = f" A copy from before the upgrade is {copy}." if copy else ""
    kind = type(store_error(error, path))
    if kind is StoreFullError:
        return StoreFullError(message, f"Free some space, then try again.{kept}")
    if kind is StoreBusyError:
        return StoreBusyError(message, f"Close what else uses it, then try again.{kept}")
    return kind(
        message,
        "The memory is as it was before this step. Please report this message, and go back to the "
        f"version of Holdfast that you had.{kept}",
    )


def _statements(script: str) -> list[str]:
    """Cut a script at the semicolons that end statements; triggers and comments have inner ones."""
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
    """Copy the database to `backups/`, readable by its owner alone, and return the copy.

    Where an earlier try to upgrade the same database left an equal copy, that one is returned and
    nothing is added."""
    folder = path.parent / "backups"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        part = folder / f".{path.stem}-schema{version}.{os.getpid()}.part"
        part.unlink(missing_ok=True)
        make_private(part)
    except OSError as error:
        raise StoreError(
            f"No backup can be made in {folder}: {error.strerror or error}.",
            "Make that folder writable; the memory is not changed without a backup.",
        ) from error
    try:
        with closing(sqlite3.connect(part)) as target:
            connection.backup(target)
    except BaseException:
        part.unlink(missing_ok=True)  # on a full disk each try would leave less room
        raise
    copies = _copies(folder, f"{path.stem}-schema{version}-*.db")
    from filecmp import cmp

    for copy in copies:
        if cmp(part, copy, shallow=False):
            part.unlink()
            return copy
    number = 1
    while (copy := folder / f"{path.stem}-schema{version}-{number}.db").exists():
        number += 1
    # A copy that a kill cut short never has the name of a whole one.
    part.replace(copy)
    _drop_old_copies(folder, path.stem, keep=[*copies, copy][0])
    return copy


def _copies(folder: Path, pattern: str) -> list[Path]:
    """The copies of a pattern, the oldest first."""
    found: list[tuple[int, str, Path]] = []
    for copy in folder.glob(pattern):
        with suppress(OSError):
            found.append((copy.stat().st_mtime_ns, copy.name, copy))
    return [copy for _, _, copy in sorted(found)]


def _drop_old_copies(folder: Path, stem: str, keep: Path) -> None:
    """Remove all but the latest copies that upgrades made, and `keep`, which is from before the
    first try of the upgrade at hand. Copies that people made have other names."""
    others = [copy for copy in _copies(folder, f"{stem}-schema*-*.db") if copy != keep]
    for copy in others[:-KEPT_COPIES]:
        with suppress(OSError):
            copy.unlink()
