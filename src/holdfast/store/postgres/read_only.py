"""A memory on a server, opened for reading.

It has no method that writes, and of a `PostgresReadStore` the server refuses writes as well. Code
that gets this cannot change a memory by mistake, nor because a text that it read told it to.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.store.across_tables.parts import ReaderParts
from holdfast.store.postgres.connection import PostgresConnection, generation
from holdfast.store.postgres.full_text import PostgresFullText
from holdfast.store.postgres.migrate import check_current, check_row_security
from holdfast.store.postgres.nearest import LIMITS, PgVectorIndex, PgVectorLimits
from holdfast.store.postgres.schema import VERSION
from holdfast.store.postgres.tokens import Tokenizer
from holdfast.store.protocol import ReadStore
from holdfast.store.sql.database import Database


class ExtraReader(ReaderParts):
    """A reader for a thread of its own: with its own connection, and the tokenizer of the store
    that lends it. Nothing is checked again."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        url: str,
        banks: Sequence[str] | None,
        busy_s: float | None,
        read_only: bool,
        vector_limits: PgVectorLimits = LIMITS,
    ) -> None:
        self._server = server = PostgresConnection(url, banks, busy_s, read_only)
        self._opened = (tokenizer, url, banks, busy_s, read_only, vector_limits)
        super().__init__(
            Database(server),
            PostgresFullText(server, tokenizer),
            PgVectorIndex(server, vector_limits),
        )

    def generation(self) -> str:
        return generation(self._server)

    def borrow_reader(self) -> ReadStore | None:
        return ExtraReader(*self._opened)

    def return_reader(self, reader: ReadStore) -> None:
        reader.close()

    def interrupt(self) -> None:
        self._server.interrupt()

    def close(self) -> None:
        self._server.close()


class PostgresReadStore(ReaderParts):
    """One schema of a database, opened for reading."""

    def __init__(self, url: str, banks: Sequence[str] | None = None) -> None:
        self._server = server = PostgresConnection(url, banks, None, read_only=True)
        self._tokens = Tokenizer()
        super().__init__(
            Database(server),
            PostgresFullText(server, self._tokens),
            PgVectorIndex(server),
        )
        self._opened = (self._tokens, url, banks, None, True)
        self._spare: list[ReadStore] = []
        try:
            check_current(server, VERSION)
            if banks is not None:
                check_row_security(server)
        except BaseException:
            self.close()
            raise

    def generation(self) -> str:
        return generation(self._server)

    def borrow_reader(self) -> ReadStore | None:
        return self._spare.pop() if self._spare else ExtraReader(*self._opened)

    def return_reader(self, reader: ReadStore) -> None:
        self._spare.append(reader)

    def interrupt(self) -> None:
        self._server.interrupt()

    def close(self) -> None:
        while self._spare:
            self._spare.pop().close()
        self._server.close()
        self._tokens.close()
