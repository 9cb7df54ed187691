"""A memory in a file as a hook reads it, while a session waits.

It is opened for reading, and refused if it is of another version; nothing else is checked, and
`pathlib`, which takes as long to import as twenty modules of ours, is not needed.
"""

from __future__ import annotations

from holdfast.errors import StoreError
from holdfast.store.protocol import Store
from holdfast.store.sql.database import Database
from holdfast.store.sqlite.connection import (
    SqliteConnection,
    open_quickly,
    translated,
)
from holdfast.store.sqlite.full_text import SqliteFullText
from holdfast.store.sqlite.schema import VERSION


class HookReader(Store):
    """One file, opened for reading by one thread."""

    def __init__(self, path: str) -> None:
        """`path` is absolute. Raises a StoreError if there is no memory of this version."""
        with translated(path):
            self._raw = open_quickly(path)
            if self._raw.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                self._raw.close()
                raise StoreError(f"The memory at {path} is of another version.")
        database = Database(SqliteConnection(self._raw, path))
        super().__init__(database, SqliteFullText(database), None)

    def generation(self) -> str:
        return str(self._raw.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        self._raw.close()
