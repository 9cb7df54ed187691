"""The version of the schema, and the migrations that lead to it (`migrations/`).

To change the schema (the text is the same in `store/sqlite/schema.py` and
`store/postgres/schema.py`):

1. Once a version was released, its migrations are never edited. Add the next number to the
   `migrations` of both engines (`002_NAME.sql`) and raise `VERSION` in both `schema` modules. Until
   the first release, `001_baseline.sql` may be edited instead, in both engines.
2. Mark every table with a comment above it: `-- C.` for canonical rows, `-- D.` for derived ones.
   A test compares the tables and columns of the engines.
3. A new table is listed in `store/export_tables.py`: in `_COLUMNS` if it is exported, and else in
   `DERIVED_TABLES` or `LOCAL_TABLES`. A new column of an exported table is added to its `_COLUMNS`.
   Then run `make docs` and `python tools/export_schema.py`.
4. If people's words are in it, add its columns to `_SCRUBBED` in `store/across_tables/erasure.py`.
   If rebuilding must empty it, `store/across_tables/derived.py` does that.
5. PostgreSQL shows a connection only the banks that it was opened for. A table without a column
   `bank` needs an entry in `_BANK_OF_PARENT` of `store/postgres/migrate.py`, or in `_UNRESTRICTED`
   if everybody may read it; without one, only those who see all banks see it. A table that grows
   with the transcripts belongs into `PARTITIONED_TABLES` of `store/postgres/partitions.py`.
6. Fill every column in the samples of `tests/store/conformance`, which both engines must pass.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.store.sql.migrations import Migration, read_migrations

# The number of the last migration. A test compares it with the files.
VERSION = 9
MIGRATIONS = Path(__file__).with_name("migrations")


def migrations() -> tuple[Migration, ...]:
    """The migrations of this program."""
    return read_migrations(MIGRATIONS)
