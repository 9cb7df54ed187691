"""The SQLite store: reading and writing a memory in one file."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import StoreCorruptError, StoreError
from holdfast.store.protocol import Store
from holdfast.store.sql.database import Database
from holdfast.store.sql.migrations import Migrations, check_still
from holdfast.store.sqlite.connection import (
    BUSY_S,
    ChangeNumber,
    SqliteConnection,
    open_database,
    open_to_ask,
    tighten,
    translated,
    use_wal,
)
from holdfast.store.sqlite.full_text import SqliteFullText
from holdfast.store.sqlite.migrate import (
    check_current,
    check_ours,
    is_of_old_numbering,
    migrate,
    version_of,
)
from holdfast.store.sqlite.schema import VERSION
from holdfast.store.sqlite.schema import migrations as own_migrations

if TYPE_CHECKING:
    from builtins import property as cached_property

    from holdfast.store.sql.integrity import IntegrityReport
    from holdfast.store.sqlite.erasure import SqliteEraser
else:
    from functools import cached_property

# How many faults of a sort are reported; a damaged file has thousands, and five show what it is.
_MAX_FAULTS = 5


class SqliteStore(Store):
    """One file. Any number of processes may have it open."""

    def __init__(
        self,
        path: Path,
        migrations: Migrations | None = None,
        busy_s: float = BUSY_S,
        create: bool = True,
        any_thread: bool = False,
        as_it_is: bool = False,
    ) -> None:
        """Open a memory. Without `create` nothing is made on disk: a missing memory is an
        empty one, and one that cannot be written can still be asked. One thread at a time may
        use it: the one that opened it, unless it is for `any_thread`. A memory of an older
        version is brought up to date, which may take long; it is refused `as_it_is`, or where it
        cannot be written."""
        existed = path.exists()
        asking = None if create else open_to_ask(path, any_thread)
        connection = asking or open_database(path, busy_s, any_thread)
        self._raw = connection
        self._path = path
        self._changes = ChangeNumber(connection, path)
        self._connection = SqliteConnection(
            connection,
            path,
            (lambda: open_to_ask(path, any_thread) or open_database(path, busy_s, any_thread))
            if path.exists()
            else None,
        )
        db = Database(self._connection)
        self._index = SqliteFullText(db)
        super().__init__(db, self._index, None)
        self._depth = 0
        self._spare: list[Store] = []
        self._is_closed = False
        known = VERSION if migrations is None else len(migrations)
        try:
            with translated(path):
                check_ours(connection, path, known)
                if as_it_is:
                    check_current(connection, path, known)
                older = version_of(connection) < known or is_of_old_numbering(connection)
                if existed and asking is not None and older:
                    raise StoreError(
                        f"The memory at {path} is of an older version and cannot be written.",
                        "Make the file and its folder writable, or copy it elsewhere and open it "
                        "there: that brings it up to date.",
                    )
                if asking is None:
                    tighten(path)
                    use_wal(connection, busy_s)
                if is_of_old_numbering(connection):
                    from holdfast.store.sqlite.upgrade import upgrade

                    upgrade(connection, path, own_migrations(), busy_s)
                if version_of(connection) < known:
                    migrate(connection, path, migrations or own_migrations())
                self._version = version_of(connection)
        except BaseException:
            connection.close()
            raise

    @cached_property
    def erasure(self) -> SqliteEraser:
        from holdfast.store.sqlite.erasure import SqliteEraser

        return SqliteEraser(self, self._raw, self._path, self._close_readers)

    def close(self) -> None:
        self._is_closed = True
        self._close_readers()
        self._connection.close()
        self._raw.close()

    def _close_readers(self) -> None:
        while self._spare:
            self._spare.pop().close()

    def settle(self) -> None:
        """Write the log of pending writes into the file, unless another process reads it. After
        that, closing changes no file."""
        self._raw.execute("PRAGMA busy_timeout = 100")
        self._raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def borrow_reader(self) -> Store | None:
        if not self._spare and not self._path.exists():
            return None
        reader = (
            self._spare.pop()
            if self._spare
            else SqliteStore(self._path, create=False, any_thread=True)
        )
        reader.database.restrict(self.database.principal)
        return reader

    def return_reader(self, reader: Store) -> None:
        """Keep it for the next one, unless this store was closed before a slow search ended."""
        if self._is_closed:
            reader.close()
        else:
            self._spare.append(reader)

    def generation(self) -> str:
        return str(self._changes.get())

    def check_integrity(self) -> IntegrityReport:
        """Check pages, references and the index, and if they are sound what was derived."""
        from holdfast.store.sql.integrity import IntegrityReport, derived_faults

        run = self.database.all
        try:
            lines = [str(row[0]) for row in run(f"PRAGMA quick_check({_MAX_FAULTS})")]
            damaged = [line for line in lines if line != "ok"]
            strays = run("PRAGMA foreign_key_check")[:_MAX_FAULTS]
            damaged += [f"a row of {row[0]} refers to nothing" for row in strays]
            derived = [] if damaged else derived_faults(self.database) + self._index.faults()
            return IntegrityReport(tuple(damaged), tuple(derived))
        except StoreCorruptError as error:
            return IntegrityReport((error.message,))

    def interrupt(self) -> None:
        self._connection.interrupt()

    @contextmanager
    def transaction(self) -> Generator[None]:
        with translated(self._path):
            if self._depth:
                yield
                return
            self._connection.raw.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                self._check_still()
                yield
                self._connection.raw.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            finally:
                self._depth -= 1

    def _check_still(self) -> None:
        row = self._connection.raw.execute("PRAGMA user_version").fetchone()
        check_still(int(row[0]), self._path, self._version)

    def _roll_back(self) -> None:
        # SQLite rolls back by itself when the disk is full; a second time is an error.
        if self._connection.raw.in_transaction:
            self._connection.raw.execute("ROLLBACK")
