"""What a store keeps of other programs' memories. Every version that came in stays, with the import
that brought it; what holds is the latest of those whose import was not taken back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from holdfast.model.imports import ImportBatch, ImportedRecord
from holdfast.model.query import Passage


class ImportReader(Protocol):
    """What can be asked."""

    def imported(self, bank: str) -> list[ImportedRecord]:
        """What came in and is shown, the latest first."""
        ...

    def imported_by_origin(self, bank: str | None, origin: str) -> list[ImportedRecord]:
        """What is shown and is called so in the program it comes from, by bank and id."""
        ...

    def imported_in_session(self, bank: str | None, session: str) -> list[ImportedRecord]:
        """What is shown of a session of the program it comes from, the latest first."""
        ...

    def import_batches(self, bank: str | None = None) -> list[ImportBatch]:
        """Every import, taken back or not, the oldest first."""
        ...


class ImportWriter(Protocol):
    """The ways in."""

    def imported_versions(self, bank: str) -> dict[str, str]:
        """The version that holds of each record, whether it is shown or forgotten, by its id."""
        ...

    def import_batch_ids(self, bank: str, importing: str) -> list[str]:
        """The ids of what an import brought."""
        ...

    def put_import_batch(self, importing: ImportBatch) -> None:
        """Keep that there was an import."""
        ...

    def put_imported(self, importing: str, records: Iterable[ImportedRecord]) -> None:
        """Keep what an import brought."""
        ...

    def imported_by_ids(self, bank: str, ids: Sequence[str]) -> list[ImportedRecord]:
        """Those of some records that are shown, by id."""
        ...

    def put_imported_passages(
        self, bank: str, ids: Sequence[str], passages: Sequence[Passage]
    ) -> None:
        """Make some imported records findable as these passages, and not otherwise."""
        ...
