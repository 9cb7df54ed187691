"""A connection to the server as the statements of `store.sql` use it, and its errors as ours.

One writer at a time, as in the file: a transaction that writes holds a lock of the schema's. It
has a connection of the pool only while it asks or writes. What is lost on the way is done again
only where that cannot do anything twice (`unit`); else the caller is told that nothing was
written.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, LiteralString, cast

import psycopg

from holdfast.errors import StoreBusyError, StoreError
from holdfast.store.postgres.address import location_of, read_address
from holdfast.store.postgres.errors import store_error
from holdfast.store.postgres.pool import BANK_SEPARATOR, EVERY_BANK, NULL, Pool, PooledConnection, release_pool, shared_pool
from holdfast.store.postgres.transaction import Result, Rows, ReplayableTransaction, run_query
from holdfast.store.sql.connection import Row
from holdfast.store.sql.dialect import POSTGRES


class PostgresConnection:
    """One way to a memory; threads use it one at a time.

    The statements that both engines run come through `all` to `run_many`, with `?` for values;
    those of PostgreSQL alone through `query`, `execute` and `execute_many`, with `%s`."""

    dialect = POSTGRES

    def __init__(
        self,
        url: str,
        banks: Sequence[str] | None = None,
        busy_s: float | None = None,
        read_only: bool = False,
    ) -> None:
        address = read_address(url, busy_s)
        settings = {
            "search_path": f'"{address.schema}"',
            # A plan made for empty tables would be kept while they fill.
            "plan_cache_mode": "force_custom_plan",
            # Searches in an index of vectors go on until enough of what is wanted is found.
            "hnsw.iterative_scan": "relaxed_order",
            "hnsw.ef_search": "200",
            "lock_timeout": f"{int(address.wait_s * 1000)}ms",
            "default_transaction_read_only": "on" if read_only else "off",
        }
        # What it sees at most, and now.
        self._banks = banks
        self._sees = _named(banks)
        self.place = location_of(url)
        self.schema = address.schema
        self.partitions = address.partitions
        # Whether this is who fills a memory that nobody else may open yet.
        self.filling = False
        self._pool = shared_pool(address, settings, self)
        self._changes = 0
        self._changed_before = 0
        self._unit: ReplayableTransaction | None = None
        # Of what is being asked right now, so that it can be broken off.
        self._asking: PooledConnection | None = None
        self._broken_off = False
        self._guard = threading.Lock()
        try:
            run_query(self._pool, self._sees, "SELECT 1", [[]])
        except psycopg.Error as error:
            release_pool(self._pool, self)
            raise store_error(error, self.place) from error
        except StoreError:
            release_pool(self._pool, self)
            raise

    @property
    def pool(self) -> Pool:
        """The connections that it shares with others."""
        return self._pool

    def keep_to(self, banks: Sequence[str] | None) -> None:
        """Let the server show these banks alone, from now on; None is all that it was opened
        for."""
        if banks is not None and self._banks is not None:
            banks = [bank for bank in banks if bank in self._banks]
        self._sees = _named(self._banks if banks is None else banks)

    @property
    def in_transaction(self) -> bool:
        return self._unit is not None

    @property
    def total_changes(self) -> int:
        return self._changes

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        return self._run(_with_percent(sql), [_cells(values)], many=False).rows

    def one(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        rows = self.all(sql, values)
        return rows[0] if rows else None

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        return iter(self.all(sql, values))

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        return self._run(_with_percent(sql), [_cells(values)], many=False).affected

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        self._run(_with_percent(sql), [_cells(row) for row in rows], many=True)

    def query(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """The rows of a query of PostgreSQL's."""
        return self._run(sql, [_cells(values)], many=False).rows

    def execute(self, sql: str, values: Sequence[object] = ()) -> None:
        """Run a statement of PostgreSQL's."""
        self._run(sql, [_cells(values)], many=False)

    def execute_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run it once for each row of values."""
        self._run(sql, [_cells(row) for row in rows], many=True)

    def _run(self, statement: str, rows: Rows, many: bool) -> Result:
        words = cast(LiteralString, statement)
        try:
            if self._unit is not None:
                return self._step(self._unit, words, rows, many)
            if _is_question(words):
                return run_query(self._pool, self._sees, words, rows, self._hold)
            return self._alone(words, rows, many)
        except psycopg.Error as error:
            raise store_error(error, self.place) from error

    def _step(self, unit: ReplayableTransaction, words: LiteralString, rows: Rows, many: bool) -> Result:
        unit.set_visible_banks(self._sees)
        came = unit.run(words, rows, many)
        if not _is_question(words):
            self._changes += max(0, came.affected)
        return came

    def _alone(self, words: LiteralString, rows: Rows, many: bool) -> Result:
        """A statement that writes, by itself."""
        try:
            unit = self.begin()
            came = self._step(unit, words, rows, many)
            self.commit()
            return came
        except BaseException:
            self.roll_back()
            raise

    def begin(self) -> ReplayableTransaction:
        """Wait for other writers and begin."""
        if not self._pool.writing.acquire(timeout=self._pool.wait_s):
            raise StoreBusyError(
                f"Something else of this program writes to {self.place} for too long.",
                "Try again; nothing was written.",
            )
        try:
            self._unit = ReplayableTransaction(self._pool, self._sees)
        except BaseException:
            self._pool.writing.release()
            raise
        self._changed_before = self._changes
        return self._unit

    def commit(self) -> None:
        """Let it stand, and let those who remember what they read know that it changed."""
        unit = self._unit
        assert unit is not None
        if self._changes != self._changed_before:
            unit.run("UPDATE change_counter SET number = number + 1", [[]], False)
        unit.commit()
        self._end()

    def roll_back(self) -> None:
        """As if it had not been."""
        if self._unit is not None:
            try:
                self._unit.roll_back()
            finally:
                self._end()

    def _end(self) -> None:
        self._unit = None
        self._pool.writing.release()

    def interrupt(self) -> None:
        """Break off what is being asked. What it was asked over is not used again: the word to
        stop may arrive late, and would break off something else."""
        with self._guard:
            if self._unit is not None:
                self._unit.interrupt()
            elif self._asking is not None and not self._asking.closed:
                self._broken_off = True
                self._asking.cancel_safe()

    def _hold(self, raw: PooledConnection | None) -> bool:
        with self._guard:
            sound, self._broken_off = not self._broken_off, False
            self._asking = raw
            return sound

    def close(self) -> None:
        self.roll_back()
        release_pool(self._pool, self)

    @contextmanager
    def changing_tables(self) -> Generator[None]:
        """A transaction that waits for no other writer and counts for none."""
        unit = self._unit = ReplayableTransaction(self._pool, self._sees, lock=False)
        try:
            yield
            unit.commit()
        except BaseException:
            unit.roll_back()
            raise
        finally:
            self._unit = None

    def script(self, statements: str) -> None:
        """Statements in PostgreSQL's own words, as they are."""
        if self._unit is not None:
            self._unit.script(statements)
            return
        try:
            raw = self._pool.lease(self._sees)
            try:
                raw.execute(cast(LiteralString, statements))
            finally:
                self._pool.release(raw)
        except psycopg.Error as error:
            raise store_error(error, self.place) from error


def _named(banks: Sequence[str] | None) -> str:
    """Banks as the server is told them; one whose name would mean others is none."""
    if banks is None:
        return EVERY_BANK
    return BANK_SEPARATOR.join(bank for bank in banks if bank != EVERY_BANK and BANK_SEPARATOR not in bank)


@lru_cache(maxsize=4096)
def _with_percent(sql: str) -> str:
    """A statement with psycopg's placeholders instead of question marks."""
    return sql.replace("%", "%%").replace("?", "%s")


def _is_question(words: str) -> bool:
    if words.startswith("WITH"):
        return "INSERT INTO" not in words
    return words.startswith(("SELECT", "DECLARE", "FETCH", "CLOSE"))


def _cells(row: Sequence[Any]) -> list[Any]:
    return [_cell(value) for value in row]


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", NULL) if "\x00" in value else value
    return int(value) if isinstance(value, bool) else value
