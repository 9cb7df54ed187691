"""Records that were imported from other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import Any

from holdfast.model.imports import ImportBatch, ImportedRecord
from holdfast.model.query import Passage
from holdfast.model.trust import Trust
from holdfast.store.sql.runner import StatementRunner
from holdfast.store.sql.statements import batches, placeholders, placeholders_for
from holdfast.store.sql.tables.curation import CurationWriter

IMPORTED = (
    "bank, id, version, program, kind, title, text, time, origin, session, files, labels, trust, "
    "taken"
)
_IMPORT_BATCH = "bank, id, program, place, time, kinds, skipped, failed, redacted"


def imported_of(row: tuple[Any, ...]) -> ImportedRecord:
    """`IMPORTED`."""
    fields: dict[str, Any] = dict(zip(IMPORTED.split(", "), row, strict=True))
    for name in ("files", "labels"):
        fields[name] = tuple(json.loads(fields[name]))
    fields["trust"] = Trust(fields["trust"])
    return ImportedRecord(**fields)


def _row_of(record: ImportedRecord) -> tuple[Any, ...]:
    whole: tuple[Any, ...] = astuple(record)
    return tuple(
        json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value
        for value in whole
    )


def import_batch_of(row: tuple[Any, ...]) -> ImportBatch:
    """`_IMPORT_BATCH`."""
    bank, id, program, place, time, kinds, skipped, failed, redacted = row
    counts = (json.loads(kinds), json.loads(skipped), json.loads(failed))
    return ImportBatch(bank, id, program, place, time, *counts, redacted)


FINDABLE = {"imported": ("visible_imported_record", IMPORTED, imported_of)}


class ImportReader(StatementRunner):
    """Reads imported records."""

    def imported(self, bank: str) -> list[ImportedRecord]:
        found = self._all(
            f"SELECT {IMPORTED} FROM visible_imported_record WHERE bank = ? ORDER BY time DESC, id",
            bank,
        )
        return [imported_of(row) for row in found]

    def imported_by_origin(self, bank: str | None, origin: str) -> list[ImportedRecord]:
        where, values = self._in_bank(bank)
        found = self._all(
            f"SELECT {IMPORTED} FROM visible_imported_record WHERE {where} AND origin = ? ORDER "
            "BY bank, id",
            *(*values, origin),
        )
        return [imported_of(row) for row in found]

    def imported_in_session(self, bank: str | None, session: str) -> list[ImportedRecord]:
        where, values = self._in_bank(bank)
        found = self._all(
            f"SELECT {IMPORTED} FROM visible_imported_record WHERE {where} AND session = ? "
            "ORDER BY time DESC, bank, id",
            *(*values, session),
        )
        return [imported_of(row) for row in found]

    def import_batches(self, bank: str | None = None) -> list[ImportBatch]:
        where, values = self._in_bank(bank)
        found = self._all(
            f"SELECT {_IMPORT_BATCH} FROM import_batch WHERE {where} ORDER BY time, id", *values
        )
        return [import_batch_of(row) for row in found]


class ImportWriter(ImportReader, CurationWriter):
    """Writes them."""

    def imported_versions(self, bank: str) -> dict[str, str]:
        return dict(
            self._all("SELECT id, version FROM current_imported_record WHERE bank = ?", bank)
        )

    def import_batch_ids(self, bank: str, batch: str) -> list[str]:
        found = self._all(
            "SELECT id FROM imported_record WHERE bank = ? AND import_batch = ? ORDER BY id",
            bank,
            batch,
        )
        return [id for (id,) in found]

    def put_import_batch(self, batch: ImportBatch) -> None:
        self._run(
            f"INSERT INTO import_batch ({_IMPORT_BATCH}) VALUES ({placeholders(_IMPORT_BATCH)})",
            *(json.dumps(v, sort_keys=True) if isinstance(v, dict) else v for v in batch),
        )
        self.mark_changed(batch.bank, "")

    def put_imported(self, batch: str, records: Iterable[ImportedRecord]) -> None:
        columns = f"{IMPORTED}, import_batch"
        self._run_many(
            f"INSERT INTO imported_record ({columns}) VALUES ({placeholders(columns)})",
            [(*_row_of(record), batch) for record in records],
        )

    def imported_by_ids(self, bank: str, ids: Sequence[str]) -> list[ImportedRecord]:
        found: list[ImportedRecord] = []
        for some in batches(sorted(set(ids))):
            fields = self._all(
                f"SELECT {IMPORTED} FROM visible_imported_record WHERE bank = ? AND id IN "
                f"({placeholders_for(some)}) ORDER BY id",
                *(bank, *some),
            )
            found += [imported_of(row) for row in fields]
        return found

    def put_imported_passages(
        self, bank: str, ids: Sequence[str], passages: Sequence[Passage]
    ) -> None:
        for some in batches(list(ids)):
            self._run(
                "DELETE FROM passage WHERE bank = ? AND kind = 'imported' AND id IN "
                f"({placeholders_for(some)})",
                *(bank, *some),
            )
        self.put_passages(passages)
        self.mark_changed(bank, "")
