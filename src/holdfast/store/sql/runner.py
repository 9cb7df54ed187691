"""The base of all readers and writers: a connection, and the banks that are meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.store.sql.connection import Connection, Row
from holdfast.store.sql.statements import placeholders_for


class StatementRunner:
    """Runs statements over a connection that it does not own.

    `within` are the banks that are meant where a caller names none; None is all of them."""

    within: Sequence[str] | None = None

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._dialect = connection.dialect

    def restrict_to_banks(self, banks: Sequence[str] | None) -> None:
        """Mean these banks where none is named, and let the engine show no others if it can."""
        self.within = banks
        self.set_visible_banks(banks)

    def set_visible_banks(self, banks: Sequence[str] | None) -> None:
        """Let the engine itself show these banks alone, or all. SQLite cannot."""

    @property
    def connection(self) -> Connection:
        """For those who read or write whole tables."""
        return self._connection

    def _in_bank(self, bank: str | None) -> tuple[str, tuple[str, ...]]:
        """The condition that keeps to a bank, or to those that may be seen, and its values."""
        if bank is not None:
            return "bank = ?", (bank,)
        if self.within is None:
            return "true", ()
        return f"bank IN ({placeholders_for(self.within)})", tuple(self.within)

    def _bank_ids(self, bank: str | None) -> list[str]:
        """The banks to ask one by one, because every index starts with the bank."""
        if bank is not None:
            return [bank]
        known = [row[0] for row in self._all("SELECT id FROM bank ORDER BY id")]
        return [id for id in known if self.within is None or id in self.within]

    def _all(self, sql: str, *values: object) -> list[Row]:
        return self._connection.all(sql, values)

    def _one(self, sql: str, *values: object) -> Row | None:
        return self._connection.one(sql, values)

    def _stream(self, sql: str, *values: object) -> Iterator[Row]:
        return self._connection.stream(sql, values)

    def _run(self, sql: str, *values: object) -> int:
        return self._connection.run(sql, values)

    def _run_many(self, sql: str, rows: Iterable[Row]) -> None:
        self._connection.run_many(sql, rows)
