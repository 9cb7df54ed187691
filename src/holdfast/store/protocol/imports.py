"""Records imported from other programs. Every imported version is kept, with the import that
brought it; the current one is the latest whose import was not undone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from holdfast.model.imports import ImportBatch, ImportedRecord
from holdfast.model.query import Passage


class ImportReader(Protocol):
    """Reads imported records."""

    def imported(self, bank: str) -> list[ImportedRecord]:
        """The imported records that are shown, the latest first."""
        ...

    def imported_by_origin(self, bank: str | None, origin: str) -> list[ImportedRecord]:
        """The shown records with this name in the program they come from, by bank and id."""
        ...

    def imported_in_session(self, bank: str | None, session: str) -> list[ImportedRecord]:
        """The shown records of a session of the program they come from, the latest first."""
        ...

    def import_batches(self, bank: str | None = None) -> list[ImportBatch]:
        """Every import, undone or not, the oldest first."""
        ...


class ImportWriter(Protocol):
    """Writes imported records."""

    def imported_versions(self, bank: str) -> dict[str, str]:
        """By id, the current version of each record, hidden ones included."""
        ...

    def import_batch_ids(self, bank: str, batch: str) -> list[str]:
        """The ids of the records that an import brought."""
        ...

    def put_import_batch(self, batch: ImportBatch) -> None:
        """Store an import."""
        ...

    def put_imported(self, batch: str, records: Iterable[ImportedRecord]) -> None:
        """Store the records that an import brought."""
        ...

    def imported_by_ids(self, bank: str, ids: Sequence[str]) -> list[ImportedRecord]:
        """Those of some records that are shown, by id."""
        ...

    def put_imported_passages(
        self, bank: str, ids: Sequence[str], passages: Sequence[Passage]
    ) -> None:
        """Replace the passages of some imported records."""
        ...
