"""A connection, with the banks that are meant where a caller names none."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.store.sql.connection import Connection
from holdfast.store.sql.statements import placeholders_for


class Database:
    """What every table class runs its statements over. It does not own the connection.

    `within` are the banks that are meant where a caller names none; None is all of them."""

    def __init__(self, connection: Connection) -> None:
        self.within: Sequence[str] | None = None
        self.dialect = connection.dialect
        self.all = connection.all
        self.one = connection.one
        self.stream = connection.stream
        self.run = connection.run
        self.run_many = connection.run_many
        self.set_visible_banks = connection.set_visible_banks

    def restrict_to_banks(self, banks: Sequence[str] | None) -> None:
        """Mean these banks where none is named (None: all), and see no others."""
        self.within = banks
        self.set_visible_banks(banks)

    def in_bank(self, bank: str | None, column: str = "bank") -> tuple[str, tuple[str, ...]]:
        """The condition that keeps to a bank, or to those that may be seen, and its values. Each
        table of a correlated subquery needs it too: the server plans that for all partitions
        unless the bank is a value."""
        if bank is not None:
            return f"{column} = ?", (bank,)
        if self.within is None:
            return "true", ()
        return f"{column} IN ({placeholders_for(self.within)})", tuple(self.within)

    def bank_ids(self, bank: str | None) -> list[str]:
        """The banks to ask one by one, because every index starts with the bank."""
        if bank is not None:
            return [bank]
        known = [row[0] for row in self.all("SELECT id FROM bank ORDER BY id")]
        return [id for id in known if self.within is None or id in self.within]
