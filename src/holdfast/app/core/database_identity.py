"""Whether a memory is still the one that was opened, for servers that keep it open for days."""

from __future__ import annotations

from pathlib import Path

from holdfast.app.core.hook_socket import file_identity
from holdfast.store.sqlite.migrate import schema_cookie

DatabaseIdentity = tuple[tuple[int, int] | None, int]


def database_identity(database: Path) -> DatabaseIdentity:
    """What tells a memory from the next one in its place: another file, another schema after an
    upgrade, or a backup that was put back."""
    return file_identity(database), schema_cookie(database)
