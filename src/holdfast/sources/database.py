"""Queries SQLite databases of other programs, read-only, while those programs write to them.

A database that is locked or damaged raises OSError, as a file that cannot be opened does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic, time
from typing import Any
from urllib.parse import quote

from holdfast.sources.fingerprint import stamp_of

_MAGIC = b"SQLite format 3\x00"
# How long to wait for a lock: the next pass reads again anyway.
_LOCK_TIMEOUT_S = 2.0
# A cached result is at most this old, for databases whose files do not show every change.
_CACHE_S = 60
# What changed within this time may still be written to.
_OPEN_S = 600

# Gives a stamp for each session of a database, by its id.
ReadStamps = Callable[[Path], dict[str, str]]
_cache: dict[tuple[Path, str], tuple[str, dict[str, str]]] = {}


def is_database(path: Path, head: bytes | None = None) -> bool:
    """Whether a file is a database, by its first bytes."""
    if head is None:
        try:
            with path.open("rb") as file:
                head = file.read(len(_MAGIC))
        except OSError:
            return False
    return head.startswith(_MAGIC)


def query(path: Path, sql: str, *parameters: object) -> list[Any]:
    """The rows of a query; raises OSError where the database cannot be read."""
    address = f"file:{quote(str(path))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=_LOCK_TIMEOUT_S)) as connection:
            return connection.execute(sql, parameters).fetchall()
    except sqlite3.Error as error:
        raise OSError(f"{path} cannot be read: {error}") from error


def find_sessions(path: Path, read: ReadStamps, problems: list[str]) -> Iterator[Path]:
    """Every session of a database, as a path into it. That it cannot be read is a problem."""
    try:
        yield from (path / id for id in cached(path, read))
    except OSError as error:
        problems.append(f"{path}: {error}")


def session_stamp(path: Path, read: ReadStamps) -> str:
    """The stamp of one session; raises OSError where it does not exist."""
    stamps = cached(path.parent, read)
    if path.name not in stamps:
        raise FileNotFoundError(f"{path} is not there")
    return stamps[path.name]


def is_open(changed_s: float) -> bool:
    """Whether what changed at some Unix time may still be written to."""
    return abs(time() - changed_s) < _OPEN_S


def cached(path: Path, read: ReadStamps, name: str = "stamps") -> dict[str, str]:
    """What `read` gives for a database, read again only when its files change or a minute has
    passed: every session of the database asks for it in turn."""
    log = path.with_name(f"{path.name}-wal")
    state = f"{stamp_of(path.stat())}:{stamp_of(log.stat()) if log.exists() else ''}"
    state = f"{state}:{int(monotonic() / _CACHE_S)}"
    entry = _cache.get((path, name))
    if entry is None or entry[0] != state:
        entry = _cache[path, name] = (state, read(path))
    return entry[1]
