"""Records imported from other memory tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import islice

from holdfast.model.imports import ImportBatch, ImportedRecord
from holdfast.model.query import Passage, RecordFilter, matches_path
from holdfast.store.index.passages import Passages
from holdfast.store.index.progress import StageProgress
from holdfast.store.sql import labels
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import batches, placeholders, placeholders_for
from holdfast.store.sql.table import Table

IMPORTED = Table("imported_record", ImportedRecord, visible="visible_imported_record")

_BATCH = Table("import_batch", ImportBatch)


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


class ImportedRecords(Subject):
    """Reads imported records."""

    _passages: Passages
    _progress: StageProgress

    def all(self, bank: str) -> list[ImportedRecord]:
        """The imported records that are shown, the latest first."""
        return self._shown(bank, "ORDER BY time DESC, id")

    def by_origin(self, bank: str | None, origin: str) -> list[ImportedRecord]:
        """The shown records with this name in the program they come from, by bank and id."""
        return self._shown(bank, "AND origin = ? ORDER BY bank, id", origin)

    def in_session(self, bank: str | None, session: str) -> list[ImportedRecord]:
        """The shown records of a session of the program they come from, the latest first."""
        return self._shown(bank, "AND session = ? ORDER BY time DESC, bank, id", session)

    def latest(self, bank: str | None, kind: str, limit: int) -> list[ImportedRecord]:
        """The latest shown records that were of a kind in the program they come from."""
        which = "AND kind = ? ORDER BY time DESC, bank, id LIMIT ?"
        return self._shown(bank, which, kind, limit)

    def _shown(self, bank: str | None, which: str, *values: object) -> list[ImportedRecord]:
        return IMPORTED.find(self._db, bank, which, values, hidden=False)

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
            f"SELECT {IMPORTED.columns} FROM visible_imported_record WHERE {where} "
            "ORDER BY time DESC, id, bank",
            (*values, *(text for _, text in wanted if text)),
        )
        passing = (one for one in IMPORTED.records(found) if _passes(one, filter))
        return list(islice(passing, limit))

    def batches(self, bank: str | None = None) -> list[ImportBatch]:
        """Every import, undone or not, the oldest first."""
        return _BATCH.find(self._db, bank, "ORDER BY time, id")

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
        _BATCH.add(self._db, [batch])
        self._progress.mark_changed(batch.bank, "")

    def put(self, batch: str, records: Iterable[ImportedRecord]) -> None:
        """Store the records that an import brought."""
        columns = f"{IMPORTED.columns}, import_batch"
        self._db.run_many(
            f"INSERT INTO imported_record ({columns}) VALUES ({placeholders(columns)})",
            [(*IMPORTED.row(record), batch) for record in records],
        )

    def by_ids(self, bank: str, ids: Sequence[str]) -> list[ImportedRecord]:
        """Those of some records that are shown, by id."""
        found: list[ImportedRecord] = []
        for some in batches(sorted(set(ids))):
            fields = self._db.all(
                f"SELECT {IMPORTED.columns} FROM visible_imported_record WHERE bank = ? AND id IN "
                f"({placeholders_for(some)}) ORDER BY id",
                (bank, *some),
            )
            found += IMPORTED.records(fields)
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
