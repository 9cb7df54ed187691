"""Moving a whole memory from a file to a server, or back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote, urlsplit

from holdfast.errors import InputError
from holdfast.settings import Settings
from holdfast.store.postgres.moving import Either, Moved, move
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.sqlite.store import SqliteStore

_SERVER = ("postgresql://", "postgres://")
_FILE = "sqlite://"


def move_memory(
    settings: Settings,
    source: str,
    target: str,
    tick: Callable[[int, int], None] = lambda done, total: None,
) -> Moved:
    """Fill an empty memory with all that another one holds, and compare them. The old one stays
    as it is."""
    if source == target:
        raise InputError("Both names mean the same memory.", "Name another one to move to.")
    with (
        closing(_opened(settings, source, there=True)) as old,
        closing(_opened(settings, target, there=False)) as new,
    ):
        return move(old, new, tick)


def _opened(settings: Settings, name: str, there: bool) -> Either:
    if name.startswith(_SERVER):
        return PostgresStore(name)
    if not name.startswith(_FILE):
        raise InputError(
            f"{name.partition('@')[2] or name!r} names no memory.",
            "One is sqlite:///path/to/memory.db, or sqlite:// for that of your home, or "
            "postgresql://user@host/database.",
        )
    parts = urlsplit(name)
    path = Path(unquote(parts.netloc + parts.path)) if name != _FILE else settings.database
    if there and not path.is_file():
        raise InputError(f"There is no memory at {path}.", "Check the path.")
    return SqliteStore(path)
