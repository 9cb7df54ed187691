"""A transaction that can be said again.

What is said in one, and a hash of what came of it, is remembered until it stands. When the
connection is lost, or the server prefers another transaction, it is all said again on a new
connection, and every answer must be what it was: then whoever writes has decided on nothing that
is not so. Else, or if there was too much to remember, nothing of it was written and the caller is
told. Where the answer to a COMMIT was lost, the server is asked what became of it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from typing import Any, LiteralString, NamedTuple, cast

import psycopg
from psycopg import pq

from holdfast.errors import StoreBusyError, StoreUnavailableError
from holdfast.store.postgres.errors import is_unavailable, is_conflict
from holdfast.store.postgres.pool import SET_VISIBLE_BANKS, Pool, PooledConnection

MAX_REPLAY_BYTES = 16_000_000
_MAX_TRIES = 3
_POLL_S = 0.05
# One writer at a time, as in the file. The number of the transaction, and which line of servers
# that number is of, tell later what became of it.
_LOCK = (
    "SELECT pg_advisory_xact_lock(hashtext('holdfast'), hashtext(current_schema())), "
    "pg_current_xact_id()::text, substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)"
)
_TRANSACTION_STATUS = (
    "SELECT CASE WHEN substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) = %s "
    "THEN pg_xact_status(%s::text::xid8) END"
)
Rows = Sequence[Sequence[Any]]


class _Step(NamedTuple):
    words: LiteralString
    rows: Rows
    many: bool
    came: bytes


class Result(NamedTuple):
    """What came of a statement."""

    rows: list[Any]
    affected: int


class ReplayableTransaction:
    """One transaction, from its beginning until it stands or is taken back."""

    def __init__(
        self, pool: Pool, sees: str, most_bytes: int = MAX_REPLAY_BYTES, lock: bool = True
    ) -> None:
        """Begin with the sight of some banks; one without the `lock` of those who write is never
        said again."""
        self._pool = pool
        self._first_visible_banks = self._visible_banks = sees
        self._lock = lock
        self._steps: list[_Step] | None = [] if lock else None
        self._replay_bytes_left = most_bytes
        self._interrupted = False
        self._transaction_id = ("", "")
        self._raw: PooledConnection | None = None
        self._begin()

    def interrupt(self) -> None:
        """Break off what is being said."""
        self._interrupted = True
        if self._raw is not None and not self._raw.closed:
            self._raw.cancel_safe()

    def script(self, statements: str) -> None:
        """Several statements at once, without values; what has some is not said again."""
        self._steps = None
        self._connection().execute(cast(LiteralString, statements))

    def set_visible_banks(self, banks: str) -> None:
        """Go on with the sight of these banks."""
        if banks != self._visible_banks:
            self.run(SET_VISIBLE_BANKS, [[banks]], False)
            self._visible_banks = banks

    def run(self, words: LiteralString, rows: Rows, many: bool) -> Result:
        """Run a statement; all of them again, if that is what it takes."""
        for _ in range(_MAX_TRIES - 1):
            try:
                came = run_statement(self._connection(), words, rows, many)
                break
            except psycopg.Error as error:
                self._replay(error)
        else:
            came = run_statement(self._connection(), words, rows, many)
        self._record(words, rows, many, came)
        return came

    def commit(self) -> None:
        """Let it stand."""
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
        """As if it had not been; a connection that is lost has done so by itself."""
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
        """Say all of it once more, if that can help."""
        if self._steps is None or not (is_conflict(why) or self._is_lost(why)):
            raise why
        self._release()
        self._begin()
        for said in self._steps:
            came = run_statement(self._connection(), said.words, said.rows, said.many)
            if _hash(came) != said.came:
                raise StoreBusyError(
                    f"The memory at {self._pool.place} changed while the connection was lost.",
                    "Nothing was written; do it again.",
                ) from why

    def _begin(self) -> None:
        """Wait for other writers and begin, over a connection that is there."""
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
        """Whether a transaction stands whose end was not told."""
        number, line = self._transaction_id
        give_up = time.monotonic() + self._pool.wait_s
        self._release()
        while True:
            ((fate,),) = run_query(self._pool, self._first_visible_banks, _TRANSACTION_STATUS, [[line, number]]).rows
            if fate in ("committed", "aborted"):
                return fate == "committed"
            if fate is None or time.monotonic() > give_up:
                raise StoreUnavailableError(
                    f"The memory at {self._pool.place} was lost at the last moment: what was "
                    "being written may stand or not, whole in either case.",
                    "Do it again; that writes nothing twice.",
                )
            time.sleep(_POLL_S)

    def _release(self, sound: bool = False) -> None:
        raw, self._raw = self._raw, None
        if raw is not None:
            lost = raw.closed
            if self._visible_banks != self._first_visible_banks:
                raw.visible_banks = None  # which of them, depends on how it ended
            self._pool.release(raw, sound and not self._interrupted)
            if lost:
                self._pool.discard_idle()

    def _is_lost(self, error: psycopg.Error) -> bool:
        return self._raw is None or self._raw.closed or is_unavailable(error)

    def _record(self, words: LiteralString, rows: Rows, many: bool, came: Result) -> None:
        if self._steps is None:
            return
        self._replay_bytes_left -= sum(_size(row) for row in rows) + len(words)
        if self._replay_bytes_left < 0:
            self._steps = None
        else:
            self._steps.append(_Step(words, rows, many, _hash(came)))


def run_query(
    pool: Pool,
    sees: str,
    words: LiteralString,
    rows: Rows,
    hold: Callable[[PooledConnection | None], bool] = lambda raw: True,
) -> Result:
    """Ask a question, which changes nothing, and again where its connection was lost. Who wants
    to break it off is told over what it is asked, and tells in the end whether he did not."""
    for last in (False, False, True):
        raw = pool.lease(sees)
        sound = False
        try:
            hold(raw)
            came = run_statement(raw, words, rows, False)
            sound = True
            return came
        except psycopg.Error as error:
            sound = not raw.closed and not is_unavailable(error)
            if last or (sound and not is_conflict(error)):
                raise
        finally:
            lost = raw.closed
            pool.release(raw, hold(None) and sound)
            if lost:
                pool.discard_idle()
    raise AssertionError("unreachable")


def run_statement(raw: PooledConnection, words: LiteralString, rows: Rows, many: bool) -> Result:
    """Say a statement, with one row of values or many."""
    cursor = raw.cursor()
    if many:
        cursor.executemany(words, rows)
    else:
        cursor.execute(words, rows[0])
    return Result(cursor.fetchall() if cursor.description else [], cursor.rowcount)


def _size(row: Sequence[Any]) -> int:
    return sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)


def _hash(came: Result) -> bytes:
    return hashlib.blake2b(repr(came).encode("utf-8", "replace"), digest_size=16).digest()
