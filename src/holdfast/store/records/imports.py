"""Records imported from other memory tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from holdfast.lazy_dataclass import field_values
from holdfast.model.imports import ImportBatch, ImportedRecord
from holdfast.model.query import Passage, RecordFilter, matches_path
from holdfast.model.trust import Trust
from holdfast.store.index.passages import PassageWriter
from holdfast.store.index.progress import StageProgress
from holdfast.store.sql import labels
from holdfast.store.sql.database import Database
from holdfast.store.sql.statements import batches, placeholders, placeholders_for

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
    return tuple(
        json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value
        for value in field_values(record)
    )


def import_batch_of(row: tuple[Any, ...]) -> ImportBatch:
    """`_IMPORT_BATCH`."""
    bank, id, program, place, time, kinds, skipped, failed, redacted = row
    counts = (json.loads(kinds), json.loads(skipped), json.loads(failed))
    return ImportBatch(bank, id, program, place, time, *counts, redacted)


def _passes(record: ImportedRecord, filter: RecordFilter) -> bool:
    concept = {*(labels.keyword_stems(filter.concept) or [""])} if filter.concept else set[str]()
    in_time = (not filter.since or record.time >= filter.since) and (
        not filter.until or "" < record.time < filter.until
    )
    return (
        in_time
        and (not filter.file or any(matches_path(path, filter.file) for path in record.files))
        and (not filter.type or record.type == filter.type)
        and concept <= {*labels.stems(" ".join(record.labels))}
    )


class ImportReader:
    """Reads imported records."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def all(self, bank: str) -> list[ImportedRecord]:
        """The imported records that are shown, the latest first."""
        found = self._db.all(
            f"SELECT {IMPORTED} FROM visible_imported_record WHERE bank = ? ORDER BY time DESC, id",
            (bank,),
        )
        return [imported_of(row) for row in found]

    def by_origin(self, bank: str | None, origin: str) -> list[ImportedRecord]:
        """The shown records with this name in the program they come from, by bank and id."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT {IMPORTED} FROM visible_imported_record WHERE {where} AND origin = ? ORDER "
            "BY bank, id",
            (*values, origin),
        )
        return [imported_of(row) for row in found]

    def in_session(self, bank: str | None, session: str) -> list[ImportedRecord]:
        """The shown records of a session of the program they come from, the latest first."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT {IMPORTED} FROM visible_imported_record WHERE {where} AND session = ? "
            "ORDER BY time DESC, bank, id",
            (*values, session),
        )
        return [imported_of(row) for row in found]

    def latest(self, bank: str | None, kind: str, limit: int) -> list[ImportedRecord]:
        """The latest shown records that were of a kind in the program they come from."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT {IMPORTED} FROM visible_imported_record WHERE {where} AND kind = ? "
            "ORDER BY time DESC, bank, id LIMIT ?",
            (*values, kind, limit),
        )
        return [imported_of(row) for row in found]

    def filter(
        self, bank: str | None, filter: RecordFilter, limit: int = 20
    ) -> list[ImportedRecord]:
        """The shown records that match a filter, the latest first. The type of an exchange and
        the words of a concept are looked for in their labels."""
        where, values = self._db.in_bank(bank)
        position = self._db.dialect.position
        searched = (
            ("files", filter.file.replace("\\", "/").rstrip("/").rpartition("/")[2]),
            ("labels", filter.type),
        )
        # Only narrows what is read: both columns are JSON, and a name may be part of another.
        wanted = [(column, json.dumps(text, ensure_ascii=False)[1:-1]) for column, text in searched]
        where += "".join(f" AND {position}({column}, ?) > 0" for column, text in wanted if text)
        found = self._db.all(
            f"SELECT {IMPORTED} FROM visible_imported_record WHERE {where} "
            "ORDER BY time DESC, id, bank",
            (*values, *(text for _, text in wanted if text)),
        )
        passing = (one for one in map(imported_of, found) if _passes(one, filter))
        return list(islice(passing, limit))

    def batches(self, bank: str | None = None) -> list[ImportBatch]:
        """Every import, undone or not, the oldest first."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT {_IMPORT_BATCH} FROM import_batch WHERE {where} ORDER BY time, id", values
        )
        return [import_batch_of(row) for row in found]


class ImportWriter(ImportReader):
    """Writes imported records."""

    def __init__(self, db: Database, passages: PassageWriter, progress: StageProgress) -> None:
        super().__init__(db)
        self._passages = passages
        self._progress = progress

    def versions(self, bank: str) -> dict[str, str]:
        """By id, the current version of each record, hidden ones included."""
        return dict(
            self._db.all("SELECT id, version FROM current_imported_record WHERE bank = ?", (bank,))
        )

    def batch_ids(self, bank: str, batch: str) -> list[str]:
        """The ids of the records that an import brought."""
        found = self._db.all(
            "SELECT id FROM imported_record WHERE bank = ? AND import_batch = ? ORDER BY id",
            (bank, batch),
        )
        return [id for (id,) in found]

    def put_batch(self, batch: ImportBatch) -> None:
        """Store an import."""
        self._db.run(
            f"INSERT INTO import_batch ({_IMPORT_BATCH}) VALUES ({placeholders(_IMPORT_BATCH)})",
            [json.dumps(v, sort_keys=True) if isinstance(v, dict) else v for v in batch],
        )
        self._progress.mark_changed(batch.bank, "")

    def put(self, batch: str, records: Iterable[ImportedRecord]) -> None:
        """Store the records that an import brought."""
        columns = f"{IMPORTED}, import_batch"
        self._db.run_many(
            f"INSERT INTO imported_record ({columns}) VALUES ({placeholders(columns)})",
            [(*_row_of(record), batch) for record in records],
        )

    def by_ids(self, bank: str, ids: Sequence[str]) -> list[ImportedRecord]:
        """Those of some records that are shown, by id."""
        found: list[ImportedRecord] = []
        for some in batches(sorted(set(ids))):
            fields = self._db.all(
                f"SELECT {IMPORTED} FROM visible_imported_record WHERE bank = ? AND id IN "
                f"({placeholders_for(some)}) ORDER BY id",
                (bank, *some),
            )
            found += [imported_of(row) for row in fields]
        return found

    def put_passages(self, bank: str, ids: Sequence[str], passages: Sequence[Passage]) -> None:
        """Replace the passages of some imported records."""
        for some in batches(list(ids)):
            self._db.run(
                "DELETE FROM passage WHERE bank = ? AND kind = 'imported' AND id IN "
                f"({placeholders_for(some)})",
                (bank, *some),
            )
        self._passages.add(passages)
        self._progress.mark_changed(bank, "")
