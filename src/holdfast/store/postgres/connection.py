"""A connection to the server that speaks as SQLite's does, and errors a person can act on.

One writer at a time, as in the file: a transaction that writes holds a lock of the schema's. What
is lost on the way is asked again only where that cannot do anything twice: a question outside a
transaction, or the beginning of one. Else the caller is told that nothing was written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString, cast
from urllib.parse import urlsplit

import psycopg
from psycopg import pq
from psycopg.adapt import Loader

from holdfast.errors import StoreBusyError, StoreCorruptError, StoreError, StoreFullError
from holdfast.store.postgres.dialect import Shape, translated

BUSY_S = 30.0
EVERY_BANK = "*"
BETWEEN = "\x1f"
_RETRY_S = 0.1
_CONNECT_S = 10
# PostgreSQL takes no null character in a text; this one, which no text has, stands for it.
_ESCAPE, _NULL = "\U0010fffe", "\U0010ffff\U0010fffe"
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('holdfast'), hashtext(current_schema()))"
_SHAPES = (
    "SELECT c.relname, a.attname, a.attnum = ANY (i.indkey) FROM pg_class AS c "
    "JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary "
    "JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
    "WHERE c.relnamespace = current_schema()::regnamespace ORDER BY c.relname, a.attnum"
)
# Lost or refused connections, servers that stop or start, locks, deadlocks, too many clients.
_PASSING = ("08", "57P", "55P03", "40001", "40P01", "53300", "53200")
_AGAIN = ("40001", "40P01")


_Run = Callable[[psycopg.Cursor[Any], LiteralString], object]


class _Text(Loader):
    """Texts as they were."""

    def load(self, data: Any) -> str:
        text = bytes(data).decode("utf-8")
        return text.replace(_NULL, "\x00") if _ESCAPE in text else text


class _Number(Loader):
    """Sums of whole numbers are whole numbers."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode("ascii")
        return int(text) if text.lstrip("-").isdigit() else float(text)


class PostgresCursor:
    """What came of a statement."""

    def __init__(self, cursor: psycopg.Cursor[Any]) -> None:
        self._cursor = cursor

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    @property
    def lastrowid(self) -> int | None:
        row = self._cursor.connection.execute("SELECT lastval()").fetchone()
        return row[0] if row else None

    def fetchone(self) -> Any:
        return self._cursor.fetchone() if self._cursor.description else None

    def fetchall(self) -> list[Any]:
        return self._cursor.fetchall() if self._cursor.description else []

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())


