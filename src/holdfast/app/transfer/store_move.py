"""Moving a whole memory from a file to a server, or back."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from holdfast.errors import InputError
from holdfast.settings import Settings
from holdfast.store.postgres.address import location_of
from holdfast.store.postgres.move import AnyStore, MoveResult, move
from holdfast.store.postgres.move_progress import OutdatedMoveError
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.sqlite.store import SqliteStore

_SERVER = ("postgresql://", "postgres://")
_FILE = "sqlite://"
# A database and what SQLite may keep beside it.
_ENDS = ("", "-wal", "-shm")


def move_memory(
    settings: Settings,
    source: str,
    target: str,
    tick: Callable[[int, int], None] = lambda done, total: None,
) -> MoveResult:
    """Fill an empty memory with all that another one holds, or go on doing so, and compare them.
    The old one stays as it is."""
    if source == target:
        raise InputError("Both names mean the same memory.", "Name another one to move to.")
    try:
        return _moved(settings, source, target, tick)
    except OutdatedMoveError:
        _clear(settings, target)
        return _moved(settings, source, target, tick)


def _moved(
    settings: Settings, source: str, target: str, tick: Callable[[int, int], None]
) -> MoveResult:
    name = str(_path_of(settings, source) or location_of(source))
    with closing(_opened(settings, source)) as old, _filled(settings, target) as new:
        return move(old, new, name, tick)


def _clear(settings: Settings, name: str) -> None:
    """Throw away what was begun."""
    path = _path_of(settings, name)
    if path is None:
        with closing(PostgresStore(name, filling=True)) as server:
            server.clear()
        return
    for end in _ENDS:
        _beside(path, end).unlink(missing_ok=True)


def _opened(settings: Settings, name: str) -> AnyStore:
    path = _path_of(settings, name)
    if path is None:
        return PostgresStore(name)
    if not path.is_file():
        raise InputError(f"There is no memory at {path}.", "Check the path.")
    return SqliteStore(path)


@contextmanager
def _filled(settings: Settings, name: str) -> Generator[AnyStore]:
    """A memory to fill. A file gets its name when it is full."""
    path = _path_of(settings, name)
    if path is None:
        with closing(PostgresStore(name, filling=True)) as server:
            yield server
        return
    if path.exists():
        with closing(SqliteStore(path)) as there:
            if there.banks():
                raise InputError(
                    "The memory to move to is not empty.", "Name a new database, or another file."
                )
    with closing(SqliteStore(_beside(path))) as file:
        yield file
        file.settle()
    for end in _ENDS[1:]:
        path.with_name(path.name + end).unlink(missing_ok=True)
    _beside(path).replace(path)


def _beside(path: Path, end: str = "") -> Path:
    return path.with_name(f"{path.name}.moving{end}")


def _path_of(settings: Settings, name: str) -> Path | None:
    """The file that is meant; None for a server."""
    if name.startswith(_SERVER):
        return None
    if not name.startswith(_FILE):
        raise InputError(
            f"{name.partition('@')[2] or name!r} names no memory.",
            "One is sqlite:///path/to/memory.db, or sqlite:// for that of your home, or "
            "postgresql://user@host/database.",
        )
    parts = urlsplit(name)
    return Path(unquote(parts.netloc + parts.path)) if name != _FILE else settings.database
