"""What of a memory can be carried away, as plain rows that any program can read, without what is
forgotten; and the way back in. Which tables these are is in `holdfast.store.export_tables`, which is
loaded only where something is carried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

Row = dict[str, Any]


class ExportTable(NamedTuple):
    """A table that is carried: its `group`, by which it is chosen; its columns, with those that
    hold JSON and those that hold words; and, as SQL, from when to when a row is ("" for always),
    which rows are shown, and in which order they come. It may lie in a table of another name."""

    name: str
    group: str
    columns: str
    json: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    first: str = "t.time"
    last: str = ""
    where: str = ""
    order: str = ""
    lies_in: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its columns without the bank, which is told once."""
        return tuple(name for name in self.columns.split() if name != "bank")


class ExportSelection(NamedTuple):
    """What is carried away: which groups (none: all), and of which time, both ends included."""

    groups: tuple[str, ...] = ()
    since: str = ""
    until: str = ""


class ExportReader(Protocol):
    """What can be asked."""

    def exported_rows(
        self, bank: str, table: ExportTable, chosen: ExportSelection
    ) -> Iterator[Row]:
        """The rows of a table, in a fixed order, without what is forgotten: of a turn only its
        place is told, of a decision about it only that there was one."""
        ...


class RestoreWriter(Protocol):
    """The ways in."""

    def restore_rows(self, bank: str, table: ExportTable, rows: Iterable[Row]) -> int:
        """Put rows back that are not there yet; returns how many were new. Their sessions become
        stale. Sources and decisions have other ways, since they are numbered anew."""
        ...

    def restore_source(self, bank: str, table: ExportTable, row: Row) -> int:
        """Put a source back, with a number of its own, which is returned."""
        ...

    def known_decisions(self, bank: str) -> dict[tuple[str, ...], int]:
        """The decisions of a bank by time, action, target, text and who, with their numbers."""
        ...
