"""A transaction that is replayed when its connection is lost.

Its statements, and a hash of the result of each, are kept until it is committed. When the
connection is lost, or the server aborts it in favour of another transaction, all of them run again
on a new connection, and every result must be the same: so a caller that decided something by a
result decided rightly. Otherwise, or if there was too much to keep, nothing was written and the
caller gets an error. Where the reply to COMMIT was lost, the server is asked whether it committed.

A statement that may crash the server has a guard and runs once: the guard is asked on the same
connection just before, so a connection that is lost then was lost in the statement itself.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, LiteralString, NamedTuple, cast

import psycopg
from psycopg import pq

from holdfast.errors import StoreBusyError, StoreUnavailableError
from holdfast.store.postgres.errors import is_conflict, is_unavailable
from holdfast.store.postgres.pool import SET_VISIBLE_BANKS, Pool, PooledConnection

# Values of a transaction that are kept for a replay. A transaction with more is not replayed: the
# caller must do it again. The limit bounds the memory of a process that ingests large sessions.
MAX_REPLAY_BYTES = 16_000_000
# How often a statement is tried in all. A server that restarts is waited for by the pool; this
# counts connections that break, and conflicts.
_MAX_TRIES = 3
_POLL_S = 0.05
# How long a cancellation may take. It is sent over a connection of its own; who waits for it has
# waited too long for the statement already.
_CANCEL_S = 5.0
# One writer at a time, as in the file. The number of the transaction, and the timeline of the
# server that it belongs to, tell later whether it was committed.
_LOCK = (
    "SELECT pg_advisory_xact_lock(hashtext('holdfast'), hashtext(current_schema())), "
    "pg_current_xact_id()::text, substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)"
)
_TRANSACTION_STATUS = (
    "SELECT CASE WHEN substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) = %s "
    "THEN pg_xact_status(%s::text::xid8) END"
)
# After a crash the server begins its statistics anew, in a new process or in the same one.
_CRASHED_SINCE = (
    "SELECT pg_postmaster_start_time() > %s::timestamptz OR coalesce("
    "(SELECT stats_reset > %s::timestamptz FROM pg_stat_bgwriter), false)"
)
# How long a server may take to notice that one of its processes crashed: until then it takes new
# connections, which it ends at once. Milliseconds, unless the machine is overloaded.
_NOTICE_CRASH_S = 2.0
Rows = Sequence[Sequence[Any]]


class _Step(NamedTuple):
    sql: LiteralString
    rows: Rows
    many: bool
    result: bytes


class Result(NamedTuple):
    """The rows that a statement returned, and how many it changed."""

    rows: list[Any]
    affected: int


class NotRepeatedError(StoreUnavailableError):
    """The guard of a statement forbade it, or the connection was lost in it."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"The server of {place} was not asked to compare vectors again.",
            "Try again; `holdfast doctor` says why the server does not compare vectors.",
        )


