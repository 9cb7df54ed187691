"""A memory on a server. Of one that is opened to be read only, the server refuses writes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from holdfast.errors import StoreError
from holdfast.store.across_tables.erasure import Eraser, Erasure, Scrubber
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.postgres.full_text import PostgresFullText
from holdfast.store.postgres.schema import applied_version, prepare
from holdfast.store.postgres.schema import migrations as own_migrations
from holdfast.store.postgres.vectors import PgVectorIndex
from holdfast.store.protocol import Store
from holdfast.store.sql.database import Database
from holdfast.store.sql.integrity import IntegrityReport, derived_faults
from holdfast.store.sql.migrations import Migrations, check_still

if TYPE_CHECKING:
    from builtins import property as cached_property
else:
    from functools import cached_property

_TABLES = (
    "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
    "AND relkind = 'r' ORDER BY relname"
)
# Of the tables and partitions, those that would be passed over with a mere warning.
_NOT_MAINTAINABLE = (
    "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
    "AND relkind = 'r' AND NOT pg_has_role(current_user, relowner, 'USAGE') "
    "AND NOT CASE WHEN current_setting('server_version_num')::integer >= 170000 "
    "THEN has_table_privilege(oid, 'MAINTAIN') ELSE false END"
)


class PostgresStore(Store):
    """One schema of a database. Any number of processes may have it open."""

    def __init__(
        self,
        url: str,
        migrations: Migrations | None = None,
        busy_s: float | None = None,
        as_it_is: bool = False,
        banks: Sequence[str] | None = None,
        read_only: bool = False,
        lent: bool = False,
    ) -> None:
        """Open a memory, making it if need be. Any thread may use it, one at a time. With `banks`
        it sees and writes those alone: the server enforces that. Opened `as_it_is`, or to be read
        only, its schema is never changed. One that is `lent` checks nothing again."""
        self.server = PostgresConnection(url, banks, busy_s, read_only)
        self._index = PostgresFullText(self.server)
        super().__init__(Database(self.server), self._index, PgVectorIndex(self.server))
        self._opened = (url, migrations, busy_s, as_it_is, banks, read_only)
        self._spare: list[Store] = []
        # Weak, because a search that took too long closes its reader itself.
        self._lent = WeakSet[Store]()
        wanted = migrations or own_migrations()
        self._version = len(wanted)
        try:
            if not lent:
                as_it_is = as_it_is or read_only or banks is not None
                prepare(self.server, self._version, None if as_it_is else wanted)
            self.server.restrict(None)
            if banks is not None:
                self.generation()  # refused where nobody can be kept to them
        except BaseException:
            self.close()
            raise

    def generation(self) -> str:
        return self.server.generation()

    def borrow_reader(self) -> Store | None:
        """One for another thread, with a connection of its own."""
        reader = self._spare.pop() if self._spare else PostgresStore(*self._opened, lent=True)
        reader.database.restrict(self.database.principal)
        self._lent.add(reader)
        return reader

    def return_reader(self, reader: Store) -> None:
        self._lent.discard(reader)
        self._spare.append(reader)

    def interrupt(self) -> None:
        self.server.interrupt()

    def close(self) -> None:
        self.close_readers()
        for reader in self._lent:
            reader.close()
        self.server.close()

    def close_readers(self) -> None:
        """Close those that are lent to nobody."""
        while self._spare:
            self._spare.pop().close()

    @cached_property
    def erasure(self) -> PostgresEraser:
        return PostgresEraser(self)

    @contextmanager
    def transaction(self) -> Generator[None]:
        with self.server.transaction() as begun:
            if begun:  # not where a newer program changed the tables since they were opened
                check_still(applied_version(self.server), self.server.place, self._version)
            yield

    def check_integrity(self) -> IntegrityReport:
        """Check the derived rows. The server checks its pages itself."""
        return IntegrityReport((), (*derived_faults(self.database), *self._index.faults()))


class PostgresEraser(Eraser):
    """The parts of an erasure that are PostgreSQL's."""

    def __init__(self, store: PostgresStore) -> None:
        super().__init__(store)
        self._store = store

    def _prepare(self) -> None:
        """`overwrite_deleted` overwrites all that is deleted."""

    @contextmanager
    def _writable_log(self) -> Generator[None]:
        with self._store.transaction():
            self._store.server.query("SELECT set_config('holdfast.erasing', 'on', true)")
            yield
            self._store.server.query("SELECT set_config('holdfast.erasing', 'off', true)")

    def backups_holding(self, content: Erasure | Scrubber) -> list[Path]:
        """None: backups of a server are made and kept elsewhere."""
        return []

    def overwrite_deleted(self) -> None:
        """Rewrite the tables without what was deleted from them."""
        self._store.close_readers()
        where, values = self._db.in_bank(None, "vector.bank")
        self._store.server.run(
            f"DELETE FROM vector WHERE {where} AND NOT EXISTS (SELECT 1 FROM passage "
            "WHERE passage.bank = vector.bank AND passage.hash = vector.hash)",
            values,
        )
        principal = self._db.principal
        self._db.restrict(None)  # the tables, whoever erased from them
        try:
            self._overwrite()
        finally:
            self._db.restrict(principal)

    def _overwrite(self) -> None:
        if self._store.server.query(_NOT_MAINTAINABLE):
            raise StoreError(
                f"What is gone from {self._store.server.place} was not overwritten on its disk: "
                "that takes the owner of the tables, or a role with the right MAINTAIN.",
                "Let the owner run VACUUM FULL, or see docs/postgres.md.",
            )
        for (table,) in self._store.server.query(_TABLES):
            self._store.server.script(f'VACUUM (FULL) "{table}"')
