"""The version of the schema, and the migrations that lead to it (`migrations/`).

To change the schema, of both engines:

1. Once a version was released, its migrations are never edited. Add the next number to the
   `migrations` of both engines (`002_NAME.sql`) and raise `VERSION` in both `schema` modules. The
   numbers of the engines may differ: not every step concerns both.
2. Mark every table with a comment above it: `-- C.` for canonical rows, `-- D.` for derived ones.
   A test compares the tables and columns of the engines.
3. A new table is listed in `store/export_tables.py`: in `_COLUMNS` if it is exported, and else in
   `DERIVED_TABLES` or `LOCAL_TABLES`. A new column of an exported table is added to its `_COLUMNS`.
   Then run `make docs` and `python tools/export_schema.py`.
4. If people's words are in it, add its columns to `_SCRUBBED` in `store/across_tables/erasure.py`.
   If rebuilding must empty it, `store/across_tables/derived.py` does that.
5. PostgreSQL shows a connection only the banks that it was opened for. A table without a column
   `bank` needs a policy in its migration (`enable_row_security` in `010_hits_of_words.sql` has
   examples); without one, only those who see all banks see it. A table that grows with the
   transcripts belongs into `PARTITIONED_TABLES` of `store/postgres/partitions.py`.
6. Fill every column in the samples of `tests/store/conformance`, which both engines must pass.

The scripts are read only when a memory is new or older: one that is up to date needs nothing but
the number.
"""

from __future__ import annotations

import os
import re

from holdfast.regex import regex
from holdfast.store.sql.migrations import Migration, read_migrations

# The number of the last migration. A test compares it with the files.
VERSION = 9
MIGRATIONS = os.path.join(os.path.dirname(__file__), "migrations")  # noqa: PTH118, PTH120
# A table with the comment that says "D.": all of its rows can be made again.
_DERIVED_TABLE = regex(r'^-- D\. .*\n(?:--.*\n)*CREATE TABLE "?(\w+)', re.MULTILINE)


def migrations() -> tuple[Migration, ...]:
    """The migrations of this program."""
    from pathlib import Path

    return read_migrations(Path(MIGRATIONS))


def derived_tables() -> frozenset[str]:
    """The tables that hold nothing but what can be made again from the others."""
    return frozenset(name for step in migrations() for name in _DERIVED_TABLE.findall(step.script))
