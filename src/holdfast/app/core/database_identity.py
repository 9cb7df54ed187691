"""Tells whether a database was replaced, for servers that keep it open for days."""

from __future__ import annotations

from pathlib import Path

from holdfast.app.core.hook_socket import file_identity
from holdfast.store.sqlite.migrate import schema_cookie

DatabaseIdentity = tuple[tuple[int, int] | None, int]


def database_identity(database: Path) -> DatabaseIdentity:
    """A value that changes when another file takes the database's place, such as a restored backup,
    or when an upgrade changes its schema."""
    return file_identity(database), schema_cookie(database)
