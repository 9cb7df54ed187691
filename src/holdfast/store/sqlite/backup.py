"""Whole copies of a memory: made while others write, checked, and put back as one transaction.

A copy is a database like its original, with two more tables: the files that belong to it, and a
note of what it held. It shows one point in time, however long the copying takes. Putting it back
changes the memory in place, by SQLite's own backup: every process that has it open sees the old
content or the new, also after a kill.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import NewerSchemaError, StoreCorruptError, StoreError
from holdfast.operating_system import OPEN_FLAGS, replace_file, sync_folder
from holdfast.store.sqlite.connection import make_private, open_read_only, translated
from holdfast.store.sqlite.migrate import (
    APPLICATION_ID,
    check_upgradable,
    is_of_old_numbering,
    version_of,
)
from holdfast.store.sqlite.replacement import open_copy
from holdfast.store.sqlite.schema import VERSION, derived_tables, migrations
from holdfast.store.sqlite.store import SqliteStore
from holdfast.store.sqlite.upgrade import build

_BACKUP_TABLES = ("backup_file", "backup_note")
_TABLES = (
    "CREATE TABLE backup_file (name TEXT PRIMARY KEY, content BLOB NOT NULL)",
    "CREATE TABLE backup_note (made TEXT, program TEXT, tables TEXT, hash TEXT)",
)


class Copy(NamedTuple):
    """What a copy holds: `made` and `program` are "" where an upgrade, or another program, made it.
    `files` are sizes by name, `tables` numbers of rows by name."""

    schema: int
    made: str
    program: str
    tables: dict[str, int]
    hash: str
    files: dict[str, int]


def make_copy(
    database: Path, part: Path, files: Iterable[tuple[str, bytes]], made: str, program: str
) -> Copy:
    """Copy a memory as it is now into a new file, and compare the copy with it."""
    make_private(part)
    with (
        translated(part),
        closing(open_read_only(database)) as source,
        closing(sqlite3.connect(part, isolation_level=None)) as target,
    ):
        _check_ours(source, database)
        source.execute("BEGIN")
        held, digest = _contents(source)  # the first query fixes the point in time
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")
        target.execute("BEGIN IMMEDIATE")
        for table in _TABLES:
            target.execute(table)
        target.executemany("INSERT INTO backup_file VALUES (?, ?)", files)
        note = (made, program, json.dumps(held, sort_keys=True), digest)
        target.execute("INSERT INTO backup_note VALUES (?, ?, ?, ?)", note)
        target.execute("COMMIT")
        return _read_and_compare(target, part)


def check_copy(path: Path, newest: int = VERSION) -> Copy:
    """Read a whole copy. Raises where it is not ours, of a newer version, or damaged."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise StoreError(
            f"{path} is in use: part of it is in {log.name}.",
            "Make a copy of it with `holdfast backup`, and give that.",
        )
    with translated(path), closing(open_copy(path)) as copy:
        _check_ours(copy, path)
        version = version_of(copy)
        if is_of_old_numbering(copy):
            check_upgradable(version, path)
        elif version > newest:
            raise NewerSchemaError(version, newest)
        return _read_and_compare(copy, path)


def read_schema_and_time(path: Path) -> tuple[int, str]:
    """The schema of a copy and when it was made, without a check; 0 where it cannot be read."""
    try:
        with closing(open_copy(path)) as copy:
            row = (
                copy.execute("SELECT made FROM backup_note").fetchone() if _has_note(copy) else None
            )
            return version_of(copy), str(row[0]) if row else ""
    except sqlite3.DatabaseError:
        return 0, ""


def stage_copy(path: Path, staged: Path) -> None:
    """Make a memory of this version from a copy, in a file of its own."""
    with translated(staged), closing(open_copy(path)) as copy:
        if is_of_old_numbering(copy):
            build(path, staged, migrations())
            return
    make_private(staged)
    with (
        translated(staged),
        closing(open_copy(path)) as copy,
        closing(sqlite3.connect(staged, isolation_level=None)) as target,
    ):
        copy.backup(target)
        for table in _BACKUP_TABLES:
            target.execute(f"DROP TABLE IF EXISTS {table}")
    SqliteStore(staged).close()
    with translated(staged), closing(sqlite3.connect(staged, isolation_level=None)) as target:
        target.execute("PRAGMA journal_mode = DELETE")


