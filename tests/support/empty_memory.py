"""A new memory without the work of making one.

A new database takes 150 statements and most of a test's time, and is the same each time.
`tests/store/sqlite` tests how it is made; other tests start from a copy.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from holdfast.settings import Settings
from holdfast.store.sqlite.store import SqliteStore


def with_empty_memory(settings: Settings) -> Settings:
    """The same settings, after an empty memory was put where they look for theirs; one that is
    there already is left alone."""
    put_empty_memory(settings.database)
    return settings


def put_empty_memory(database: Path) -> Path:
    """Put an empty memory into a file, unless the file exists; returns the file."""
    if not database.exists():
        database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        database.touch(mode=0o600)
        database.write_bytes(_empty_memory())
    return database


@cache
def _empty_memory() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        SqliteStore(path).close()
        return path.read_bytes()
