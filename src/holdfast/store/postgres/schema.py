"""The tables of a memory on a server: migrations, partitions, and who sees which rows.

How to change the schema is said in `store/sqlite/schema.py`. All migrations that are missing are
applied, or none. Processes that try it at once wait for the first. A schema that a newer Holdfast
wrote, or that is not ours, is left alone. No copy is made: a server has backups of its own.
"""

from __future__ import annotations

from pathlib import Path

import psycopg

from holdfast.errors import (
    NewerSchemaError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreUnavailableError,
)
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.postgres.errors import reason
from holdfast.store.postgres.partitions import partitioned
from holdfast.store.postgres.vectors import create_half_vectors
from holdfast.store.sql.migrations import Migration, Migrations, read_migrations

# The number of the last migration. A test compares it with the files.
VERSION = 10
MIGRATIONS = Path(__file__).with_name("migrations")

_TABLES = "SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace(%s) LIMIT 1"
_APPLIED = (
    "SELECT coalesce(max(number), 0), count(*) FILTER (WHERE name = '001_foundation') "
    "FROM migration"
)
_OWNED = "SELECT pg_has_role(current_user, nspowner, 'USAGE') FROM pg_namespace WHERE nspname = %s"
_MAY_CREATE = (
    "SELECT coalesce(has_schema_privilege(to_regnamespace(%s)::oid, 'CREATE'), "
    "has_database_privilege(current_database(), 'CREATE'))"
)


def migrations() -> tuple[Migration, ...]:
    """The migrations of this program."""
    return read_migrations(MIGRATIONS)


def version_of(server: PostgresConnection) -> int:
    """The number of the last migration, 0 for a new schema; refuses one that is not ours."""
    if not server.query(_TABLES, (server.schema,)):
        return 0
    if server.query("SELECT to_regclass(%s)", (f'"{server.schema}".migration',)) == [(None,)]:
        raise StoreCorruptError(
            f"The schema {server.schema} at {server.place} belongs to another program.",
            "Name another schema, or another database.",
        )
    return applied_version(server)


def applied_version(server: PostgresConnection) -> int:
    """The number of the last migration."""
    ((number, old),) = server.query(_APPLIED)
    if old:  # the first migration of 0.1.0, which numbered its migrations from 1, too
        raise StoreError(
            f"Holdfast 0.1.0 made the memory at {server.place}; this version upgrades only "
            "files of 0.1.0.",
            "Move it to a file with Holdfast 0.1.0: `holdfast migrate postgresql://… "
            "sqlite:///FOLDER/memory.db`. This version upgrades the file when it opens it "
            "(HOLDFAST_HOME=FOLDER); `holdfast export` and `import` move it to a database.",
        )
    return int(number)


def prepare(server: PostgresConnection, known: int, wanted: Migrations | None = None) -> None:
    """Bring a memory up to date that was just opened, or refuse one of another version, for callers
    that cannot do that."""
    if wanted is not None:
        migrate(server, wanted)
    elif (version := version_of(server)) > known:
        raise NewerSchemaError(version, known)
    elif version < known:
        raise StoreError(
            f"The memory at {server.place} is not there yet or of an older version.",
            "Run `holdfast worker`, which brings it up to date.",
        )


def migrate(server: PostgresConnection, wanted: Migrations) -> None:
    """Apply the migrations that are missing, all of them or none."""
    version = version_of(server)
    if version > len(wanted):
        raise NewerSchemaError(version, len(wanted))
    if version < len(wanted):
        _check_can_migrate(server, version)
        with server.transaction(lock=False):
            server.query(
                "SELECT pg_advisory_xact_lock(hashtext('holdfast'), hashtext(%s))", (server.schema,)
            )
            version = version_of(server)
            if version == 0:
                # IF NOT EXISTS asks for the right to create schemas even if it is there.
                if server.query("SELECT to_regnamespace(%s)", (server.schema,)) == [(None,)]:
                    server.script(f'CREATE SCHEMA "{server.schema}"')
                server.script("CREATE TABLE migration (number bigint PRIMARY KEY, name text)")
            for number, (name, script) in enumerate(wanted[version:], version + 1):
                _apply(server, number, name, script)
            server.query("SELECT enable_row_security()")
    if server.query(_OWNED, (server.schema,)) == [(True,)]:
        create_half_vectors(server)


def _apply(server: PostgresConnection, number: int, name: str, script: str) -> None:
    try:
        server.script(partitioned(script, server.partitions))
    except (StoreBusyError, StoreUnavailableError):
        raise
    except StoreError as error:
        # Every command that opens the memory would fail in the same way, so none is named.
        cause = error.__cause__
        why = reason(cause) if isinstance(cause, psycopg.Error) else error.message
        raise type(error)(
            f"The migration {name} of the memory at {server.place} failed: {why}.",
            "The memory is as it was. Please report this message, and go back to the version of "
            "Holdfast that you had.",
        ) from error
    server.query("INSERT INTO migration VALUES (%s, %s)", (number, name))


def _check_can_migrate(server: PostgresConnection, version: int) -> None:
    """Refuse to create or upgrade tables as a role that may not. Their owner may be about to do so:
    a server that starts waits for it, as for a database that is not there yet."""
    problem = "has no tables yet, and the role that opens it may not create them"
    if version:
        problem = "is of an older version, and the role that opens it does not own its tables"
    if server.query(_OWNED if version else _MAY_CREATE, (server.schema,)) != [(True,)]:
        raise StoreUnavailableError(
            f"The memory at {server.place} {problem}.",
            "Run `holdfast status` once with the owner's address, which brings it up to date.",
        )
