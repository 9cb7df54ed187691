"""How SQL is run: SQLite's errors become ours on the way out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from pathlib import Path
from typing import Any, Protocol, TypeVar

from holdfast.store.sql.rows import records
from holdfast.store.sqlite.connection import translated

T = TypeVar("T")
# As many values as every build of SQLite takes in one statement, with room for some more.
_VARIABLES = 500


def portions(values: Sequence[T], most: int = _VARIABLES) -> Iterator[Sequence[T]]:
    """Values in their order, as many at a time as one statement takes."""
    return (values[start : start + most] for start in range(0, len(values), most))


def marks_for(values: Sized) -> str:
    """A question mark for each of some values."""
    return ", ".join("?" * len(values))


class Cursor(Protocol):
    """What came of a statement."""

    @property
    def rowcount(self) -> int: ...
    @property
    def lastrowid(self) -> int | None: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """What the statements of this package need of a connection: that of SQLite, or one that
    says them in another engine's words."""

    @property
    def in_transaction(self) -> bool: ...
    @property
    def total_changes(self) -> int: ...
    def execute(self, sql: str, values: Any = ..., /) -> Cursor: ...
    def executemany(self, sql: str, values: Iterable[Any], /) -> Cursor: ...
    def interrupt(self) -> None: ...
    def close(self) -> None: ...


class StatementRunner:
    """A connection that it does not own. `within` are the banks that are meant where none is
    named; None is all of them."""

    within: Sequence[str] | None = None

    def __init__(self, connection: Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def restrict_to_banks(self, banks: Sequence[str] | None) -> None:
        """Mean these banks where none is named, and see no others as far as the engine can see to
        that."""
        self.within = banks
        self.set_visible_banks(banks)

    def set_visible_banks(self, banks: Sequence[str] | None) -> None:
        """See these banks alone, or all; in a file nobody else sees to that."""

    @property
    def connection(self) -> Connection:
        """For those who read or write whole tables."""
        return self._connection

    def _in_bank(self, bank: str | None) -> tuple[str, tuple[str, ...]]:
        """The condition that keeps to a bank, or to those that may be seen, and its values."""
        if bank is not None:
            return "bank = ?", (bank,)
        if self.within is None:
            return "1", ()
        if not self.within:
            return "bank IS NULL", ()  # it never is
        return f"bank IN ({marks_for(self.within)})", tuple(self.within)

    def _bank_ids(self, bank: str | None) -> list[str]:
        """One by one, because every index starts with the bank."""
        if bank is not None:
            return [bank]
        known = [row[0] for row in self._all("SELECT id FROM bank ORDER BY id")]
        return [id for id in known if self.within is None or id in self.within]

    def _all(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with translated(self._path):
            return self._connection.execute(sql, values).fetchall()

    def _one(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        with translated(self._path):
            return self._connection.execute(sql, values).fetchone()

    def _run(self, sql: str, *values: object) -> Cursor:
        with translated(self._path):
            return self._connection.execute(sql, values)

    def _run_many(self, sql: str, values: Iterable[records.Row]) -> None:
        with translated(self._path):
            self._connection.executemany(sql, values)
