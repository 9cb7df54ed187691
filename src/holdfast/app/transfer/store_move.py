"""Moving a whole memory from a SQLite file to a PostgreSQL server, or back. Copying the rows is in
`holdfast.store.postgres.move`."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from holdfast.errors import InputError
from holdfast.operating_system import replace_file
from holdfast.settings import Settings
from holdfast.store.postgres.address import location_of
from holdfast.store.postgres.move import AnyStore, MoveResult, move
from holdfast.store.postgres.move_progress import OutdatedMoveError
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.sqlite.store import SqliteStore

_SERVER_SCHEMES = ("postgresql://", "postgres://")
_FILE_SCHEME = "sqlite://"
# The suffixes of a database and of the files that SQLite may keep beside it.
_SUFFIXES = ("", "-wal", "-shm")


def move_memory(
    settings: Settings,
    source: str,
    target: str,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> MoveResult:
    """Copy all of one memory into another, which must be empty or hold an interrupted move, and
    compare both. The source is not changed."""
    if source == target:
        raise InputError("Source and target are the same memory.", "Choose another target.")
    try:
        return _copy(settings, source, target, on_progress)
    except OutdatedMoveError:
        _discard_unfinished(settings, target)
        return _copy(settings, source, target, on_progress)


def _copy(
    settings: Settings, source: str, target: str, on_progress: Callable[[int, int], None]
) -> MoveResult:
    name = str(_database_path(settings, source) or location_of(source))
    with closing(_open_source(settings, source)) as old, _open_target(settings, target) as new:
        return move(old, new, name, on_progress)


def _discard_unfinished(settings: Settings, name: str) -> None:
    """Delete the target of an interrupted move."""
    path = _database_path(settings, name)
    if path is None:
        with closing(PostgresStore(name, filling=True)) as server:
            server.clear()
        return
    for suffix in _SUFFIXES:
        _unfinished(path, suffix).unlink(missing_ok=True)


def _open_source(settings: Settings, name: str) -> AnyStore:
    path = _database_path(settings, name)
    if path is None:
        return PostgresStore(name)
    if not path.is_file():
        raise InputError(f"There is no memory at {path}.", "Check the path.")
    return SqliteStore(path)


@contextmanager
def _open_target(settings: Settings, name: str) -> Generator[AnyStore]:
    """A memory to fill. A file is written under a temporary name and renamed in the end."""
    path = _database_path(settings, name)
    if path is None:
        with closing(PostgresStore(name, filling=True)) as server:
            yield server
        return
    if path.exists():
        with closing(SqliteStore(path)) as existing:
            if existing.banks.all():
                raise InputError(
                    "The target memory is not empty.", "Name a new database, or another file."
                )
    with closing(SqliteStore(_unfinished(path))) as file:
        yield file
        file.settle()
    for suffix in _SUFFIXES[1:]:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    replace_file(_unfinished(path), path)


def _unfinished(path: Path, suffix: str = "") -> Path:
    return path.with_name(f"{path.name}.moving{suffix}")


def _database_path(settings: Settings, name: str) -> Path | None:
    """The database file that a name means; None for a server."""
    if name.startswith(_SERVER_SCHEMES):
        return None
    if not name.startswith(_FILE_SCHEME):
        raise InputError(
            f"{name.partition('@')[2] or name!r} is not the address of a memory.",
            "One is sqlite:///path/to/memory.db, or sqlite:// for the one in ~/.holdfast, or "
            "postgresql://user@host/database.",
        )
    parts = urlsplit(name)
    return Path(unquote(parts.netloc + parts.path)) if name != _FILE_SCHEME else settings.database
