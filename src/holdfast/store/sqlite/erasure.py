"""What SQLite leaves behind of deleted rows, and copies of a memory that hold them.

Deleting a row leaves its bytes in free pages, in the full-text index and in the log of pending
writes. `overwrite_deleted` makes the index anew, writes the file anew without its free pages, and
empties the log. Backups are searched, never changed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from holdfast.errors import StoreBusyError
from holdfast.store.across_tables.erasure import (
    Eraser,
    Erasure,
    Scrubber,
    erased_ids,
    find_words,
    scrubbed_columns,
)
from holdfast.store.protocol import Store
from holdfast.store.sql.statements import batches, placeholders_for
from holdfast.store.sqlite.connection import BUSY_S, translated

_LOG_TRIGGER = "curation_is_append_only"
_RETRY_S = 0.05


class SqliteEraser(Eraser):
    """The parts of an erasure that are SQLite's."""

    def __init__(
        self,
        parts: Store,
        raw: sqlite3.Connection,
        path: Path,
        close_readers: Callable[[], None],
    ) -> None:
        super().__init__(parts)
        self._raw = raw
        self._path = path
        self._close_readers = close_readers

    def _prepare(self) -> None:
        self._db.run("PRAGMA secure_delete = ON")

    @contextmanager
    def _writable_log(self) -> Generator[None]:
        row = self._db.one("SELECT sql FROM sqlite_master WHERE name = ?", (_LOG_TRIGGER,))
        assert row is not None
        self._db.run(f"DROP TRIGGER {_LOG_TRIGGER}")
        yield
        # On the table, not on the view that is in its place for a principal.
        self._db.run(row[0].replace("CREATE TRIGGER ", "CREATE TRIGGER main.", 1))

    def backups_holding(self, content: Erasure | Scrubber) -> list[Path]:
        folder = self._path.parent / "backups"
        copies = sorted(folder.glob("*.db")) if folder.is_dir() else []
        return [path for path in copies if _holds(path, content)]

    def overwrite_deleted(self) -> None:
        self._close_readers()
        with translated(self._path):
            run = self._raw.execute
            run("PRAGMA secure_delete = ON")
            run("BEGIN IMMEDIATE")
            run(
                "DELETE FROM vector WHERE NOT EXISTS (SELECT 1 FROM passage "
                "WHERE passage.bank = vector.bank AND passage.hash = vector.hash)"
            )
            for table in ("passage_fts", "passage_fts_parts"):
                run(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")
            run("COMMIT")
            run("VACUUM")
            give_up = time.monotonic() + BUSY_S
            while run("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > give_up:
                    raise StoreBusyError(
                        "Another process still reads what was erased.",
                        "Close it, then run the same command again: the text is in no row, but "
                        "may still be in memory.db-wal.",
                    )
                time.sleep(_RETRY_S)


def _holds(path: Path, what: Erasure | Scrubber) -> bool:
    """Whether a copy holds it, or cannot be read."""
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as copy:
            if not isinstance(what, Erasure):
                return _has_words(copy, what) or _has_file_with(copy, what)
            tables = {row[0] for row in copy.execute("SELECT name FROM sqlite_master")}
            return any(
                _has_one(copy, name, ids) for name, ids in erased_ids(what) if name in tables
            )
    except sqlite3.DatabaseError:
        return True


def _has_words(copy: sqlite3.Connection, clean: Scrubber) -> bool:
    # A copy of another version may lack a table or a column.
    tables = [
        name
        for name, columns in scrubbed_columns().items()
        if columns <= {row[1] for row in copy.execute(f'PRAGMA table_info("{name}")')}
    ]
    return any(True for _ in find_words(copy.execute, clean, tables))


def _has_file_with(copy: sqlite3.Connection, clean: Scrubber) -> bool:
    """Whether a file that is kept in a copy holds it."""
    there = copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'backup_file'").fetchone()
    rows = copy.execute("SELECT content FROM backup_file") if there else ()
    return any(clean(text) != text for text in (r[0].decode("utf-8", "replace") for r in rows))


def _has_one(copy: sqlite3.Connection, table: str, ids: Sequence[str]) -> bool:
    for some in batches(ids):
        sql = f'SELECT 1 FROM "{table}" WHERE id IN ({placeholders_for(some)})'
        if copy.execute(sql, some).fetchone():
            return True
    return False
