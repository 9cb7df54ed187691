"""What PostgreSQL leaves behind of deleted rows."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psycopg

from holdfast.errors import StoreError, StoreUnavailableError
from holdfast.store.across_tables.erasure import Eraser, Erasure, Scrubber
from holdfast.store.across_tables.parts import WriterParts
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.postgres.errors import store_error
from holdfast.store.postgres.extension import find_out, guard_of
from holdfast.store.postgres.nearest import HNSW_INDEXES
from holdfast.store.postgres.transaction import NotRepeatedError

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


class PostgresEraser(Eraser):
    """The parts of an erasure that are PostgreSQL's."""

    def __init__(
        self,
        parts: WriterParts,
        server: PostgresConnection,
        transaction: Callable[[], AbstractContextManager[None]],
        close_readers: Callable[[], None],
    ) -> None:
        super().__init__(parts)
        self._server = server
        self._transaction = transaction
        self._close_readers = close_readers

    def _prepare(self) -> None:
        """`overwrite_deleted` overwrites all that is deleted."""

    @contextmanager
    def _writable_log(self) -> Generator[None]:
        with self._transaction():
            self._server.query("SELECT set_config('holdfast.erasing', 'on', true)")
            yield
            self._server.query("SELECT set_config('holdfast.erasing', 'off', true)")

    def backups_holding(self, content: Erasure | Scrubber) -> list[Path]:
        """None: backups of a server are made and kept elsewhere."""
        return []

    def overwrite_deleted(self) -> None:
        """Rewrite the tables without what was deleted from them."""
        self._close_readers()
        where, values = self._db.in_bank(None, "vector.bank")
        self._server.run(
            f"DELETE FROM vector WHERE {where} AND NOT EXISTS (SELECT 1 FROM passage "
            "WHERE passage.bank = vector.bank AND passage.hash = vector.hash)",
            values,
        )
        try:
            if self._server.query(_NOT_MAINTAINABLE):
                raise StoreError(
                    f"What is gone from {self._server.place} was not overwritten on its disk: that "
                    "takes the owner of the tables, or a role with the right MAINTAIN.",
                    "Let the owner run VACUUM FULL, or see docs/postgres.md.",
                )
            indexed = {table for _, table in self._server.query(HNSW_INDEXES)}
            for (table,) in self._server.query(_TABLES):
                if table in indexed:
                    self._rewrite_indexed(table)
                else:
                    self._server.script(f'VACUUM (FULL) "{table}"')
        except psycopg.Error as error:
            raise store_error(error, self._server.place) from error

    def _rewrite_indexed(self, table: str) -> None:
        """Rewrite a table with an index of vectors, for which the server compares them."""
        find_out(self._server)
        try:
            self._server.script(f'VACUUM (FULL) "{table}"', guard_of(self._server))
        except NotRepeatedError as error:
            find_out(self._server)
            raise StoreUnavailableError(
                f"What is gone from {self._server.place} was not overwritten in {table}: its "
                "server crashes when it compares vectors.",
                "Let the owner of the tables run `holdfast status`, which drops the indexes of "
                "vectors, then do it again.",
            ) from error
