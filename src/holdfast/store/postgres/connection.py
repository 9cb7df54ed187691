"""A connection to the server as the statements of `store.sql` use it, and its errors as ours.

One writer at a time, as in the file: a transaction that writes holds a lock of the schema. It has a
connection of the pool only while it reads or writes. What was lost with a connection is done again
only where that cannot write anything twice (`transaction`).
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
from holdfast.store.postgres.pool import (
    BANK_SEPARATOR,
    EVERY_BANK,
    NULL,
    Pool,
    PooledConnection,
    release_pool,
    shared_pool,
)
from holdfast.store.postgres.transaction import (
    ReplayableTransaction,
    Result,
    Rows,
    cancel,
    run_query,
)
from holdfast.store.sql.connection import Row
from holdfast.store.sql.dialect import POSTGRES


class PostgresConnection:
    """One way to a memory; threads use it one at a time.

    The statements that both engines run come through `all` to `run_many`, with `?` for values;
    those of PostgreSQL alone through `query` and `execute_many`, with `%s`."""

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
        # The banks that it may see, and those that it sees now.
        self._allowed_banks = banks
        self._visible_banks = _bank_list(banks)
        self.place = location_of(url)
        self.schema = address.schema
        self.partitions = address.partitions
        self._pool = shared_pool(address, settings, self)
        self._changes = 0
        self._changed_before = 0
        self._transaction: ReplayableTransaction | None = None
        # The connection of the query that is running, so that it can be cancelled.
        self._running: PooledConnection | None = None
        self._cancelled = False
        self._guard = threading.Lock()
        try:
            run_query(self._pool, self._visible_banks, "SELECT 1", [[]])
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

    def set_visible_banks(self, banks: Sequence[str] | None) -> None:
        """Let the server show these banks alone from now on; None is all that it was opened for."""
        if banks is not None and self._allowed_banks is not None:
            banks = [bank for bank in banks if bank in self._allowed_banks]
        self._visible_banks = _bank_list(self._allowed_banks if banks is None else banks)

    @property
    def in_transaction(self) -> bool:
        return self._transaction is not None

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

    def query(self, sql: str, values: Sequence[object] = (), guard: str = "") -> list[Row]:
        """Run a statement of PostgreSQL's; returns its rows, if it has any. With a `guard` it is
        never repeated (`transaction`), but raises `NotRepeatedError`."""
        return self._run(sql, [_cells(values)], many=False, guard=guard).rows

    def execute_many(self, sql: str, rows: Sequence[Sequence[object]], guard: str = "") -> None:
        """Run it once for each row of values."""
        self._run(sql, [_cells(row) for row in rows], many=True, guard=guard)

    def _run(self, statement: str, rows: Rows, many: bool, guard: str = "") -> Result:
        sql, guard = cast(LiteralString, statement), cast(LiteralString, guard)
        try:
            if self._transaction is not None:
                return self._run_in(self._transaction, sql, rows, many, guard)
            if _is_query(sql):
                return run_query(self._pool, self._visible_banks, sql, rows, self._track, guard)
            return self._run_alone(sql, rows, many, guard)
        except psycopg.Error as error:
            raise store_error(error, self.place) from error

    def _run_in(
        self,
        transaction: ReplayableTransaction,
        sql: LiteralString,
        rows: Rows,
        many: bool,
        guard: LiteralString,
    ) -> Result:
        transaction.set_visible_banks(self._visible_banks)
        if guard:
            result = transaction.run_once(guard, sql, rows, many)
        else:
            result = transaction.run(sql, rows, many)
        if not _is_query(sql):
            self._changes += max(0, result.affected)
        return result

    def _run_alone(
        self, sql: LiteralString, rows: Rows, many: bool, guard: LiteralString
    ) -> Result:
        """Run a statement that writes in a transaction of its own."""
        try:
            transaction = self.begin()
            result = self._run_in(transaction, sql, rows, many, guard)
            self.commit()
            return result
        except BaseException:
            self.roll_back()
            raise

    def begin(self) -> ReplayableTransaction:
        """Wait for other writers and begin."""
        if not self._pool.writing.acquire(timeout=self._pool.wait_s):
            raise StoreBusyError(
                f"Another thread of this program writes to {self.place} for too long.",
                "Try again; nothing was written.",
            )
        try:
            self._transaction = ReplayableTransaction(self._pool, self._visible_banks)
        except BaseException:
            self._pool.writing.release()
            raise
        self._changed_before = self._changes
        return self._transaction

    def commit(self) -> None:
        """Commit, and count the change, so that caches know of it."""
        transaction = self._transaction
        assert transaction is not None
        if self._changes != self._changed_before:
            transaction.run("UPDATE change_counter SET number = number + 1", [[]], False)
        transaction.commit()
        self._end()

    def roll_back(self) -> None:
        """Undo the transaction, if there is one."""
        if self._transaction is not None:
            try:
                self._transaction.roll_back()
            finally:
                self._end()

    def _end(self) -> None:
        self._transaction = None
        self._pool.writing.release()

    def interrupt(self) -> None:
        """Cancel what is running; never raises. Its connection is not used again: the cancellation
        may arrive late and would hit another query."""
        with self._guard:
            if self._transaction is not None:
                self._transaction.interrupt()
            elif self._running is not None and not self._running.closed:
                self._cancelled = True
                cancel(self._running)

    def _track(self, raw: PooledConnection | None) -> bool:
        with self._guard:
            usable, self._cancelled = not self._cancelled, False
            self._running = raw
            return usable

    def close(self) -> None:
        self.roll_back()
        release_pool(self._pool, self)

    @contextmanager
    def schema_change(self) -> Generator[None]:
        """A transaction that changes tables: it takes no writer's lock and counts as no change."""
        transaction = self._transaction = ReplayableTransaction(
            self._pool, self._visible_banks, lock=False
        )
        try:
            yield
            transaction.commit()
        except BaseException:
            transaction.roll_back()
            raise
        finally:
            self._transaction = None

    def script(self, statements: str, guard: str = "") -> None:
        """Run several statements at once, without values; or, outside of a transaction, one that
        has a `guard`."""
        if guard:
            self._run_guarded_script(statements, guard)
            return
        if self._transaction is not None:
            self._transaction.script(statements)
            return
        try:
            raw = self._pool.lease(self._visible_banks)
            try:
                raw.execute(cast(LiteralString, statements))
            finally:
                self._pool.release(raw)
        except psycopg.Error as error:
            raise store_error(error, self.place) from error

    def _run_guarded_script(self, statement: str, guard: str) -> None:
        sql = cast(LiteralString, statement.replace("%", "%%"))
        guard = cast(LiteralString, guard)
        try:
            run_query(self._pool, self._visible_banks, sql, [[]], self._track, guard)
        except psycopg.Error as error:
            raise store_error(error, self.place) from error


def generation(server: PostgresConnection) -> str:
    """A value that changes with every write, by this connection or another. Only within a
    transaction, whose writes are not counted yet, does it differ between two connections."""
    ((number,),) = server.query("SELECT number FROM change_counter")
    return f"{number}.{server.total_changes}" if server.in_transaction else str(number)


def _bank_list(banks: Sequence[str] | None) -> str:
    """Banks as the setting `holdfast.banks` has them, without names that would mean others."""
    if banks is None:
        return EVERY_BANK
    return BANK_SEPARATOR.join(
        bank for bank in banks if bank != EVERY_BANK and BANK_SEPARATOR not in bank
    )


@lru_cache(maxsize=4096)
def _with_percent(sql: str) -> str:
    """A statement with psycopg's placeholders instead of question marks."""
    return sql.replace("%", "%%").replace("?", "%s")


def _is_query(sql: str) -> bool:
    if sql.startswith("WITH"):
        return "INSERT INTO" not in sql
    return sql.startswith(("SELECT", "DECLARE", "FETCH", "CLOSE"))


def _cells(row: Sequence[Any]) -> list[Any]:
    return [_cell(value) for value in row]


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", NULL) if "\x00" in value else value
    return int(value) if isinstance(value, bool) else value
