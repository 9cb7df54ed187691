"""A connection to the server as the statements of `store.sql` use it, in its transactions.

One writer at a time, as in the file: a transaction that writes holds a lock of the schema. A single
query whose connection was lost is asked once more; a transaction is not: nothing of it is written,
and the caller gets an error. Ids are hashes of contents, so doing it again writes nothing twice.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, LiteralString, cast

import psycopg

from holdfast.errors import HoldfastError, StoreBusyError, StoreError
from holdfast.principal import Level, Principal
from holdfast.store.postgres.address import location_of, read_address
from holdfast.store.postgres.errors import store_error
from holdfast.store.postgres.pool import Session, release_pool, shared_pool
from holdfast.store.sql.connection import Row, outside_limits
from holdfast.store.sql.dialect import POSTGRES

_EVERY_BANK, _BANK_SEPARATOR = "*", "\x1f"
# The banks that can be seen, and whether they can be changed.
_NO_LIMITS = (_EVERY_BANK, "on")
_SHOW = (
    "SELECT set_config('role', %s, false), set_config('holdfast.banks', %s, false), "
    "set_config('holdfast.changes', %s, false)"
)
_TRY_ROLE = "SELECT set_config('role', %s, true)"
_NOT_ALLOWED = "42501"
# What row security raises, in any language of the server.
_OTHER_ROW = "ExecWithCheckOptions"
# How long a cancellation may take: who asks for it has waited too long already.
_CANCEL_S = 5.0
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('holdfast'), hashtext(current_schema()))"
_OWNER = Principal("")
Values = Sequence[object] | Mapping[str, object]


class PostgresConnection:
    """One way to a memory; threads use it one at a time.

    The statements that both engines run come through `all` to `run_many`, with `?` for values;
    those of PostgreSQL alone through `query`, with `%s`."""

    dialect = POSTGRES

    def __init__(
        self,
        url: str,
        banks: Sequence[str] | None = None,
        busy_s: float | None = None,
        read_only: bool = False,
    ) -> None:
        address = read_address(url, busy_s)
        self.place = location_of(url)
        self.schema, self.partitions = address.schema, address.partitions
        # The banks that it may see, once it is restricted, and what it may see and change now.
        self._allowed_banks = banks
        self._limits: tuple[str, str] = _NO_LIMITS
        self.pool = shared_pool(address, read_only, self)
        self.total_changes = 0
        self._transaction: Session | None = None
        # What is running, so that it can be cancelled, and whether it was.
        self._running: Session | None = None
        self._cancelled = False
        self._guard = threading.Lock()
        try:
            self.query("SELECT 1")
        except BaseException:
            self.close()
            raise

    @property
    def in_transaction(self) -> bool:
        return self._transaction is not None

    def restrict(self, principal: Principal | None) -> None:
        """Let the server show the banks of a principal alone from now on; without one all that it
        was opened for."""
        banks, changes = (principal or _OWNER).banks, (principal or _OWNER).level is not Level.READ
        if banks is not None and self._allowed_banks is not None:
            banks = tuple(bank for bank in banks if bank in self._allowed_banks)
        visible = _bank_list(self._allowed_banks if banks is None else banks)
        self._limits = (visible, "on" if changes else "off")

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        return self._run(_with_percent(sql), values)[0]

    def one(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        rows = self.all(sql, values)
        return rows[0] if rows else None

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        return iter(self.all(sql, values))

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        return self._run(_with_percent(sql), values)[1]

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        self._run(_with_percent(sql), list(rows), many=True)

    def query(self, sql: str, values: Values = (), once: bool = False) -> list[Row]:
        """Run a statement of PostgreSQL's; returns its rows, if it has any. One that may have
        crashed the server is asked `once`."""
        return self._run(sql, values, once=once)[0]

    def script(self, statements: str) -> None:
        """Run statements without values, in the transaction or each by itself."""
        self._run(statements, None, once=True)

    def _run(
        self, statement: str, values: Any, many: bool = False, once: bool = False
    ) -> tuple[list[Row], int]:
        """Run a statement: its rows, and how many it changed. One that writes runs in a transaction
        of its own, where none is open."""
        sql, changes = cast(LiteralString, statement), not _is_query(statement)
        if self._transaction is None and changes and values is not None:
            with self.transaction():
                return self._run(statement, values, many)
        shown = (self._role(), *self._limits)
        while True:
            raw = self._transaction or self.pool.lease()
            try:
                with self._guard:
                    self._running = raw
                self._show(raw, shown)
                cursor = raw.cursor()
                if many:
                    cursor.executemany(sql, values or ())
                else:
                    cursor.execute(sql, values)
                if changes:
                    self.total_changes += max(0, cursor.rowcount)
                return cursor.fetchall() if cursor.description else [], cursor.rowcount
            except psycopg.Error as error:
                if once or self._transaction is not None or not raw.closed or self._cancelled:
                    raise self._our_error(error) from error
                once = True
                self.pool.check()  # a server that restarts has closed the idle ones too
            finally:
                with self._guard:
                    self._running = None
                if self._transaction is None:
                    self._give_back(raw)

    def _show(self, raw: Session, shown: tuple[str, str, str]) -> None:
        if raw.shown != shown:
            role, banks, changes = shown
            raw.shown = None
            try:
                raw.execute(_SHOW, (role or self.pool.own_role, banks, changes))
            except psycopg.Error:
                self.pool.limited_role = None  # perhaps it is gone
                raise
            raw.shown = shown

    def _role(self) -> str:
        """The role of a session that shows only what this connection may see; "" for its own."""
        if self._limits == _NO_LIMITS:
            return ""
        if self.pool.limited_role is None:
            self.pool.limited_role = self._find_role()
        return self.pool.limited_role

    def _find_role(self) -> str:
        raw = self.pool.lease()
        try:
            self._show(raw, ("", *_NO_LIMITS))
            # Whoever only reads makes it, too.
            raw.execute("SET default_transaction_read_only = off")
            with raw.transaction():
                (role,) = raw.execute("SELECT limited_role()").fetchone() or ("",)
                raw.execute(_TRY_ROLE, (role or self.pool.own_role,))
                if raw.execute("SELECT row_security_active('passage')").fetchone() == (True,):
                    return str(role)
        except psycopg.Error as error:
            if error.sqlstate != _NOT_ALLOWED:
                raise store_error(error, self.place) from error
        finally:
            raw.close()  # its settings are no others'
            self.pool.putconn(raw)
        raise StoreError(
            f"The role that opens {self.place} sees every bank, and may not make one that does "
            "not, so no key can be kept to its banks.",
            "Use a role that neither owns the tables nor is a superuser, or let this one create "
            "roles: docs/postgres.md.",
        )

    def _our_error(self, error: psycopg.Error) -> HoldfastError:
        if error.diag.source_function == _OTHER_ROW:
            return outside_limits(self._limits[1] == "off")
        return store_error(error, self.place)

    def _give_back(self, raw: Session) -> None:
        """Let others have a connection, but one on which something was cancelled: that may arrive
        late and would hit another query."""
        if self._cancelled:
            self._cancelled = False
            raw.close()
        self.pool.putconn(raw)

    @contextmanager
    def transaction(self, lock: bool = True) -> Generator[bool]:
        """Wait for other writers, and commit or undo what is done within; yields whether it began
        here. Without the `lock`, for changes of tables, it counts as no change."""
        if self._transaction is not None:
            yield False
            return
        pool, before = self.pool, self.total_changes
        if not pool.writing.acquire(timeout=pool.wait_s):
            raise StoreBusyError(
                f"Another thread of this program writes to {self.place} for too long.",
                "Try again; nothing was written.",
            )
        try:
            self.query("SELECT 1")  # finds the connections that a restart of the server has closed
            self._transaction = raw = pool.lease()
            try:
                self.script("BEGIN")
                if lock:
                    self.query(_LOCK)
                yield True
                if lock and self.total_changes != before:
                    self.run("UPDATE change_counter SET number = number + 1")
                raw.commit()
            except psycopg.Error as error:
                raise self._our_error(error) from error
            finally:
                self._transaction = None
                raw.shown = None  # depends on whether it was committed
                with suppress(psycopg.Error):
                    raw.rollback()
                self._give_back(raw)
        finally:
            pool.writing.release()

    def interrupt(self) -> None:
        """Cancel what is running; never raises."""
        with self._guard:
            raw = self._running
            if raw is not None and not raw.closed:
                self._cancelled = True
                # One that is lost, or whose server is away, has nothing to cancel any more.
                with suppress(psycopg.Error, OSError):
                    raw.cancel_safe(timeout=_CANCEL_S)

    def close(self) -> None:
        release_pool(self.pool, self)

    def generation(self) -> str:
        """A value that changes with every write, by this connection or another. Only within a
        transaction, whose writes are not counted yet, does it differ between two connections."""
        ((number,),) = self.query("SELECT number FROM change_counter")
        return f"{number}.{self.total_changes}" if self.in_transaction else str(number)


def _bank_list(banks: Sequence[str] | None) -> str:
    """Banks as the setting `holdfast.banks` has them, without names that would mean others."""
    if banks is None:
        return _EVERY_BANK
    return _BANK_SEPARATOR.join(
        bank for bank in banks if bank != _EVERY_BANK and _BANK_SEPARATOR not in bank
    )


@lru_cache(maxsize=4096)
def _with_percent(sql: str) -> str:
    """A statement with psycopg's placeholders instead of question marks."""
    return sql.replace("%", "%%").replace("?", "%s")


def _is_query(sql: str) -> bool:
    if sql.startswith("WITH"):
        return "INSERT INTO" not in sql
    return sql.startswith("SELECT")
