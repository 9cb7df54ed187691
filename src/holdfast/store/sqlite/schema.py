"""The version of the schema, and the migrations that lead to it (`migrations/`).

A migration is never edited once released; the next version is a new file. The scripts are read
only when a memory is new or older: one that is up to date needs nothing but the number.
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
