"""The version of the schema, and the migrations that lead to it (`migrations/`).

The tables are those of the SQLite store, by the same version; a test compares the two. A migration
is never edited once released.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.store.sql.migrations import Migration, read_migrations

# The number of the last migration. A test compares it with the files.
VERSION = 1
MIGRATIONS = Path(__file__).with_name("migrations")


def migrations() -> tuple[Migration, ...]:
    """The migrations of this program."""
    return read_migrations(MIGRATIONS)
