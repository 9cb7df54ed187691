"""Another reader of a memory that is open, for a thread of its own."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.store.postgres import tokens as words
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.postgres.reader import PostgresReader
from holdfast.store.protocol import ReadStore


class ExtraReader(PostgresReader):
    """A reader with a connection of its own and the tokenizer of another one. Nothing is checked
    again."""

    def __init__(
        self,
        tokens: words.Tokenizer,
        url: str,
        banks: Sequence[str] | None,
        busy_s: float | None,
        read_only: bool,
    ) -> None:
        self._server = PostgresConnection(url, banks, busy_s, read_only)
        super().__init__(self._server)
        self._tokens = tokens
        self._opened = (tokens, url, banks, busy_s, read_only)

    def borrow_reader(self) -> ReadStore | None:
        return ExtraReader(*self._opened)

    def return_reader(self, reader: ReadStore) -> None:
        reader.close()

    def interrupt(self) -> None:
        self._server.interrupt()

    def close(self) -> None:
        self._server.close()
