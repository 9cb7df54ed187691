"""Numbered migrations: SQL files in a folder, `001_baseline.sql` first."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import NewerSchemaError, StoreError
from holdfast.lazy_named_tuple import NamedTuple

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from pathlib import Path


class Migration(NamedTuple):
    """One step of a schema, by the name of its file, with the statements that take it."""

    name: str
    script: str


Migrations = Sequence[tuple[str, str]]


def read_migrations(folder: Path) -> tuple[Migration, ...]:
    """The migrations of a folder in the order of their numbers, which start at 1 without a gap."""
    files = sorted(folder.glob("[0-9]*_*.sql"))
    numbers = [int(file.name.partition("_")[0]) for file in files]
    if numbers != list(range(1, len(files) + 1)):
        raise ValueError(f"The migrations in {folder} are not numbered from 1 without a gap.")
    return tuple(Migration(file.stem, file.read_text("utf-8")) for file in files)


def check_still(version: int, place: Path | str, opened: int) -> None:
    """Refuse to write where another program has changed the schema since this one opened it."""
    if version > opened:
        raise NewerSchemaError(version, opened)
    if version < opened:
        raise StoreError(
            f"The memory at {place} is of an older version than when this program opened it.",
            "A backup was restored. Restart this program. Nothing was changed.",
        )
