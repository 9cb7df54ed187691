"""Which store a memory lies in: the file in its home, or the server that the settings name.

The only place that names a concrete store. What a server needs is loaded where one is named, so
that a memory in a file starts as fast as ever.
"""

from __future__ import annotations

import importlib.util
from typing import cast

from holdfast.errors import SettingsError
from holdfast.settings import Settings
from holdfast.store.protocol import ReadStore, Store
from holdfast.store.sqlite.store import SqliteStore


def open_store(settings: Settings, create: bool = True) -> Store:
    """The memory of these settings. Without `create` none is made where there is no file."""
    if settings.store:
        check_postgres(settings)
        from holdfast.store.postgres.store import PostgresStore

        return restrict_to_principal(settings, PostgresStore(settings.store))
    return restrict_to_principal(settings, SqliteStore(settings.database, create=create))


def restrict_to_principal(settings: Settings, store: Store) -> Store:
    """A store as whoever the settings name may use it."""
    if settings.principal is None or settings.principal.is_unrestricted:
        return store
    from holdfast.store import access_fence

    return access_fence.fence_store(store, settings.principal)


def checkpoint_and_close(store: Store) -> None:
    """Close a store that was written. A file is brought to rest first, so that who closes it later
    changes nothing any more."""
    if isinstance(store, SqliteStore):
        store.settle()
    store.close()


def open_without_migrating(settings: Settings) -> Store:
    """The same for those in a hurry: one of an older version is refused, not brought up to
    date."""
    if settings.store:
        check_postgres(settings)
        from holdfast.store.postgres import store as stores

        return restrict_to_principal(settings, stores.PostgresStore(settings.store, as_it_is=True))
    return restrict_to_principal(settings, SqliteStore(settings.database, create=False, as_it_is=True))


def open_read_only(settings: Settings) -> ReadStore:
    """The same for those who must not be able to write."""
    if settings.store:
        check_postgres(settings)
        from holdfast.store.postgres.read_only import PostgresReadStore

        made: ReadStore = PostgresReadStore(settings.store)
    else:
        from holdfast.store.sqlite import read_only

        made = read_only.SqliteReadStore(settings.database)
    # What only asks goes the same ways as what can do more.
    return restrict_to_principal(settings, cast("Store", made))


def location_of(settings: Settings) -> str:
    """Where the memory lies, as people are told: no password is part of it."""
    if settings.store:
        check_postgres(settings)
        from holdfast.store.postgres.address import location_of as server_location

        return server_location(settings.store)
    return str(settings.database)


def check_postgres(settings: Settings) -> None:
    """Raise `SettingsError` unless `store` names a PostgreSQL server and psycopg is installed."""
    if not settings.store.startswith(("postgresql://", "postgres://")):
        raise SettingsError(
            "The setting `store` names no PostgreSQL server.",
            "It looks like postgresql://user@host/database; leave it out to keep a file.",
        )
    if importlib.util.find_spec("psycopg") is None:
        raise SettingsError(
            "The settings keep the memory on a PostgreSQL server, which needs psycopg.",
            "Install it: pip install 'holdfast-memory[postgres]'.",
        )
