"""A memory in a file, opened for reading alone.

It has no method that writes, and its connection refuses writes: the file is opened for reading, and
`query_only` is on. Code that gets this cannot change a memory by mistake, nor because a text that
it read told it to.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from holdfast.store.across_tables.parts import ReaderParts
from holdfast.store.protocol import ReadStore
from holdfast.store.sql.database import Database
from holdfast.store.sqlite.connection import (
    ChangeNumber,
    SqliteConnection,
    open_read_only,
    translated,
)
from holdfast.store.sqlite.full_text import SqliteFullText
from holdfast.store.sqlite.migrate import check_current, check_ours, migrate, version_of
from holdfast.store.sqlite.schema import VERSION, migrations


class SqliteReadStore(ReaderParts):
    """One file, opened for reading. A missing one is an empty memory, and is not made."""

    def __init__(self, path: Path, any_thread: bool = False) -> None:
        connection = open_read_only(path, any_thread) if path.exists() else None
        try:
            with translated(path):
                if connection is not None:
                    check_ours(connection, path, VERSION)
                    if version_of(connection) == 0:  # another process is just making it
                        connection.close()
                        connection = None
                    else:
                        check_current(connection, path, VERSION)
                if connection is None:
                    connection = sqlite3.connect(
                        ":memory:", isolation_level=None, check_same_thread=not any_thread
                    )
                    migrate(connection, path, migrations())
                connection.execute("PRAGMA query_only = ON")
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        self._raw = connection
        self._path = path
        self._changes = ChangeNumber(connection, path)
        db = Database(SqliteConnection(connection, path))
        super().__init__(db, SqliteFullText(db), None)
        self._spare: list[ReadStore] = []

    def borrow_reader(self) -> ReadStore | None:
        if self._spare:
            return self._spare.pop()
        if not self._path.exists():
            return None
        return SqliteReadStore(self._path, any_thread=True)

    def return_reader(self, reader: ReadStore) -> None:
        self._spare.append(reader)

    def generation(self) -> str:
        return str(self._changes.get())

    def interrupt(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # closed meanwhile, so nothing is being asked
            self._raw.interrupt()

    def close(self) -> None:
        while self._spare:
            self._spare.pop().close()
        self._raw.close()
