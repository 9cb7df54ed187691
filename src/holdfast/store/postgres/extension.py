"""Whether pgvector can be used: a build for another CPU crashes the server at the first distance.

It is tried once before it is used. That it is being tried is written and committed first, so where
the server or this process dies, nobody tries it again. A crash in a later statement is written down
in the same way. Where the role cannot write, this process alone remembers it. `try_again` is for
those who have mended it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString, NamedTuple, cast

import psycopg

from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.postgres.errors import is_unavailable, reason, store_error
from holdfast.store.postgres.transaction import crashed_since, run_query

# After so many lost connections this process stops using the extension, also if the server did not
# crash: a cluster that replaces a crashed server by another one does not show that it crashed.
MAX_LOSSES = 2
# Not the schema of our tables, where `vector` is a table.
EXTENSION_SCHEMA = "public"
INSTALL: tuple[LiteralString, ...] = (
    f"CREATE SCHEMA IF NOT EXISTS {EXTENSION_SCHEMA}",
    f"CREATE EXTENSION IF NOT EXISTS vector SCHEMA {EXTENSION_SCHEMA}",
)
_STATE = (
    "SELECT (SELECT n.nspname FROM pg_extension AS e JOIN pg_namespace AS n "
    "ON n.oid = e.extnamespace WHERE e.extname = 'vector'), "
    "EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector'), "
    "(SELECT rolsuper FROM pg_roles WHERE rolname = current_user), "
    "EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('half_vector') "
    "AND attname = 'direction' AND NOT attisdropped), "
    "pg_has_role(current_user, (SELECT nspowner FROM pg_namespace WHERE nspname = %s), 'USAGE'), "
    "to_regclass('extension_trial') IS NOT NULL, "
    "coalesce(has_table_privilege(to_regclass('extension_trial'), 'SELECT'), false)"
)
# `problem` is '' where the extension works.
_CREATE_TRIALS = """
CREATE TABLE IF NOT EXISTS extension_trial (
    extension text COLLATE "C" PRIMARY KEY,
    problem text COLLATE "C" NOT NULL,
    time timestamptz NOT NULL DEFAULT now()
)
"""
_READ = "SELECT problem FROM extension_trial WHERE extension = 'vector'"
_BEGIN_TRIAL = (
    "INSERT INTO extension_trial (extension, problem) VALUES ('vector', %s) "
    "ON CONFLICT DO NOTHING RETURNING 1"
)
_NOTE = (
    "INSERT INTO extension_trial (extension, problem) VALUES ('vector', %s) "
    "ON CONFLICT (extension) DO UPDATE SET problem = excluded.problem, time = now()"
)
_FORGET = "DELETE FROM extension_trial WHERE extension = 'vector'"
# A guard returns the time of the server and whether the extension may be used: not for two
# seconds after a crash, in which the one that caused it writes that down.
_GUARD_WITHOUT_TRIALS = (
    "SELECT clock_timestamp()::text, (SELECT stats_reset IS NULL "
    "OR stats_reset < clock_timestamp() - interval '2 seconds' FROM pg_stat_bgwriter)"
)
_GUARD = (
    f"{_GUARD_WITHOUT_TRIALS} AND NOT EXISTS (SELECT 1 FROM extension_trial "
    "WHERE extension = 'vector' AND problem <> '')"
)
# 64 dimensions, enough for the instructions of any CPU that work on many numbers at once.
_COMPARE = (
    "SELECT a.v::{schema}.halfvec(64) OPERATOR({schema}.<#>) a.v::{schema}.halfvec(64) FROM "
    "(SELECT '[' || string_agg('0.1', ',') || ']' AS v FROM generate_series(1, 64)) AS a"
)
BEING_TRIED = "it was being tried, and that did not end"
CRASHED = "the server crashed when it compared vectors with it"
_KEPT_LOSING = "the connection was lost whenever the server compared vectors with it"
# A role that may not write, a server that can only be read, and a memory of an older program.
_CANNOT_WRITE = ("42501", "25006", "42P01")


class ExtensionState(NamedTuple):
    """What there is: the schema of the extension (None: not installed), whether it could be
    installed and by whom, whether the table of 16-bit vectors is there, whether this role owns the
    tables, and whether the table of trials is there and can be read."""

    extension: str | None
    is_available: bool
    is_superuser: bool
    has_table: bool
    owns_tables: bool
    has_trials: bool
    reads_trials: bool


def read_state(connection: PostgresConnection) -> ExtensionState:
    """What the server says of the extension and of our tables."""
    (row,) = _read(connection, _STATE, (connection.schema,))
    return ExtensionState(*row)


def create_trials(connection: PostgresConnection) -> None:
    """Make the table of trials, as the owner."""
    with connection.schema_change():
        connection.script(
            f"SELECT pg_advisory_xact_lock(hashtext('holdfast'), hashtext('{connection.schema}'))"
        )
        connection.script(_CREATE_TRIALS)


def find_out(connection: PostgresConnection) -> str:
    """The schema of the extension, quoted for statements; "" where it is not used."""
    use = connection.pool.extension
    if use.lost_at:
        _explain_loss(connection)
    if use.schema is None:
        _look_up(connection)
    return use.schema or ""


def guard_of(connection: PostgresConnection) -> str:
    """The guard of statements that use the extension."""
    return _GUARD if connection.pool.extension.reads_trials else _GUARD_WITHOUT_TRIALS


def is_working(connection: PostgresConnection) -> bool:
    """Whether the extension works, after a trial if there was none. As a superuser, installs it."""
    state = read_state(connection)
    problem = _read_problem(connection) if state.reads_trials else None
    return _try(connection) if problem is None else not problem


def try_again(connection: PostgresConnection) -> str:
    """Forget what was wrong and try the extension; returns what is wrong now."""
    use = connection.pool.extension
    if _write(connection, _FORGET) and read_state(connection).extension:
        _try(connection)
    use.schema, use.problem, use.lost_at, use.losses = None, "", "", 0
    find_out(connection)
    return use.problem


def _look_up(connection: PostgresConnection) -> None:
    use = connection.pool.extension
    state = read_state(connection)
    use.reads_trials = state.reads_trials
    problem = _read_problem(connection) if state.reads_trials else ""
    if state.extension and state.has_table and problem is None and _try(connection):
        problem = ""
    elif problem is None:
        problem = _read_problem(connection)
    use.problem = f"pgvector is not used: {problem}" if problem else ""
    usable = state.extension and state.has_table and not problem
    use.schema = f'"{state.extension}"' if usable else ""
    if problem == BEING_TRIED:
        use.schema = None  # somebody else may be trying it just now


def _explain_loss(connection: PostgresConnection) -> None:
    """Find out whether the server crashed when a connection was lost, and write that down."""
    use = connection.pool.extension
    if _crashed_since(connection, use.lost_at):
        problem = CRASHED
        _write(connection, _NOTE, (problem,))
    else:
        problem = _KEPT_LOSING if use.losses >= MAX_LOSSES else ""
    use.lost_at = ""
    if problem:
        use.problem = f"pgvector is not used: {problem}"
    else:
        use.schema = None


def _crashed_since(connection: PostgresConnection, server_time: str) -> bool:
    try:
        return crashed_since(connection.pool, server_time)
    except psycopg.Error as error:
        raise store_error(error, connection.place) from error


def _try(connection: PostgresConnection) -> bool:
    """Compare two vectors on a connection of its own; returns whether that worked. Where it cannot
    be written down beforehand, or somebody else tries it, it is not tried."""
    if not _write(connection, _BEGIN_TRIAL, (BEING_TRIED,)):
        return False
    problem = _trial_problem(connection)
    if problem is None:
        _write(connection, _FORGET)
        return False
    _write(connection, _NOTE, (problem,))
    return not problem


def _trial_problem(connection: PostgresConnection) -> str | None:
    """What went wrong, "" if nothing did; None where that tells nothing about the extension."""
    pool = connection.pool
    server_time = ""
    raw = pool.lease("")
    try:
        (server_time, _) = cast(Any, raw.execute(_GUARD_WITHOUT_TRIALS).fetchone())
        state = read_state(connection)
        if not state.extension:
            for statement in INSTALL:
                raw.execute(statement)
            state = read_state(connection)
        raw.execute(cast(LiteralString, _COMPARE.format(schema=f'"{state.extension}"')))
        return ""
    except psycopg.Error as error:
        if not is_unavailable(error):
            return f"it does not work: {reason(error)}"
        if error.sqlstate or not server_time:
            return None
    finally:
        pool.release(raw, usable=False)
    pool.discard_idle()
    return CRASHED if _crashed_since(connection, server_time) else None


def _read_problem(connection: PostgresConnection) -> str | None:
    """What is written down of the extension; None where it was not tried."""
    found = _read(connection, _READ)
    return str(found[0][0]) if found else None


def _read(
    connection: PostgresConnection, query: LiteralString, values: Sequence[str] = ()
) -> list[Any]:
    """Run a query beside the transaction that may be open: what it says changes when the server
    crashes, so it must not be part of what a transaction is replayed with."""
    try:
        return run_query(connection.pool, "", query, [values]).rows
    except psycopg.Error as error:
        raise store_error(error, connection.place) from error


def _write(
    connection: PostgresConnection, statement: LiteralString, values: Sequence[str] = ()
) -> bool:
    """Write to the table of trials, at once and for good, whatever transaction is open; returns
    whether a row was written. A connection that was idle for long may be lost, so a second one is
    tried."""
    for last in (False, True):
        raw = connection.pool.lease("")
        done = False
        try:
            # Also by a connection that only reads what is remembered.
            raw.execute("BEGIN READ WRITE")
            raw.execute("SET LOCAL synchronous_commit = on")
            written = raw.execute(statement, values).rowcount
            raw.execute("COMMIT")
            done = True
            return written > 0
        except psycopg.Error as error:
            if error.sqlstate in _CANNOT_WRITE:
                return False
            if last or not is_unavailable(error):
                raise store_error(error, connection.place) from error
        finally:
            connection.pool.release(raw, usable=done)
        connection.pool.discard_idle()
    raise AssertionError("unreachable")
