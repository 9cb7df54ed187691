"""Opens the store that the settings name: a SQLite file in the home, or a PostgreSQL server.

The only module of the application that names a concrete store. The PostgreSQL store is imported
only if the settings name a server, which keeps the start fast.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.errors import SettingsError
from holdfast.private_files import file_identity
from holdfast.settings import Settings
from holdfast.store.protocol import ReadStore, Store
from holdfast.store.sqlite.migrate import schema_cookie
from holdfast.store.sqlite.store import SqliteStore


def open_store(settings: Settings, create: bool = True, migrate: bool = True) -> Store:
    """Open the store of these settings, migrated if needed. Without `create` a missing file is not
    created, and the store is empty. Without `migrate` a store of an older version is refused."""
    if settings.store:
        check_postgres(settings)
        from holdfast.store.postgres.store import PostgresStore

        store: Store = PostgresStore(settings.store, as_it_is=not migrate)
    else:
        store = SqliteStore(settings.database, create=create, as_it_is=not migrate)
    return restrict_to_principal(settings, store)


def open_without_migrating(settings: Settings) -> Store:
    """Open the store for a hook, which has no time to migrate it."""
    return open_store(settings, create=False, migrate=False)


def restrict_to_principal(settings: Settings, store: Store) -> Store:
    """The store, limited to what the principal of the settings may do."""
    if settings.principal is not None and not settings.principal.is_unrestricted:
        store.database.restrict(settings.principal)
    return store


def checkpoint_and_close(store: Store) -> None:
    """Close a store that was written to. SQLite's log is moved into the database file first, so
    that a connection that is closed later does not change the file."""
    if isinstance(store, SqliteStore):
        store.settle()
    store.close()


def open_read_only(settings: Settings) -> ReadStore:
    """Open the store of these settings without any way to write to it."""
    if settings.store:
        check_postgres(settings)
        from holdfast.store.postgres.store import PostgresStore

        store: ReadStore = PostgresStore(settings.store, read_only=True)
    else:
        from holdfast.store.sqlite.read_only import SqliteReadStore

        store = SqliteReadStore(settings.database)
    return restrict_to_principal(settings, store)


def location_of(settings: Settings) -> str:
    """Where the memory is, to show to people: a path, or an address without its password."""
    if settings.store:
        check_postgres(settings)
        from holdfast.store.postgres.address import location_of as server_location

        return server_location(settings.store)
    return str(settings.database)


DatabaseIdentity = tuple[tuple[int, int] | None, int]


def database_identity(database: Path) -> DatabaseIdentity:
    """A value that changes when another file takes the database's place, such as a restored backup,
    or when an upgrade changes its schema; for servers that keep it open for days."""
    return file_identity(database), schema_cookie(database)


def check_postgres(settings: Settings) -> None:
    """Raise `SettingsError` unless `store` names a PostgreSQL server and psycopg is installed."""
    if not settings.store.startswith(("postgresql://", "postgres://")):
        raise SettingsError(
            "The setting `store` is not the address of a PostgreSQL server.",
            "It looks like postgresql://user@host/database; leave it out to use a file.",
        )
    from importlib.util import find_spec

    if find_spec("psycopg") is None or find_spec("psycopg_pool") is None:
        raise SettingsError(
            "The settings keep the memory on a PostgreSQL server, which needs psycopg.",
            "Install it: pip install 'holdfast-memory[postgres]'.",
        )
