"""The names of banks, for whoever completes what is being typed: at once or not at all.

A memory on a server is not asked, for a key press must not wait for a network.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress

from holdfast.settings import Settings

_BUSY_TIMEOUT_S = 0.2


def bank_names(settings: Settings) -> list[str]:
    """Every name that a line can hold."""
    names: list[str] = []
    if settings.store or not settings.database.is_file():
        return names
    place = f"{settings.database.absolute().as_uri()}?mode=ro"
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(place, uri=True, timeout=_BUSY_TIMEOUT_S)) as connection,
    ):
        names = [row[0] for row in connection.execute("SELECT name FROM bank ORDER BY name")]
    return [name for name in names if name.isprintable()]