class PostgresConnection:
    """One connection, opened again when it was lost."""

    def __init__(
        self,
        url: str,
        schema: str,
        banks: Sequence[str] | None = None,
        busy_s: float = BUSY_S,
        read_only: bool = False,
    ) -> None:
        self.place = place_of(url)
        self._url = url
        self._busy_s = busy_s
        self._settings = {
            "search_path": f'"{schema}"',
            # A plan made for empty tables would be kept while they fill.
            "plan_cache_mode": "force_custom_plan",
            "lock_timeout": f"{int(busy_s * 1000)}ms",
            "holdfast.banks": EVERY_BANK if banks is None else BETWEEN.join(banks),
            "default_transaction_read_only": "on" if read_only else "off",
        }
        self._said: dict[str, str] = {}
        self._known: dict[str, Shape] = {}
        self._changes = 0
        self._changed_before = 0
        self._open = False
        try:
            self._raw = self._connect()
        except psycopg.Error as error:
            raise self._ours(error) from error

    def _connect(self) -> psycopg.Connection[Any]:
        raw = psycopg.connect(
            self._url, autocommit=True, connect_timeout=_CONNECT_S, application_name="holdfast"
        )
        raw.adapters.register_loader("text", _Text)
        raw.adapters.register_loader("numeric", _Number)
        try:
            for name, value in self._settings.items():
                raw.execute("SELECT set_config(%s, %s, false)", (name, value))
        except BaseException:
            raw.close()
            raise
        return raw

    def _again(self) -> None:
        """Open it anew, also if the server takes a while to come back."""
        self._raw.close()
        give_up = time.monotonic() + self._busy_s
        while True:
            try:
                self._raw = self._connect()
                return
            except psycopg.OperationalError:
                if time.monotonic() > give_up:
                    raise
                time.sleep(_RETRY_S)

    @property
    def in_transaction(self) -> bool:
        return self._open

    @property
    def total_changes(self) -> int:
        return self._changes

    def execute(self, sql: str, values: Any = (), /) -> PostgresCursor:
        return self._run(sql, lambda cursor, words: cursor.execute(words, _cells(values)))

    def executemany(self, sql: str, values: Iterable[Any], /) -> PostgresCursor:
        rows = [_cells(row) for row in values]
        return self._run(sql, lambda cursor, words: cursor.executemany(words, rows))

    def _run(self, statement: str, run: _Run) -> PostgresCursor:
        try:
            words = self._words(statement)
            if self._open:
                return self._step(words, run)
            if words.startswith(("SELECT", "WITH")):
                return self._asked(words, run)
            return self._alone(words, run)
        except psycopg.Error as error:
            raise self._ours(error) from error

    def _step(self, words: LiteralString, run: _Run) -> PostgresCursor:
        cursor = self._raw.cursor()
        run(cursor, words)
        if not words.startswith(("SELECT", "WITH")):
            self._changes += max(0, cursor.rowcount)
        return PostgresCursor(cursor)

    def _asked(self, words: LiteralString, run: _Run) -> PostgresCursor:
        """A question changes nothing, so it can be asked twice."""
        try:
            return self._step(words, run)
        except psycopg.OperationalError:
            if not self._raw.closed:
                raise
            self._again()
            return self._step(words, run)

    def _alone(self, words: LiteralString, run: _Run) -> PostgresCursor:
        """A statement that writes, by itself. One that lost against another was taken back by
        the server and is said once more; one that was lost with its connection is not."""
        for last in (False, True):
            try:
                self.begin()
                cursor = self._step(words, run)
                self.commit()
                return cursor
            except psycopg.Error as error:
                self.roll_back()
                if last or error.sqlstate not in _AGAIN:
                    raise
            except BaseException:
                self.roll_back()
                raise
        raise AssertionError("unreachable")

    def begin(self) -> None:
        """Wait for other writers and begin. Nothing is lost yet if the connection was."""
        try:
            self._raw.execute("BEGIN")
        except psycopg.OperationalError:
            if not self._raw.closed:
                raise
            self._again()
            self._raw.execute("BEGIN")
        self._open = True
        self._changed_before = self._changes
        self._raw.execute(_LOCK)

    def commit(self) -> None:
        """Let it stand, and let those who remember what they read know that it changed."""
        if self._changes != self._changed_before:
            self._raw.execute("UPDATE generation SET number = number + 1")
        self._raw.execute("COMMIT")
        self._open = False

    def roll_back(self) -> None:
        """As if it had not been; a connection that is lost has done so by itself."""
        self._open = False
        if not self._raw.closed and self._raw.info.transaction_status != pq.TransactionStatus.IDLE:
            self._raw.execute("ROLLBACK")

    def interrupt(self) -> None:
        if not self._raw.closed:
            self._raw.cancel_safe()

    def close(self) -> None:
        self._raw.close()

    @contextmanager
    def changing_tables(self) -> Generator[None]:
        """A transaction that waits for no other and counts for none."""
        self._raw.execute("BEGIN")
        self._open = True
        try:
            yield
            self._raw.execute("COMMIT")
            self._open = False
        except BaseException:
            self.roll_back()
            raise

    def script(self, statements: str) -> None:
        """Several statements at once, in PostgreSQL's own words."""
        self._raw.execute(cast(LiteralString, statements))

    def said(self, words: str, values: Sequence[object] = ()) -> list[Any]:
        """A question in PostgreSQL's own words."""
        return self.execute_own(words, values).fetchall()

    def execute_own(self, words: str, values: Sequence[object] = ()) -> PostgresCursor:
        """A statement in PostgreSQL's own words."""
        self._said.setdefault(words, words)
        return self.execute(words, values)

    def _words(self, statement: str) -> LiteralString:
        words = self._said.get(statement)
        if words is None:
            words = self._said[statement] = translated(statement, self._shapes)
        return cast(LiteralString, words)

    def _shapes(self) -> Mapping[str, Shape]:
        if not self._known:
            found: dict[str, tuple[list[str], list[str]]] = {}
            for table, column, is_key in self._raw.execute(_SHAPES):
                key, rest = found.setdefault(table, ([], []))
                (key if is_key else rest).append(column)
            self._known = {table: Shape(*parts) for table, parts in found.items()}
        return self._known

    def _ours(self, error: psycopg.Error) -> StoreError:
        return ours(error, self.place)


def place_of(url: str) -> str:
    """Where a memory lies, without who may open it."""
    parts = urlsplit(url)
    host = parts.hostname or "this machine"
    port = f":{parts.port}" if parts.port else ""
    return f"postgresql://{host}{port}/{parts.path.lstrip('/')}"


def ours(error: psycopg.Error, place: str) -> StoreError:
    """PostgreSQL's errors as ours. None of them says a password."""
    code = error.sqlstate or ""
    why = error.diag.message_primary or str(error).strip().split("\n")[0] or "the connection ended"
    if code.startswith("53100"):
        return StoreFullError(
            f"No room left on the disk of {place}.",
            "Free some space there and run the same command again; it goes on where it stopped.",
        )
    if code.startswith("XX00"):
        return StoreCorruptError(
            f"{place} is damaged: {why}.", "Restore it from a backup, then run `holdfast ingest`."
        )
    if code.startswith(_PASSING) or (not code and isinstance(error, psycopg.OperationalError)):
        return StoreBusyError(
            f"The memory at {place} cannot be used right now: {why}.",
            "Try again once the server answers; what was under way was not written by halves, "
            "and doing it again writes nothing twice.",
        )
    if code == "42501":
        return StoreError(
            f"The role that opens {place} may not do that: {why}.",
            "Grant it the rights that docs/postgres.md lists, or use another role.",
        )
    return StoreError(f"The memory at {place} failed: {why}.", "Run `holdfast status`.")


def _cells(row: Sequence[Any]) -> list[Any]:
    return [_cell(value) for value in row]


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", _NULL) if "\x00" in value else value
    return int(value) if isinstance(value, bool) else value
