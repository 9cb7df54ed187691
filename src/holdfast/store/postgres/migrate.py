"""Bringing a schema to this program's version: all migrations that are missing, or none.

Processes that try it at once wait for the first. A schema that a newer Holdfast wrote, or that is
not ours, is left alone. No copy is made: a server has backups of its own (docs/postgres.md).
"""

from __future__ import annotations

import psycopg

from holdfast.errors import (
    NewerSchemaError,
    StoreCorruptError,
    StoreError,
    StoreUnavailableError,
)
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.postgres.errors import is_conflict, is_unavailable, reason, store_error
from holdfast.store.postgres.nearest import create_half_vectors
from holdfast.store.postgres.partitions import partitioned
from holdfast.store.sql.migrations import Migrations

_COUNT_TABLES = "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace(%s)"
_APPLIED = "SELECT coalesce(max(number), 0) FROM migration"
_OWNED = "SELECT pg_has_role(current_user, nspowner, 'USAGE') FROM pg_namespace WHERE nspname = %s"
_MAY_CREATE = (
    "SELECT coalesce(has_schema_privilege(to_regnamespace(%s)::oid, 'CREATE'), "
    "has_database_privilege(current_database(), 'CREATE'))"
)
_EXISTS = "SELECT to_regnamespace(%s) IS NOT NULL"
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('holdfast'), hashtext(%s))"
# Tables without a bank: their rows belong to the bank of the row that a column names.
_BANK_OF_PARENT = {
    "ledger": ("source", "source", "id"),
    "failed_line": ("source", "source", "id"),
    "redaction": ("source", "source", "id"),
    "labelled_record": ("label", "label", "id"),
    "entity_mention": ("node", "graph_node", "number"),
    "spelling_equivalence": ("node", "graph_node", "number"),
}
# Tables without texts, which every connection may read and write.
_UNRESTRICTED = ("change_counter", "migration", "extension_trial")
_WITHOUT_SECURITY = (
    "SELECT c.relname, EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = c.oid "
    "AND a.attname = 'bank' AND NOT a.attisdropped) FROM pg_class AS c "
    "WHERE c.relnamespace = to_regnamespace(%s) AND c.relkind IN ('r', 'p') "
    "AND NOT c.relrowsecurity ORDER BY c.relname"
)


def version_of(connection: PostgresConnection) -> int:
    """The number of the last migration, 0 for a new schema; refuses one that is not ours."""
    ((there,),) = connection.query(_COUNT_TABLES, (connection.schema,))
    if not there:
        return 0
    ((known,),) = connection.query(
        "SELECT to_regclass(%s) IS NOT NULL", (f'"{connection.schema}".migration',)
    )
    if not known:
        raise StoreCorruptError(
            f"The schema {connection.schema} at {connection.place} belongs to another program.",
            "Name another schema, or another database.",
        )
    return applied_version(connection)


def applied_version(connection: PostgresConnection) -> int:
    """The number of the last migration."""
    ((number,),) = connection.query(_APPLIED)
    return int(number)


def check_current(connection: PostgresConnection, known: int) -> None:
    """Refuse a memory of another version, for callers that cannot upgrade it."""
    version = version_of(connection)
    if version > known:
        raise NewerSchemaError(version, known)
    if version < known:
        raise StoreError(
            f"The memory at {connection.place} is not there yet or of an older version.",
            "Run `holdfast worker`, which brings it up to date.",
        )


def migrate(connection: PostgresConnection, migrations: Migrations) -> None:
    """Apply the migrations that are missing, all of them or none."""
    version = version_of(connection)
    if version > len(migrations):
        raise NewerSchemaError(version, len(migrations))
    if version == len(migrations):
        if create_half_vectors(connection):
            enable_row_security(connection)
        return
    _check_can_migrate(connection, version)
    with connection.schema_change():
        connection.query(_LOCK, (connection.schema,))
        version = version_of(connection)
        if version == 0:
            ((there,),) = connection.query(_EXISTS, (connection.schema,))
            if not there:  # IF NOT EXISTS asks for the right to create schemas even if it is there
                connection.script(f'CREATE SCHEMA "{connection.schema}"')
            connection.script("CREATE TABLE migration (number bigint PRIMARY KEY, name text)")
        for number, (name, script) in enumerate(migrations[version:], version + 1):
            _apply(connection, number, name, script)
        enable_row_security(connection)
    if create_half_vectors(connection):
        enable_row_security(connection)


def _apply(connection: PostgresConnection, number: int, name: str, script: str) -> None:
    try:
        connection.script(partitioned(script, connection.partitions))
    except psycopg.Error as error:
        if is_unavailable(error) or is_conflict(error):
            raise
        failed = store_error(error, connection.place)
        # Every command that opens the memory would fail in the same way, so none is named.
        raise type(failed)(
            f"The migration {name} of the memory at {connection.place} failed: {reason(error)}.",
            "The memory is as it was. Please report this message, and go back to the version of "
            "Holdfast that you had.",
        ) from error
    connection.query("INSERT INTO migration VALUES (%s, %s)", (number, name))


def _check_can_migrate(connection: PostgresConnection, version: int) -> None:
    """Refuse to create or upgrade tables as a role that may not. Their owner may be about to do so:
    a server that starts waits for it, as for a database that is not there yet."""
    if version:
        ((allowed,),) = connection.query(_OWNED, (connection.schema,))
        problem = "is of an older version, and the role that opens it does not own its tables"
    else:
        ((allowed,),) = connection.query(_MAY_CREATE, (connection.schema,))
        problem = "has no tables yet, and the role that opens it may not create them"
    if not allowed:
        raise StoreUnavailableError(
            f"The memory at {connection.place} {problem}.",
            "Run `holdfast status` once with the owner's address, which brings it up to date.",
        )


def enable_row_security(connection: PostgresConnection) -> None:
    """Let every table show a connection only the rows of the banks that it was opened for."""
    for table, has_bank in connection.query(_WITHOUT_SECURITY, (connection.schema,)):
        if table in _UNRESTRICTED:
            continue
        if table == "bank":
            condition = "may_see(id)"
        elif has_bank:
            condition = "may_see(bank)"
        elif table in _BANK_OF_PARENT:
            column, parent, number = _BANK_OF_PARENT[table]
            condition = f"EXISTS (SELECT 1 FROM {parent} AS p WHERE p.{number} = {table}.{column})"
        else:  # of no bank, so only for connections that see all
            condition = "may_see('*')"
        connection.script(
            f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY; '
            f'CREATE POLICY banks ON "{table}" USING ({condition})'
        )


def check_row_security(connection: PostgresConnection) -> None:
    """Refuse a role that row security does not apply to."""
    ((walled,),) = connection.query("SELECT row_security_active('passage')")
    if not walled:
        raise StoreError(
            f"The role that opens {connection.place} sees every bank.",
            "Use one that neither owns the tables nor is a superuser: docs/postgres.md.",
        )
