"""The version of the schema, and the migrations that lead to it (`migrations/`).

To change the schema, add `migrations/NNN_name.sql` here and one of the same number to those of the
SQLite store, and raise `VERSION` in both `schema` modules; a test compares the tables of the two
engines. A migration is never edited once it was released; nothing is released yet.
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
