"""The names of banks for shell completion, which must be instant.

A PostgreSQL server is not queried: a key press must not wait for a network.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress

from holdfast.settings import Settings

# How long to wait for a locked database before completing nothing.
_BUSY_TIMEOUT_S = 0.2


def bank_names(settings: Settings) -> list[str]:
    """The names of all banks that a terminal can show; none if the database cannot be read now."""
    if settings.store or not settings.database.is_file():
        return []
    address = f"{settings.database.absolute().as_uri()}?mode=ro"
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(address, uri=True, timeout=_BUSY_TIMEOUT_S)) as opened,
    ):
        names = [str(name) for (name,) in opened.execute("SELECT name FROM bank ORDER BY name")]
        return [name for name in names if name.isprintable()]
    return []
