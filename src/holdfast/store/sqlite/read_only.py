"""A memory in a file, opened for reading alone.

It has no method that writes, and its connection refuses writes: the file is opened for reading, and
`query_only` is on. Code that gets this cannot change a memory by mistake, nor because a text that
it read told it to.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from holdfast.store.protocol import Store
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


class SqliteReadStore(Store):
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
        self._connection = SqliteConnection(
            connection,
            path,
            (lambda: open_read_only(path, any_thread)) if path.exists() else None,
        )
        db = Database(self._connection)
        super().__init__(db, SqliteFullText(db), None)
        self._spare: list[Store] = []

    def borrow_reader(self) -> Store | None:
        if not self._spare and not self._path.exists():
            return None
        reader = self._spare.pop() if self._spare else SqliteReadStore(self._path, any_thread=True)
        reader.database.restrict(self.database.principal)
        return reader

    def return_reader(self, reader: Store) -> None:
        self._spare.append(reader)

    def generation(self) -> str:
        return str(self._changes.get())

    def interrupt(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        while self._spare:
            self._spare.pop().close()
        self._connection.close()
        self._raw.close()
