"""A connection to the server that speaks as SQLite's does, and errors a person can act on.

One writer at a time, as in the file: a transaction that writes holds a lock of the schema's. It
has a connection of the pool only while it asks or writes. What is lost on the way is done again
only where that cannot do anything twice (`unit`); else the caller is told that nothing was
written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString, cast

import psycopg

from holdfast.errors import StoreBusyError, StoreError
from holdfast.store.postgres.address import place_of, read_address
from holdfast.store.postgres.dialect import Shape, translated
from holdfast.store.postgres.faults import ours
from holdfast.store.postgres.pool import BETWEEN, EVERY_BANK, NULL, Pool, Raw, let_go, shared
from holdfast.store.postgres.unit import Came, Rows, Unit, ask

_SHAPES = (
    "SELECT c.relname, a.attname, a.attnum = ANY (i.indkey) FROM pg_class AS c "
    "JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary "
    "JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
    "WHERE c.relnamespace = current_schema()::regnamespace ORDER BY c.relname, a.attnum"
)


class PostgresCursor:
    """What came of a statement."""

    def __init__(self, came: Came, last: Callable[[], int | None]) -> None:
        self._rows = came.rows
        self._next = 0
        self._count = came.affected
        self._last = last

    @property
    def rowcount(self) -> int:
        return self._count

    @property
    def lastrowid(self) -> int | None:
        return self._last()

    def fetchone(self) -> Any:
        if self._next >= len(self._rows):
            return None
        self._next += 1
        return self._rows[self._next - 1]

    def fetchall(self) -> list[Any]:
        rest, self._rows = self._rows[self._next :] if self._next else self._rows, []
        return rest

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())


class PostgresConnection:
    """One way to a memory; threads use it one at a time."""

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
        self.place = place_of(url)
        self.schema = address.schema
        self.partitions = address.partitions
        # Whether this is who fills a memory that nobody else may open yet.
        self.filling = False
        self._pool = shared(address, settings, self)
        self._changes = 0
        self._changed_before = 0
        self._unit: Unit | None = None
        # Of what is being asked right now, so that it can be broken off.
        self._asking: Raw | None = None
        self._broken_off = False
        self._guard = threading.Lock()
        try:
            ask(self._pool, self._sees, "SELECT 1", [[]])
        except psycopg.Error as error:
            let_go(self._pool, self)
            raise ours(error, self.place) from error
        except StoreError:
            let_go(self._pool, self)
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

    def execute(self, sql: str, values: Any = (), /) -> PostgresCursor:
        return self._run(sql, [_cells(values)], many=False)

    def executemany(self, sql: str, values: Iterable[Any], /) -> PostgresCursor:
        return self._run(sql, [_cells(row) for row in values], many=True)

    def _run(self, statement: str, rows: Rows, many: bool) -> PostgresCursor:
        try:
            words = self._words(statement)
            if self._unit is not None:
                came = self._step(self._unit, words, rows, many)
            elif _is_question(words):
                came = ask(self._pool, self._sees, words, rows, self._hold)
            else:
                came = self._alone(words, rows, many)
            return PostgresCursor(came, self._last_number)
        except psycopg.Error as error:
            raise ours(error, self.place) from error

    def _step(self, unit: Unit, words: LiteralString, rows: Rows, many: bool) -> Came:
        unit.let_see(self._sees)
        came = unit.say(words, rows, many)
        if not _is_question(words):
            self._changes += max(0, came.affected)
        return came

    def _alone(self, words: LiteralString, rows: Rows, many: bool) -> Came:
        """A statement that writes, by itself."""
        try:
            unit = self.begin()
            came = self._step(unit, words, rows, many)
            self.commit()
            return came
        except BaseException:
            self.roll_back()
            raise

    def begin(self) -> Unit:
        """Wait for other writers and begin."""
        if not self._pool.writing.acquire(timeout=self._pool.patience_s):
            raise StoreBusyError(
                f"Something else of this program writes to {self.place} for too long.",
                "Try again; nothing was written.",
            )
        try:
            self._unit = Unit(self._pool, self._sees)
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
            unit.say("UPDATE change_counter SET number = number + 1", [[]], False)
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

    def _hold(self, raw: Raw | None) -> bool:
        with self._guard:
            sound, self._broken_off = not self._broken_off, False
            self._asking = raw
            return sound

    def close(self) -> None:
        self.roll_back()
        let_go(self._pool, self)

    @contextmanager
    def changing_tables(self) -> Generator[None]:
        """A transaction that waits for no other writer and counts for none."""
        unit = self._unit = Unit(self._pool, self._sees, lock=False)
        try:
            yield
            unit.commit()
        except BaseException:
            unit.roll_back()
            raise
        finally:
            self._unit = None
            self._pool.shapes = {}

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
                self._pool.give_back(raw)
        except psycopg.Error as error:
            raise ours(error, self.place) from error

    def said(self, words: str, values: Sequence[object] = ()) -> list[Any]:
        """A question in PostgreSQL's own words."""
        return self.execute_own(words, values).fetchall()

    def execute_own(self, words: str, values: Sequence[object] = ()) -> PostgresCursor:
        """A statement in PostgreSQL's own words."""
        self._pool.said.setdefault(words, words)
        return self.execute(words, values)

    def write_own(self, words: str, rows: Sequence[Sequence[object]]) -> None:
        """The same, once for each row."""
        self._pool.said.setdefault(words, words)
        self.executemany(words, rows)

    def _last_number(self) -> int | None:
        """The number that a row was given last, within its transaction."""
        if self._unit is None:
            return None
        return self._unit.say("SELECT lastval()", [[]], False).rows[0][0]

    def _words(self, statement: str) -> LiteralString:
        words = self._pool.said.get(statement)
        if words is None:
            words = self._pool.said[statement] = translated(statement, self._shapes)
        return cast(LiteralString, words)

    def _shapes(self) -> Mapping[str, Shape]:
        if not self._pool.shapes:
            found: dict[str, tuple[list[str], list[str]]] = {}
            for table, column, is_key in ask(self._pool, self._sees, _SHAPES, [[]]).rows:
                key, rest = found.setdefault(table, ([], []))
                (key if is_key else rest).append(column)
            self._pool.shapes = {table: Shape(*parts) for table, parts in found.items()}
        return self._pool.shapes


def _named(banks: Sequence[str] | None) -> str:
    """Banks as the server is told them; one whose name would mean others is none."""
    if banks is None:
        return EVERY_BANK
    return BETWEEN.join(bank for bank in banks if bank != EVERY_BANK and BETWEEN not in bank)


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
