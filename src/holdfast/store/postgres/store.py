"""The PostgreSQL store: reading and writing a memory on a server."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import psycopg

from holdfast.store.across_tables.parts import WriterParts
from holdfast.store.postgres.connection import PostgresConnection, generation
from holdfast.store.postgres.erasure import PostgresEraser
from holdfast.store.postgres.errors import store_error
from holdfast.store.postgres.full_text import PostgresFullText
from holdfast.store.postgres.migrate import (
    applied_version,
    check_current,
    check_row_security,
    migrate,
)
from holdfast.store.postgres.nearest import LIMITS, PgVectorIndex, PgVectorLimits
from holdfast.store.postgres.read_only import ExtraReader
from holdfast.store.postgres.schema import VERSION
from holdfast.store.postgres.schema import migrations as own_migrations
from holdfast.store.postgres.tokens import Tokenizer
from holdfast.store.protocol import ReadStore
from holdfast.store.sql.database import Database
from holdfast.store.sql.integrity import IntegrityReport, derived_faults
from holdfast.store.sql.migrations import Migrations, check_still


class PostgresStore(WriterParts):
    """One schema of a database. Any number of processes may have it open."""

    def __init__(
        self,
        url: str,
        migrations: Migrations | None = None,
        busy_s: float | None = None,
        as_it_is: bool = False,
        banks: Sequence[str] | None = None,
        vector_limits: PgVectorLimits = LIMITS,
    ) -> None:
        """Open a memory, making it if need be. Any thread may use it, one at a time. With `banks`
        it sees and writes those alone: the server enforces that, so the role must be one that row
        security applies to. Opened `as_it_is`, its schema is never changed."""
        self._server = PostgresConnection(url, banks, busy_s)
        self._tokens = Tokenizer()
        self._index = PostgresFullText(self._server, self._tokens)
        super().__init__(
            Database(self._server),
            self._index,
            PgVectorIndex(self._server, vector_limits),
        )
        self.erasure = PostgresEraser(self, self._server, self.transaction, self._close_readers)
        self._opened = (self._tokens, url, banks, busy_s, False, vector_limits)
        self._depth = 0
        self._spare: list[ReadStore] = []
        self._version = known = VERSION if migrations is None else len(migrations)
        try:
            if as_it_is or banks is not None:
                check_current(self._server, known)
            else:
                migrate(self._server, migrations or own_migrations())
            if banks is not None:
                check_row_security(self._server)
        except psycopg.Error as error:
            self.close()
            raise store_error(error, self._server.place) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._close_readers()
        self._server.close()
        self._tokens.close()

    def _close_readers(self) -> None:
        while self._spare:
            self._spare.pop().close()

    def generation(self) -> str:
        return generation(self._server)

    def borrow_reader(self) -> ReadStore | None:
        return self._spare.pop() if self._spare else ExtraReader(*self._opened)

    def return_reader(self, reader: ReadStore) -> None:
        self._spare.append(reader)

    def interrupt(self) -> None:
        self._server.interrupt()

    @contextmanager
    def transaction(self) -> Generator[None]:
        if self._depth:
            yield
            return
        server = self._server
        try:
            server.begin()
            self._depth += 1
            try:
                self._check_still()
                yield
                server.commit()
            finally:
                self._depth -= 1
        except psycopg.Error as error:
            server.roll_back()
            raise store_error(error, server.place) from error
        except BaseException:
            server.roll_back()
            raise

    def _check_still(self) -> None:
        """Refuse to write where a newer program changed the tables since they were opened."""
        check_still(applied_version(self._server), self._server.place, self._version)

    def check_integrity(self) -> IntegrityReport:
        """Check the derived rows. The server checks its pages itself."""
        return IntegrityReport((), (*derived_faults(self.database), *self._index.faults()))
