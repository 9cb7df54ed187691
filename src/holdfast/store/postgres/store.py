"""The PostgreSQL store: reading and writing a memory on a server."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from holdfast.errors import StoreError
from holdfast.model.query import Passage
from holdfast.store.postgres import tokens as words
from holdfast.store.postgres.address import SCHEMA
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.postgres.errors import store_error
from holdfast.store.postgres.extra_reader import ExtraReader
from holdfast.store.postgres.migrate import applied_version, check_current, migrate
from holdfast.store.postgres.nearest import NearestWriter
from holdfast.store.postgres.reader import PostgresReader
from holdfast.store.postgres.schema import VERSION
from holdfast.store.postgres.schema import migrations as own_migrations
from holdfast.store.protocol import ReadStore
from holdfast.store.protocol.curation import Erasure, Scrubber
from holdfast.store.protocol.maintenance import IntegrityReport
from holdfast.store.sql.integrity import IntegrityCheck
from holdfast.store.sql.migrations import Migrations, check_still
from holdfast.store.sql.rows import records
from holdfast.store.sql.statements import placeholders
from holdfast.store.sql.writer import SqlWriter

# Rows that a cursor fetches at a time: few enough to hold, enough to save round trips.
_FETCH_ROWS = 1000
_TABLES = (
    "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
    "AND relkind = 'r' ORDER BY relname"
)
_WHOLE_TABLES = (
    "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
    "AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname"
)
# Of the tables and partitions, those that would be passed over with a mere warning.
_NOT_MAINTAINABLE = (
    "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
    "AND relkind = 'r' AND NOT pg_has_role(current_user, relowner, 'USAGE') "
    "AND NOT CASE WHEN current_setting('server_version_num')::integer >= 170000 "
    "THEN has_table_privilege(oid, 'MAINTAIN') ELSE false END"
)
_WRONG_STATISTICS = (
    "SELECT count(*) FROM (SELECT bank, count(*) AS passages, sum(length) AS words FROM passage "
    "GROUP BY bank) AS held FULL JOIN passage_statistics USING (bank) "
    "WHERE coalesce(held.passages, 0) <> passage_statistics.passages OR coalesce(held.words, 0) "
    "<> passage_statistics.words "
    "OR passage_statistics.bank IS NULL"
)


def check_row_security(connection: PostgresConnection) -> None:
    """Refuse a role that row security does not apply to."""
    ((walled,),) = connection.query("SELECT row_security_active('passage')")
    if not walled:
        raise StoreError(
            f"The role that opens {connection.place} sees every bank.",
            "Use one that neither owns the tables nor is a superuser: docs/postgres.md.",
        )


class PostgresStore(NearestWriter, PostgresReader, SqlWriter, IntegrityCheck):
    """One schema of a database. Any number of processes may have it open."""

    def __init__(
        self,
        url: str,
        migrations: Migrations | None = None,
        busy_s: float | None = None,
        as_it_is: bool = False,
        banks: Sequence[str] | None = None,
        filling: bool = False,
    ) -> None:
        """Open a memory, making it if need be. Any thread may use it, one at a time. With `banks`
        it sees and writes those alone: the server enforces that, so the role must be one that row
        security applies to. Opened `as_it_is`, its schema is never changed. With `filling`, a
        memory can be opened that a move has not finished."""
        self._server = PostgresConnection(url, banks, busy_s)
        self._server.filling = filling
        super().__init__(self._server)
        self._tokens = words.Tokenizer()
        self._opened = (self._tokens, url, banks, busy_s, False)
        self._depth = 0
        self._streams = 0
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
        while self._spare:
            self._spare.pop().close()
        self._server.close()
        self._tokens.close()

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

    def stream(self, statement: str) -> Iterator[Any]:
        """The rows of a query, fetched a few at a time; within a transaction."""
        self._streams += 1
        name = f"stream_{self._streams}"
        self._server.execute(f"DECLARE {name} NO SCROLL CURSOR FOR {statement}")
        while some := self._server.query(f"FETCH {_FETCH_ROWS} FROM {name}"):
            yield from some
        self._server.execute(f"CLOSE {name}")

    def clear(self) -> None:
        """Empty all tables, also the append-only log."""
        with self.transaction():
            found = [name for (name,) in self._server.query(_WHOLE_TABLES)]
            tables = [f'"{name}"' for name in found if name not in ("migration", "change_counter")]
            for table in tables:
                self._server.script(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            self._server.script(f"TRUNCATE {', '.join(tables)}")
            for table in tables:
                self._server.script(f"ALTER TABLE {table} ENABLE TRIGGER USER")

    def put_passages(self, passages: Sequence[Passage]) -> None:
        columns = f"{records.PASSAGE}, scope, words, length"
        texts = [text for p in passages for text in (records.text(p.body), records.text(p.context))]
        cut = self._tokens.tokenize(texts)
        self._run_many(
            f"INSERT INTO passage ({columns}) VALUES ({placeholders(columns)})",
            [
                (
                    *records.passage_row(passage),
                    *words.to_tsvector(records.bank_word(passage.bank), cut[2 * n], cut[2 * n + 1]),
                )
                for n, passage in enumerate(passages)
            ],
        )

    def put_vectors(self, bank: str, model: str, vectors: Iterable[tuple[str, int, bytes]]) -> None:
        some = list(vectors)
        if not self._put_placed(bank, model, some):
            super().put_vectors(bank, model, some)

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """The tokens of texts, as the index has them."""
        return self._tokens.tokenize(texts)

    def check_integrity(self) -> IntegrityReport:
        """Check the derived rows. The server checks its pages itself."""
        return IntegrityReport((), tuple(self._derived_faults()))

    def _index_faults(self) -> list[str]:
        ((wrong,),) = self._server.query(_WRONG_STATISTICS)
        return ["the counts of words do not match the passages"] if wrong else []

    def _rebuild_index(self) -> None:
        """Count passages and words again. The server keeps its indexes itself."""
        self._run("DELETE FROM passage_statistics")
        self._run(
            "INSERT INTO passage_statistics SELECT bank, count(*), sum(length) FROM passage "
            "GROUP BY bank"
        )

    def _prepare_erasure(self) -> None:
        """`overwrite_deleted` overwrites all that is deleted."""

    def _with_writable_log(self, change: Callable[[], None]) -> None:
        with self.transaction():
            self._server.query("SELECT set_config('holdfast.erasing', 'on', true)")
            change()
            self._server.query("SELECT set_config('holdfast.erasing', 'off', true)")

    def backups_holding(self, content: Erasure | Scrubber) -> list[Path]:
        """None: backups of a server are made and kept elsewhere."""
        return []

    def overwrite_deleted(self) -> None:
        """Rewrite the tables without what was deleted from them."""
        while self._spare:
            self._spare.pop().close()
        self._run(
            "DELETE FROM vector WHERE NOT EXISTS (SELECT 1 FROM passage "
            "WHERE passage.bank = vector.bank AND passage.hash = vector.hash)"
        )
        try:
            if self._server.query(_NOT_MAINTAINABLE):
                raise StoreError(
                    f"What is gone from {self._server.place} was not overwritten on its disk: that "
                    "takes the owner of the tables, or a role with the right MAINTAIN.",
                    "Let the owner say VACUUM FULL, or see docs/postgres.md.",
                )
            for (table,) in self._server.query(_TABLES):
                self._server.script(f'VACUUM (FULL) "{table}"')
        except psycopg.Error as error:
            raise store_error(error, self._server.place) from error


def drop(url: str) -> None:
    """Remove a memory with all that is in it, unless it is in the default schema."""
    server = PostgresConnection(url)
    try:
        if server.schema != SCHEMA:
            server.script(f'DROP SCHEMA IF EXISTS "{server.schema}" CASCADE')
    finally:
        server.close()
