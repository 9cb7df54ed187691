"""Opening the file safely, the connection that statements use, and errors a person can act on.

The home is for its owner alone (0700, files 0600). Readers never wait; a writer waits up to
`BUSY_S` for another. SQLite's own errors become ours here and nowhere else.
"""

from __future__ import annotations

import os
import time
from _thread import allocate_lock
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from holdfast.errors import (
    HoldfastError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
)
from holdfast.principal import Level, Principal
from holdfast.store.sql.connection import (
    OTHER_BANK,
    READ_ONLY,
    Row,
    number_too_large,
    outside_limits,
)
from holdfast.store.sql.dialect import SQLITE

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    import sqlite3
    from _thread import LockType
    from pathlib import Path
    from typing import Any, ClassVar
else:
    # `sqlite3` is this, and imports `datetime` for types that no column has.
    import _sqlite3 as sqlite3

# OverflowError: a number that has more than 64 bits.
_FAILED = (sqlite3.DatabaseError, OverflowError)
# How long a writer waits for another one before it gives up.
BUSY_S = 30.0
_RETRY_S = 0.01
# The files of a home; a folder with others may not be ours to close to them.
_OURS = frozenset(
    "config.toml backups vectors hooks events research marks briefs inbox looked worker.lock "
    "asking.lock worker.log".split()
)


# The page cache of a connection of one thread, and of one that threads share. There are many of the
# latter, and the system caches the file anyway.
_OWN_KB, _SHARED_KB = 16_000, 8_000
# How many statements a connection keeps prepared. Deriving and searching use several hundred, each
# again and again; with Python's 128 most are prepared anew each time, a fifth of a rebuild.
_PREPARED_STATEMENTS = 512


def open_database(
    path: Path, busy_s: float = BUSY_S, any_thread: bool = False
) -> sqlite3.Connection:
    """Open a database, making it if need be, readable by its owner alone. One that is there is not
    changed."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_private(path)
    except OSError as error:
        raise StoreError(
            f"Cannot write to {path.parent}: {error.strerror or error}.",
            "Check its permissions, or choose another home with HOLDFAST_HOME.",
        ) from error
    with translated(path):
        connection = sqlite3.connect(
            path,
            timeout=busy_s,
            isolation_level=None,
            check_same_thread=not any_thread,
            cached_statements=_PREPARED_STATEMENTS,
        )
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(f"PRAGMA cache_size = -{_SHARED_KB if any_thread else _OWN_KB}")
        except BaseException:
            connection.close()
            raise
        return connection


def open_to_ask(path: Path, any_thread: bool = False) -> sqlite3.Connection | None:
    """Open a database that cannot be written for reading, or an empty one in memory where there is
    none. Returns None where it can be written: then it is to be opened as usual."""
    if not path.exists():
        return sqlite3.connect(":memory:", isolation_level=None)
    if _is_ours_to_write(path):
        return None
    return open_read_only(path, any_thread)


def open_read_only(path: Path, any_thread: bool = False) -> sqlite3.Connection:
    """Open a database so that nothing in it can be changed."""
    # Without a log of pending writes the file is all there is, and nobody can change it.
    log = path.with_name(path.name + "-wal")
    fixed = not _is_ours_to_write(path) and (not log.exists() or not log.stat().st_size)
    frozen = "&immutable=1" if fixed else ""
    with translated(path):
        uri = f"{path.absolute().as_uri()}?mode=ro{frozen}"
        return sqlite3.connect(
            uri,
            uri=True,
            isolation_level=None,
            check_same_thread=not any_thread,
            cached_statements=_PREPARED_STATEMENTS,
        )


def open_quickly(path: str) -> sqlite3.Connection:
    """Open a database that is there, by its absolute path, so that nothing in it can be changed."""
    for character in "%?#":
        path = path.replace(character, f"%{ord(character):02X}")
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)


def _is_ours_to_write(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def use_wal(connection: sqlite3.Connection, busy_s: float = BUSY_S) -> None:
    """Switch to write-ahead mode, in which readers and a writer work at once. Unlike other
    statements, this one does not wait for a lock by itself."""
    give_up = time.monotonic() + busy_s
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(_RETRY_S)


def make_private(path: Path) -> None:
    """Create a file with owner-only rights before anything else can; SQLite's -wal and -shm
    files take their rights from it."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return


def tighten(path: Path) -> None:
    """Remove the rights of others to our file, and to its folder if it holds only our files."""
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    home = path.parent
    ours = {path.name, f"{path.name}-wal", f"{path.name}-shm", *_OURS}
    if home.stat().st_mode & 0o077 and {entry.name for entry in home.iterdir()} <= ours:
        home.chmod(0o700)


