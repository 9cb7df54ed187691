"""How SQL is run: SQLite's errors become ours on the way out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from holdfast.store.sqlite import rows
from holdfast.store.sqlite.connection import translated


class Asking:
    """A connection that it does not own."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def _all(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with translated(self._path):
            return self._connection.execute(sql, values).fetchall()

    def _one(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        with translated(self._path):
            return self._connection.execute(sql, values).fetchone()

    def _run(self, sql: str, *values: object) -> sqlite3.Cursor:
        with translated(self._path):
            return self._connection.execute(sql, values)

    def _run_many(self, sql: str, values: Iterable[rows.Row]) -> None:
        with translated(self._path):
            self._connection.executemany(sql, values)


def in_bank(bank: str | None) -> tuple[str, tuple[str, ...]]:
    """The condition that keeps to a bank, and its values."""
    return ("1", ()) if bank is None else ("bank = ?", (bank,))
