"""Parts that statements are built of: placeholders, inserts, and values in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

# Values in one statement. Every build of SQLite takes at least 999; the rest is for the other
# conditions of a statement. More of them mean fewer statements and longer ones to parse.
BATCH_SIZE = 500


def batches(values: Sequence[T], size: int = BATCH_SIZE) -> Iterator[Sequence[T]]:
    """Values in their order, as many at a time as one statement takes."""
    return (values[start : start + size] for start in range(0, len(values), size))


def placeholders(columns: str) -> str:
    """A placeholder for each of some columns, which are listed with commas."""
    return ", ".join("?" * (columns.count(",") + 1))


def placeholders_for(values: Sized) -> str:
    """A placeholder for each of some values. For none it is NULL, which no value is IN."""
    return ", ".join("?" * len(values)) or "NULL"


def insert(table: str, columns: str) -> str:
    """Add a row."""
    return f'INSERT INTO "{table}" ({columns}) VALUES ({placeholders(columns)})'


def insert_missing(table: str, columns: str) -> str:
    """Add a row, unless one of its key is there."""
    return f"{insert(table, columns)} ON CONFLICT DO NOTHING"


def upsert(table: str, columns: str, key: str) -> str:
    """Add a row, in the place of one with the same key. `key` names columns of the primary key."""
    keys = key.split(", ")
    rest = [name for name in columns.split(", ") if name not in keys]
    values = ", ".join(f"{name} = excluded.{name}" for name in rest)
    return f"{insert(table, columns)} ON CONFLICT ({key}) DO UPDATE SET {values}"
