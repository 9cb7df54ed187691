"""What copies of a memory hold, for those who erase something from it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from holdfast.store.protocol.curation import Scrubber
from holdfast.store.sql.runner import marks_for, portions

_AT_ONCE = 400


def keeps(copy: sqlite3.Connection, clean: Scrubber) -> bool:
    """Whether a file that a copy keeps holds it."""
    there = copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'backup_file'").fetchone()
    rows = copy.execute("SELECT content FROM backup_file") if there else ()
    return any(clean(text) != text for text in (r[0].decode("utf-8", "replace") for r in rows))


def has(copy: sqlite3.Connection, table: str, ids: Sequence[str]) -> bool:
    """Whether a table of a copy holds one of these."""
    for some in portions(ids, _AT_ONCE):
        sql = f'SELECT 1 FROM "{table}" WHERE id IN ({marks_for(some)})'
        if copy.execute(sql, some).fetchone():
            return True
    return False
