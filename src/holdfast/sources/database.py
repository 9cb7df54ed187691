"""Databases of other programs, only read, while those write to them.

A look never waits long and never writes: a database that is locked or broken is as good as a file
that cannot be opened just now.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote

from holdfast.sources.file_stamp import stamp_of

_MAGIC = b"SQLite format 3\x00"
_PATIENCE_S = 2.0
_FRESH_S = 60

_kept: dict[tuple[Path, str], tuple[str, dict[str, str]]] = {}


def is_database(path: Path, head: bytes | None = None) -> bool:
    """Whether a file is a database, by its first bytes."""
    if head is None:
        try:
            with path.open("rb") as file:
                head = file.read(len(_MAGIC))
        except OSError:
            return False
    return head.startswith(_MAGIC)


def rows(path: Path, question: str, *given: object) -> Iterator[Any]:
    """What a database answers; raises OSError where it cannot."""
    try:
        yield from _ask(path, "mode=ro", question, given)
    except sqlite3.Error as error:
        raise OSError(f"{path} cannot be read: {error}") from error


def _ask(path: Path, mode: str, question: str, given: tuple[object, ...]) -> list[Any]:
    address = f"file:{quote(str(path))}?{mode}"
    with closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE_S)) as connection:
        return connection.execute(question, given).fetchall()


def kept(
    path: Path, told: Callable[[Path], dict[str, str]], what: str = "stamps"
) -> dict[str, str]:
    """What a database tells of each of its sessions, asked anew only when its files changed, or
    the minute: all of them are looked at one after the other."""
    log = path.with_name(f"{path.name}-wal")
    now = f"{stamp_of(path.stat())}:{stamp_of(log.stat()) if log.exists() else ''}"
    now = f"{now}:{int(monotonic() / _FRESH_S)}"
    known = _kept.get((path, what))
    if known is None or known[0] != now:
        known = _kept[path, what] = (now, told(path))
    return known[1]