def revoked_keys(database: Path) -> frozenset[tuple[str, str]]:
    """When each revoked key of a memory was revoked, and its id; none where it cannot be read."""
    try:
        with closing(open_read_only(database)) as connection:
            asked = "SELECT revoked, id FROM api_key WHERE revoked <> ''"
            return frozenset(connection.execute(asked).fetchall())
    except (sqlite3.DatabaseError, StoreError):
        return frozenset()


def revoke_keys(staged: Path, revoked: Iterable[tuple[str, str]]) -> None:
    """Revoke in a staged memory the keys that are revoked in the one in use."""
    with translated(staged), closing(sqlite3.connect(staged)) as target, target:
        target.executemany("UPDATE api_key SET revoked = ? WHERE id = ? AND revoked = ''", revoked)


def is_sound(database: Path) -> bool:
    """Whether a memory is sound, so that it can be changed in place."""
    try:
        with closing(open_read_only(database)) as connection:
            ours = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
            return ours and connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
    except (sqlite3.DatabaseError, StoreError):
        return False


def kept_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """The files that a copy keeps, by name."""
    with translated(path), closing(open_copy(path)) as copy:
        if _has_note(copy):
            yield from copy.execute("SELECT name, content FROM backup_file ORDER BY name")


def erasure_marks(path: Path) -> set[tuple[str, ...]]:
    """The marks of what was erased, with their banks; none where the file cannot be read."""
    try:
        with closing(open_read_only(path)) as connection:
            return {
                tuple(map(str, row)) for row in connection.execute("SELECT * FROM erasure_mark")
            }
    except (sqlite3.DatabaseError, StoreError):
        return set()


def _check_ours(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise _unusable_copy(path, "it belongs to another program, or is empty")


def _unusable_copy(path: Path, why: str) -> StoreCorruptError:
    return StoreCorruptError(
        f"{path} is not a whole copy of a memory: {why}.",
        "Nothing was changed. `holdfast restore-backup --list` lists others.",
    )


def _has_note(connection: sqlite3.Connection) -> bool:
    question = "SELECT 1 FROM sqlite_master WHERE name = 'backup_note'"
    return connection.execute(question).fetchone() is not None


def _read_and_compare(copy: sqlite3.Connection, path: Path) -> Copy:
    """What a copy holds, after comparing it with its note."""
    try:
        told = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(3)")]
        if told != ["ok"]:
            raise _unusable_copy(path, " ".join(told).replace("*** in database main *** ", ""))
        held, digest = _contents(copy)
        note = copy.execute("SELECT * FROM backup_note").fetchone() if _has_note(copy) else None
        files: dict[str, int] = {}
        if note is not None:
            files = dict(copy.execute("SELECT name, length(content) FROM backup_file"))
            # The note of 0.1.0 left out what is derived, by the names that it had.
            same = is_of_old_numbering(copy) or (json.loads(note[2]), note[3]) == (held, digest)
            if not same:
                raise _unusable_copy(path, "it does not hold what its note says")
    except sqlite3.DatabaseError as error:
        raise _unusable_copy(path, str(error)) from error
    made, program = note[:2] if note else ("", "")
    return Copy(version_of(copy), made, program, held, digest, files)


def _contents(connection: sqlite3.Connection) -> tuple[dict[str, int], str]:
    """How many rows each table has, and a hash of the rows that cannot be made again."""
    held: dict[str, int] = {}
    digest = hashlib.sha256()
    derived = derived_tables()
    names = [
        row[0]
        for row in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
            " AND name NOT LIKE 'passage_fts%' AND name NOT LIKE 'sqlite%' ORDER BY name"
        )
        if row[0] not in _BACKUP_TABLES
    ]
    for name in names:
        held[name] = connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
        if name not in derived:
            digest.update(f"{name} {held[name]}\n".encode())
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                digest.update(repr(row).encode("utf-8", "surrogatepass"))
    return held, digest.hexdigest()


def name_durably(part: Path, path: Path) -> None:
    """Give a finished file its name durably; FileExistsError where there is such a file."""
    descriptor = os.open(part, os.O_RDWR | OPEN_FLAGS)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(part, path)
    except PermissionError:  # a disk without links
        if path.exists():
            raise FileExistsError(17, "File exists", str(path)) from None
        replace_file(part, path)
    else:
        part.unlink()
    sync_folder(path.parent)
