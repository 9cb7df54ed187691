"""Replacing the content of a memory in use by that of another file, as one transaction.

It is changed in place, by SQLite's own backup: every process that has it open sees the old content
or the new, also after a kill.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from holdfast.errors import StoreBusyError
from holdfast.store.sqlite.connection import BUSY_S, translated


def put_back(
    staged: Path,
    database: Path,
    busy_s: float = BUSY_S,
    before_change: Callable[[], None] = lambda: None,
) -> None:
    """Replace the content of the memory in use by a staged one, as one transaction.

    `before_change` is called once nobody else can write and nothing has changed yet for anybody;
    others can read. If it raises, nothing changes."""
    give_up = time.monotonic() + busy_s
    waits = sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED
    locked = False

    def tell(status: int, remaining: int, total: int) -> None:
        nonlocal locked
        if status in waits:
            if time.monotonic() > give_up:
                raise StoreBusyError(
                    f"Another process locks the memory at {database}.",
                    "Nothing was changed. Let it finish, then run the same command again.",
                )
        elif not locked:
            locked = True
            before_change()

    with (
        translated(database),
        closing(open_copy(staged)) as source,
        closing(sqlite3.connect(database, timeout=1.0, isolation_level=None)) as target,
    ):
        # The first step takes the write lock and keeps it; the last one commits. One page a step,
        # because a memory has several and the first step must not be the last.
        source.backup(target, pages=1, progress=tell, sleep=0.05)
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def open_copy(path: Path) -> sqlite3.Connection:
    """Open a database that nobody changes, for reading."""
    # Nobody changes a copy, and none may leave files beside it.
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(uri, uri=True, isolation_level=None)