class ReplayableTransaction:
    """One transaction, from BEGIN to COMMIT or ROLLBACK."""

    def __init__(
        self,
        pool: Pool,
        visible_banks: str,
        max_replay_bytes: int = MAX_REPLAY_BYTES,
        lock: bool = True,
    ) -> None:
        """Begin a transaction that sees some banks. Without the `lock` of writers it is never
        replayed."""
        self._pool = pool
        self._first_visible_banks = self._visible_banks = visible_banks
        self._lock = lock
        self._steps: list[_Step] | None = [] if lock else None
        self._replay_bytes_left = max_replay_bytes
        self._interrupted = False
        self._transaction_id = ("", "")
        self._raw: PooledConnection | None = None
        self._begin()

    def interrupt(self) -> None:
        """Cancel the statement that is running."""
        self._interrupted = True
        raw = self._raw  # another thread may release it meanwhile
        if raw is not None:
            cancel(raw)

    def script(self, statements: str) -> None:
        """Run several statements at once, without values. A transaction with such a script is not
        replayed."""
        self._steps = None
        self._connection().execute(cast(LiteralString, statements))

    def set_visible_banks(self, banks: str) -> None:
        """See these banks from now on."""
        if banks != self._visible_banks:
            self.run(SET_VISIBLE_BANKS, [[banks]], False)
            self._visible_banks = banks

    def run(self, sql: LiteralString, rows: Rows, many: bool) -> Result:
        """Run a statement, after a replay of all others where the connection was lost."""
        for _ in range(_MAX_TRIES - 1):
            try:
                result = run_statement(self._connection(), sql, rows, many)
                break
            except psycopg.Error as error:
                self._replay(error)
        else:
            result = run_statement(self._connection(), sql, rows, many)
        self._record(sql, rows, many, result)
        return result

    def run_once(self, guard: LiteralString, sql: LiteralString, rows: Rows, many: bool) -> Result:
        """Run a statement if its guard allows it. Where the connection is lost in it, all others
        run again, and the caller goes on after the `NotRepeatedError`."""
        for last in (False, False, True):
            server_time = ""
            try:
                server_time = ask_guard(self._connection(), guard, self._pool)
                result = run_statement(self._connection(), sql, rows, many)
                break
            except psycopg.Error as error:
                lost = bool(server_time) and self._is_lost(error)
                if lost and not error.sqlstate:
                    self._pool.extension.lose(server_time)
                if last and not lost:
                    raise
                if lost:
                    self._release()
                    crashed_since(self._pool, server_time)  # a replay before that would be lost too
                self._replay(error)
                if lost:
                    raise NotRepeatedError(self._pool.place) from error
        else:
            raise AssertionError("unreachable")
        self._record(sql, rows, many, result)
        return result

    def commit(self) -> None:
        """Commit, and find out whether that was done where the reply was lost."""
        for last in (False, False, True):
            try:
                self._connection().execute("COMMIT")
                break
            except psycopg.Error as error:
                if last:
                    raise
                if self._is_lost(error) and self._was_committed():
                    break
                self._replay(error)
        self._release(sound=True)

    def roll_back(self) -> None:
        """Undo everything. A lost connection has done so by itself."""
        raw = self._raw
        sound = raw is not None and not raw.closed
        try:
            if sound and self._connection().info.transaction_status != pq.TransactionStatus.IDLE:
                self._connection().execute("ROLLBACK")
        except psycopg.Error:
            sound = False
        self._release(sound)

    def _connection(self) -> PooledConnection:
        if self._raw is None:
            raise StoreUnavailableError(
                f"The connection to {self._pool.place} was lost.", "Nothing was written; try again."
            )
        return self._raw

    def _replay(self, why: psycopg.Error) -> None:
        """Run all statements again on a new connection, if that can help."""
        if self._steps is None or not (is_conflict(why) or self._is_lost(why)):
            raise why
        self._release()
        self._begin()
        for step in self._steps:
            result = run_statement(self._connection(), step.sql, step.rows, step.many)
            if _hash(result) != step.result:
                raise StoreBusyError(
                    f"The memory at {self._pool.place} changed while the connection was lost.",
                    "Nothing was written; do it again.",
                ) from why

    def _begin(self) -> None:
        """Wait for other writers and begin, on a connection that works."""
        for last in (False, False, True):
            self._raw = raw = self._pool.lease(self._first_visible_banks)
            try:
                raw.execute("BEGIN")
                row = raw.execute(_LOCK).fetchone() if self._lock else None
                self._transaction_id = (row[1], row[2]) if row else ("", "")
                return
            except psycopg.Error as error:
                lost = self._is_lost(error)
                self._release()
                if last or not (lost or is_conflict(error)):
                    raise
            except BaseException:
                self._release()
                raise

    def _was_committed(self) -> bool:
        """Whether a transaction was committed whose reply was lost."""
        number, timeline = self._transaction_id
        give_up = time.monotonic() + self._pool.wait_s
        self._release()
        while True:
            ((status,),) = run_query(
                self._pool, self._first_visible_banks, _TRANSACTION_STATUS, [[timeline, number]]
            ).rows
            if status in ("committed", "aborted"):
                return status == "committed"
            if status is None or time.monotonic() > give_up:
                raise StoreUnavailableError(
                    f"The memory at {self._pool.place} was lost during the commit: the change "
                    "was written completely or not at all.",
                    "Repeat it; nothing is written twice.",
                )
            time.sleep(_POLL_S)

    def _release(self, sound: bool = False) -> None:
        raw, self._raw = self._raw, None
        if raw is not None:
            lost = raw.closed
            if self._visible_banks != self._first_visible_banks:
                raw.visible_banks = None  # depends on whether it was committed
            self._pool.release(raw, sound and not self._interrupted)
            if lost:
                self._pool.discard_idle()

    def _is_lost(self, error: psycopg.Error) -> bool:
        return self._raw is None or self._raw.closed or is_unavailable(error)

    def _record(self, sql: LiteralString, rows: Rows, many: bool, result: Result) -> None:
        if self._steps is None:
            return
        self._replay_bytes_left -= sum(_size(row) for row in rows) + len(sql)
        if self._replay_bytes_left < 0:
            self._steps = None
        else:
            self._steps.append(_Step(sql, rows, many, _hash(result)))


