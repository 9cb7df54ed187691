"""A connection on which only some banks can be seen and changed.

A server that several people share carries out a request on such a connection. Temporary views take
the place of every table: a statement that names a table gets the rows of the banks that may be
seen, whatever it asks for. Temporary triggers refuse to change rows of other banks, or any row
where the principal may only read. So no statement has to think of it.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast.principal import Level, Principal
from holdfast.store.sql.connection import OTHER_BANK, READ_ONLY

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    import sqlite3

# What belongs to no bank: the ledger of model calls, whose caps hold for all callers together, and
# lists of numbers that say nothing without the rows that they are numbers of.
_OPEN = frozenset(
    "model_call service_pause failed_task entity_mention spelling_equivalence "
    "labelled_record".split()
)
# Counted and written by the triggers of the tables that they belong to.
_INSIDE = ("passage_fts", "sqlite_")
_OF_SOURCE = "source IN (SELECT id FROM main.source WHERE bank IN temp.seen_bank)"
_CHANGES = (
    "INSERT INTO ", "INSERT OR REPLACE INTO ", "INSERT OR IGNORE INTO ", "UPDATE ", "DELETE FROM ",
)  # fmt: skip


def fence(connection: sqlite3.Connection) -> None:
    """Make a connection one on which nothing can be seen, until `show` says what."""
    run = connection.execute
    run("BEGIN")
    run("CREATE TEMP TABLE seen_bank (id TEXT PRIMARY KEY) WITHOUT ROWID")
    run("CREATE TEMP TABLE changed_bank (id TEXT PRIMARY KEY) WITHOUT ROWID")
    found = run("SELECT type, name FROM main.sqlite_master WHERE type IN ('table', 'view')")
    for kind, name in found.fetchall():
        if name in _OPEN or name.startswith(_INSIDE):
            continue
        rows = run("SELECT name FROM pragma_table_info(?)", (name,))
        columns = {column for (column,) in rows.fetchall()}
        run(
            f'CREATE TEMP VIEW "{name}" AS SELECT * FROM main."{name}" WHERE {_seen(name, columns)}'
        )
        if kind == "table":
            _guard(connection, name, columns)
    run("COMMIT")


def show(connection: sqlite3.Connection, principal: Principal) -> None:
    """Let a fenced connection see and change what a principal may."""
    run = connection.execute
    banks = principal.banks
    if banks is None:
        banks = tuple(id for (id,) in run("SELECT id FROM main.bank").fetchall())
    changed = banks if principal.level.includes(Level.WRITE) else ()
    for table, ids in (("seen_bank", banks), ("changed_bank", changed)):
        run(f"DELETE FROM temp.{table}")
        connection.executemany(f"INSERT INTO temp.{table} VALUES (?)", [(id,) for id in ids])


@lru_cache(maxsize=512)
def past_views(sql: str) -> str:
    """A statement that changes a table, not the view in its place."""
    verb = next((one for one in _CHANGES if sql.startswith(one)), "")
    return f"{verb}main.{sql.removeprefix(verb)}" if verb else sql


def _seen(table: str, columns: set[str]) -> str:
    if table == "bank":
        return "id IN temp.seen_bank"
    if "bank" in columns:
        return "bank IN temp.seen_bank"
    return _OF_SOURCE if "source" in columns else "false"


def _guard(connection: sqlite3.Connection, table: str, columns: set[str]) -> None:
    column = "id" if table == "bank" else "bank"
    for verb, rows in (("INSERT", ("new",)), ("UPDATE", ("old", "new")), ("DELETE", ("old",))):
        own = " AND ".join(f"{row}.{column} IN temp.changed_bank" for row in rows)
        if column not in columns:
            own = "EXISTS (SELECT 1 FROM temp.changed_bank)" if "source" in columns else "false"
        connection.execute(
            f'CREATE TEMP TRIGGER "fence_{table}_{verb}" BEFORE {verb} ON main."{table}" '
            f"WHEN NOT ({own}) BEGIN SELECT CASE WHEN EXISTS (SELECT 1 FROM temp.changed_bank) "
            f"THEN RAISE(ABORT, '{OTHER_BANK}') ELSE RAISE(ABORT, '{READ_ONLY}') END; END"
        )
