"""The progress of a move, kept in the target itself.

Until the move is finished, a target on a server has a migration number beyond every schema, so that
no other program opens it. A target in a file has another name until then.
"""

from __future__ import annotations

from holdfast.errors import InputError, StoreBusyError, StoreError
from holdfast.store.postgres.migrate import MOVE_IN_PROGRESS
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.sqlite.store import SqliteStore

# Columns that are numbered from a sequence. A partition has those of its table.
_NUMBERED = (
    "SELECT c.relname, a.attname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid "
    "WHERE c.relnamespace = current_schema()::regnamespace AND NOT c.relispartition "
    "AND a.attidentity <> '' AND NOT a.attisdropped ORDER BY c.relname"
)
# The prefix of the row that names the source; no table has such a name.
_SOURCE = "from "
_DONE = 1


class OutdatedMoveError(StoreError):
    """What was moved before is of no use: the target must be cleared."""

    def __init__(self) -> None:
        super().__init__(
            "What was moved before is not what the other memory holds now.", "Run it again."
        )


class MoveProgress:
    """How many rows of each table were moved, and which tables are done."""

    def __init__(self, target: SqliteStore | PostgresStore, name: str) -> None:
        """Start a move, or resume one. One that was begun from another source is refused."""
        self._target = target
        self._connection = target.database
        if not self._is_started():
            if target.banks.all():
                raise InputError(
                    "The memory to move to is not empty.", "Name a new database, or another file."
                )
            self._start()
        self._noted: dict[str, tuple[int, int]] = {
            table: (count, done)
            for table, count, done in self._connection.all(
                "SELECT name, count, done FROM move_progress"
            )
        }
        self.rows = sum(count for count, _ in self._noted.values())
        if _SOURCE + name not in self._noted:
            if self.rows:
                raise OutdatedMoveError
            self._connection.run("INSERT INTO move_progress VALUES (?, 0, 1)", (_SOURCE + name,))

    def rows_moved(self, table: str) -> int | None:
        """How many rows of a table were moved; None if all were."""
        count, done = self._noted.get(table, (0, 0))
        return None if done == _DONE else count

    def add_rows(self, table: str, more: int) -> None:
        """Note that so many more were moved, in the transaction that moves them."""
        self._set(table, more, 0)
        self.rows += more

    def mark_table_done(self, table: str) -> None:
        """Note that all rows of a table were moved."""
        self._set(table, 0, _DONE)

    def finish(self) -> None:
        """Let others open the target."""
        with self._target.transaction():
            if isinstance(self._target, PostgresStore):
                self._advance_sequences()
                self._connection.run("DELETE FROM migration WHERE number = ?", (MOVE_IN_PROGRESS,))
            self._connection.run("DROP TABLE move_progress")

    def _is_started(self) -> bool:
        if isinstance(self._target, PostgresStore):
            found = self._connection.one(
                "SELECT 1 FROM migration WHERE number = ?", (MOVE_IN_PROGRESS,)
            )
        else:
            found = self._connection.one("SELECT 1 FROM sqlite_master WHERE name = 'move_progress'")
        return found is not None

    def _start(self) -> None:
        with self._target.transaction():
            self._connection.run(
                "CREATE TABLE move_progress (name text PRIMARY KEY, count bigint, done bigint)"
            )
            if isinstance(self._target, PostgresStore):
                self._connection.run(
                    "INSERT INTO migration VALUES (?, 'filling')", (MOVE_IN_PROGRESS,)
                )

    def _set(self, table: str, more: int, done: int) -> None:
        count, was = self._noted.get(table, (0, 0))
        if table in self._noted:
            noted = self._connection.run(
                "UPDATE move_progress SET count = ?, done = ? WHERE name = ? AND count = ? AND "
                "done = ?",
                (count + more, done, table, count, was),
            )
        else:
            noted = self._connection.run(
                "INSERT INTO move_progress VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (table, count + more, done),
            )
        if noted != 1:
            raise StoreBusyError(
                "Somebody else is filling this memory.", "Wait until that is done; then try again."
            )
        self._noted[table] = (count + more, done)

    def _advance_sequences(self) -> None:
        """Let the sequences continue after the numbers that were moved."""
        for table, column in self._connection.all(_NUMBERED):
            self._connection.all(
                f"SELECT setval(pg_get_serial_sequence('\"{table}\"', '{column}'), "
                f'max("{column}")) FROM "{table}" HAVING count(*) > 0'
            )
