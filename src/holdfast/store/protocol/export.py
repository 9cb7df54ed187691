"""Export of a memory as plain rows, without hidden records, and the way back in.

The exported tables are listed in `holdfast.store.export_tables`, which is loaded only when
something is exported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

Row = dict[str, Any]


class ExportTable(NamedTuple):
    """An exported table: the `group` by which it is selected, its columns, and which of them
    contain JSON and which text. `first` and `last` are SQL for the time span of a row ("" for
    none), `where` for the condition under which it is exported, `order` its sort columns. The rows
    may be `stored_in` a table of another name."""

    name: str
    group: str
    columns: str
    json: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    first: str = "t.time"
    last: str = ""
    where: str = ""
    order: str = ""
    stored_in: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its columns without the bank, which an export states once."""
        return tuple(name for name in self.columns.split() if name != "bank")


class ExportSelection(NamedTuple):
    """What is exported: which groups (none: all), and of which time, both ends included."""

    groups: tuple[str, ...] = ()
    since: str = ""
    until: str = ""


class ExportReader(Protocol):
    """Reads rows for an export."""

    def exported_rows(
        self, bank: str, table: ExportTable, selection: ExportSelection
    ) -> Iterator[Row]:
        """The rows of a table in a fixed order, without hidden content: of a hidden turn only its
        place is exported, of a decision about it only that there was one."""
        ...


class RestoreWriter(Protocol):
    """Writes the rows of an export back."""

    def restore_rows(self, bank: str, table: ExportTable, rows: Iterable[Row]) -> int:
        """Add the rows that are missing; returns how many were added. Their sessions become stale.
        Sources and decisions have methods of their own, because they are numbered anew."""
        ...

    def restore_source(self, bank: str, table: ExportTable, row: Row) -> int:
        """Add a source under a new number, which is returned."""
        ...

    def known_decisions(self, bank: str) -> dict[tuple[str, ...], int]:
        """The decisions of a bank by time, action, target, text and person, with their numbers."""
        ...
