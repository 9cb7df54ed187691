"""Bringing a database to this program's schema: numbered steps, each whole or not at all.

A database that holds something is copied to `backups/` before each step. The number of the
last step lies in `PRAGMA user_version`; a higher one than we know is left alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from holdfast.errors import NewerSchemaError
from holdfast.store.sqlite.connection import make_private


def migrate(connection: sqlite3.Connection, path: Path, steps: Sequence[tuple[str, str]]) -> None:
    """Apply the steps that are missing."""
    while True:
        version = _version(connection)
        if version > len(steps):
            raise NewerSchemaError(version, len(steps))
        if version == len(steps):
            return
        if version > 0:
            back_up(connection, path, version)
        _apply(connection, version, steps[version][1])


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _apply(connection: sqlite3.Connection, version: int, script: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have taken this very step while we waited for the lock.
        if _version(connection) == version:
            for statement in _statements(script):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.execute("COMMIT")
    except BaseException:
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
    return statements


def back_up(connection: sqlite3.Connection, path: Path, version: int) -> Path:
    """Copy the database aside, readable by its owner alone."""
    folder = path.parent / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    number = 1
    while (copy := folder / f"{path.stem}-schema{version}-{number}.db").exists():
        number += 1
    make_private(copy)
    with closing(sqlite3.connect(copy)) as target:
        connection.backup(target)
    return copy