def run_query(
    pool: Pool,
    visible_banks: str,
    sql: LiteralString,
    rows: Rows,
    track: Callable[[PooledConnection | None], bool] = lambda raw: True,
    guard: LiteralString = "",
) -> Result:
    """Run a query, which changes nothing, and again where its connection was lost. `track` is given
    the connection while it runs, so that it can be cancelled, then None, and returns whether the
    connection can be used again. With a `guard` it runs once, if the guard allows it."""
    for last in (False, False, True):
        raw = pool.lease(visible_banks)
        sound = False
        server_time = ""
        try:
            track(raw)
            if guard:
                server_time = ask_guard(raw, guard, pool)
            result = run_statement(raw, sql, rows, False)
            sound = True
            return result
        except psycopg.Error as error:
            sound = not raw.closed and not is_unavailable(error)
            if server_time and not sound:
                # A server that ends a connection by itself says why.
                if not error.sqlstate:
                    pool.extension.lose(server_time)
                raise NotRepeatedError(pool.place) from error
            if last or (sound and not is_conflict(error)):
                raise
        finally:
            lost = raw.closed
            pool.release(raw, track(None) and sound)
            if lost:
                pool.discard_idle()
    raise AssertionError("unreachable")


def ask_guard(raw: PooledConnection, guard: LiteralString, pool: Pool) -> str:
    """The time of the server, if the guard allows a statement; it returns the time and whether."""
    row = raw.execute(guard).fetchone()
    if row is None or not row[1] or pool.extension.schema == "":
        raise NotRepeatedError(pool.place)
    return str(row[0])


def crashed_since(pool: Pool, server_time: str) -> bool:
    """Whether the server crashed since a time of its clock, once it has noticed and recovered."""
    give_up = time.monotonic() + _NOTICE_CRASH_S
    while True:
        ((crashed,),) = run_query(pool, "", _CRASHED_SINCE, [[server_time, server_time]]).rows
        if crashed or time.monotonic() > give_up:
            return bool(crashed)
        time.sleep(_POLL_S)


def cancel(raw: PooledConnection) -> None:
    """Cancel what a connection runs. One that is lost, or whose server cannot be reached, has
    nothing to cancel any more."""
    with suppress(psycopg.Error, OSError):
        raw.cancel_safe(timeout=_CANCEL_S)


def run_statement(raw: PooledConnection, sql: LiteralString, rows: Rows, many: bool) -> Result:
    """Run a statement, with one row of values or many."""
    cursor = raw.cursor()
    if many:
        cursor.executemany(sql, rows)
    else:
        cursor.execute(sql, rows[0])
    return Result(cursor.fetchall() if cursor.description else [], cursor.rowcount)


def _size(row: Sequence[Any]) -> int:
    return sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)


def _hash(result: Result) -> bytes:
    return hashlib.blake2b(repr(result).encode("utf-8", "replace"), digest_size=16).digest()