@contextmanager
def translated(path: Path | str) -> Generator[None]:
    """Raise SQLite's errors as ours."""
    try:
        yield
    except _FAILED as error:
        raise _our_error(error, path) from error


class SqliteConnection:
    """SQLite's connection as the statements use it: its errors are raised as ours."""

    dialect = SQLITE

    def __init__(
        self,
        raw: sqlite3.Connection,
        path: Path | str,
        open_another: Callable[[], sqlite3.Connection] | None = None,
    ) -> None:
        self.raw = self._own = raw
        self._path = path
        self._open_another = open_another
        self._fenced: sqlite3.Connection | None = None

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        try:
            return self.raw.execute(self._past_views(sql), values).fetchall()
        except _FAILED as error:
            raise _our_error(error, self._path) from error

    def one(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        try:
            return self.raw.execute(self._past_views(sql), values).fetchone()
        except _FAILED as error:
            raise _our_error(error, self._path) from error

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        with translated(self._path):
            yield from self.raw.execute(sql, values)

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        try:
            return self.raw.execute(self._past_views(sql), values).rowcount
        except _FAILED as error:
            raise _our_error(error, self._path) from error

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        try:
            self.raw.executemany(self._past_views(sql), rows)
        except _FAILED as error:
            raise _our_error(error, self._path) from error

    def _past_views(self, sql: str) -> str:
        if self.raw is self._own:
            return sql

        from holdfast.store.sqlite.fence import past_views

        return past_views(sql)

    def restrict(self, principal: Principal | None) -> None:
        """Use a connection of its own for a principal that may not see or change everything."""
        self.raw = self._own
        if self._open_another is None or principal is None:
            return
        if principal.banks is None and principal.level is not Level.READ:
            return

        from holdfast.store.sqlite.fence import fence, show

        with translated(self._path):
            if self._fenced is None:
                self._fenced = self._open_another()
                fence(self._fenced)
            show(self._fenced, principal)
        self.raw = self._fenced

    def interrupt(self) -> None:
        """Abort the query that another thread is running."""
        for raw in (self._own, self._fenced):
            # One that was closed meanwhile runs nothing.
            with suppress(sqlite3.ProgrammingError):
                if raw is not None:
                    raw.interrupt()

    def close(self) -> None:
        """Close what it opened."""
        if self._fenced is not None:
            self._fenced.close()


class ChangeNumber:
    """A number that changes with every write to a database, by any process, and that all
    connections of this process share. SQLite counts for each connection by itself: what one has
    counted says nothing about another, so a cache that several share would not see a write."""

    _lock: ClassVar[LockType] = allocate_lock()
    _count: ClassVar[int] = 0
    _latest: ClassVar[dict[Path, int]] = {}

    def __init__(self, raw: sqlite3.Connection, path: Path) -> None:
        self._raw = raw
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._number = 0

    def get(self) -> int:
        """The number now. Another connection may be the first to see a write; inside a transaction
        this one still reads what was there before, and keeps its number."""
        row = self._raw.execute("PRAGMA data_version").fetchone()
        seen = (row[0] if row else 0, self._raw.total_changes)
        with self._lock:
            if seen != self._seen:
                self._seen = seen
                ChangeNumber._count += 1
                self._latest[self._path] = self._number = self._count
            elif not self._raw.in_transaction:
                self._number = self._latest[self._path]
            return self._number


def _code(error: sqlite3.Error) -> int:
    """The primary result code, without what extended codes add to it."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF


def _our_error(error: sqlite3.DatabaseError | OverflowError, path: Path | str) -> HoldfastError:
    if str(error) in (OTHER_BANK, READ_ONLY):
        return outside_limits(str(error) == READ_ONLY)
    return number_too_large() if isinstance(error, OverflowError) else store_error(error, path)


def store_error(error: sqlite3.DatabaseError, path: Path | str) -> StoreError:
    """SQLite's error as one that a person can act on."""
    code = _code(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusyError(
            f"Another process locks the memory at {path} for too long.",
            "Try again; `holdfast status` shows what is there. Nothing was lost.",
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreFullError(
            f"Disk full. No room left on the disk of {path}.",
            "Free some space and run the same command again; it resumes where it stopped.",
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return corrupt(path, str(error))
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
        return StoreError(
            f"{path} cannot be opened for writing: {error}.",
            "Check the permissions of the folder, or set HOLDFAST_HOME to another one.",
        )
    return StoreError(f"The memory at {path} failed: {error}.", "Run `holdfast status`.")


def corrupt(path: Path | str, why: str) -> StoreCorruptError:
    """The error for a file that is damaged or not ours."""
    return StoreCorruptError(
        f"{path} is damaged or not a Holdfast memory: {why}.",
        "Run `holdfast doctor --fix`: it keeps the file and restores the latest intact backup, if "
        "there is one.",
    )
