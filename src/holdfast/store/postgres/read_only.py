"""A memory on a server, opened for reading alone.

It has no method that writes, and the server refuses writes on its connection. Code that gets this
cannot change a memory by mistake, nor because a text that it read told it to.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.store.postgres import tokens
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.postgres.extra_reader import ExtraReader
from holdfast.store.postgres.migrate import check_current
from holdfast.store.postgres.reader import PostgresReader
from holdfast.store.postgres.schema import VERSION
from holdfast.store.postgres.store import check_row_security
from holdfast.store.protocol import ReadStore


class PostgresReadStore(PostgresReader):
    """One schema of a database, opened for reading."""

    def __init__(self, url: str, banks: Sequence[str] | None = None) -> None:
        self._server = PostgresConnection(url, banks, None, read_only=True)
        super().__init__(self._server)
        self._tokens = tokens.Tokenizer()
        self._opened = (self._tokens, url, banks, None, True)
        self._spare: list[ReadStore] = []
        try:
            check_current(self._server, VERSION)
            if banks is not None:
                check_row_security(self._server)
        except BaseException:
            self.close()
            raise

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
