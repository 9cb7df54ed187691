"""Whether a memory is still the one that was opened, for servers that keep it open for days."""

from __future__ import annotations

from pathlib import Path

from holdfast.app.core.hook_socket import identity
from holdfast.store.sqlite.migrate import schema_cookie

Standing = tuple[tuple[int, int] | None, int]


def standing(database: Path) -> Standing:
    """What tells a memory from the next one in its place: another file, another schema after an
    upgrade, or a backup that was put back."""
    return identity(database), schema_cookie(database)
