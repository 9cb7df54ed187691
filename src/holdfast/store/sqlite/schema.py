"""The version of the schema, and the migrations that lead to it (`migrations/`).

A migration is never edited once released; the next version is a new file. The scripts are read
only when a memory is new or older: one that is up to date needs nothing but the number.
"""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.store.sql.migrations import Migration, read_migrations

# The number of the last migration. A test compares it with the files.
VERSION = 1
MIGRATIONS = Path(__file__).with_name("migrations")
# A table with the comment that says "D.": all of its rows can be made again.
_DERIVED_TABLE = re.compile(r'^-- D\. .*\n(?:--.*\n)*CREATE TABLE "?(\w+)', re.MULTILINE)


def migrations() -> tuple[Migration, ...]:
    """The migrations of this program."""
    return read_migrations(MIGRATIONS)


def derived_tables() -> frozenset[str]:
    """The tables that hold nothing but what can be made again from the others."""
    return frozenset(name for step in migrations() for name in _DERIVED_TABLE.findall(step.script))
