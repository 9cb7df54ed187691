"""Opening the file safely, and errors a person can act on.

The home is for its owner alone (0700, files 0600). Readers never wait; a writer waits up to
`BUSY_S` for another. SQLite's own errors become ours here and nowhere else.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from holdfast.errors import StoreBusyError, StoreCorruptError, StoreError, StoreFullError

BUSY_S = 30.0


def open_database(path: Path) -> sqlite3.Connection:
    """Open, making it if need be, a database that only its owner can read."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_private(path)
    except OSError as error:
        raise StoreError(
            f"Cannot write to {path.parent}: {error.strerror or error}.",
            "Check its permissions, or choose another home with HOLDFAST_HOME.",
        ) from error
    with translated(path):
        connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -16000")
        return connection


def make_private(path: Path) -> None:
    """Create a file with owner-only rights before anything else can; SQLite's -wal and -shm
    files take their rights from it."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        mode = path.stat().st_mode & 0o777
        if mode & 0o077:
            path.chmod(0o600)


@contextmanager
def translated(path: Path) -> Generator[None]:
    """Raise SQLite's errors as ours."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _translate(error, path) from error


def _translate(error: sqlite3.DatabaseError, path: Path) -> StoreError:
    text = str(error)
    if "locked" in text or "busy" in text:
        return StoreBusyError(
            f"The memory at {path} was held by another process for more than {BUSY_S:.0f} s.",
            "Try again; `holdfast status` shows what is running. Nothing was lost.",
        )
    if "full" in text:
        return StoreFullError(
            f"No room left on the disk of {path}.",
            "Free some space and run the same command again; it goes on where it stopped.",
        )
    if "malformed" in text or "not a database" in text or "disk image" in text:
        return StoreCorruptError(
            f"{path} is damaged or not a Holdfast memory: {text}.",
            "Move it aside and put back the newest file of the backups folder beside it; "
            "then run `holdfast ingest`.",
        )
    if "readonly" in text or "unable to open" in text:
        return StoreError(
            f"{path} cannot be opened for writing: {text}.",
            "Check the permissions of the folder, or set HOLDFAST_HOME to another one.",
        )
    return StoreError(f"The memory at {path} failed: {text}.", "Run `holdfast status`.")
