"""Records that other people share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import Any

from holdfast.model.query import Passage
from holdfast.model.team import SHARED_SCOPES, Scope, SharedRecord
from holdfast.model.trust import Trust
from holdfast.store.protocol.shares import ShareImport
from holdfast.store.sql.statements import insert_missing, placeholders
from holdfast.store.sql.tables.curation import CurationWriter
from holdfast.store.sql.tables.outbox import OutboxReader, OutboxWriter

SHARED = (
    "bank, id, version, kind, text, author, email, shared, origin, time, trust, lineage, files, "
    "note, gone, scope"
)


def shared_of(row: tuple[Any, ...]) -> SharedRecord:
    """`SHARED`."""
    fields: dict[str, Any] = dict(zip(SHARED.split(", "), row, strict=True))
    fields["files"] = tuple(json.loads(fields["files"]))
    for name in ("trust", "lineage"):
        fields[name] = Trust(fields[name])
    fields["gone"] = bool(fields["gone"])
    # Of a scope that this program does not know, nothing is shown.
    fields["scope"] = SHARED_SCOPES.get(fields["scope"], Scope.PERSONAL)
    return SharedRecord(**fields)


def _row_of(shared: SharedRecord) -> tuple[Any, ...]:
    whole: tuple[Any, ...] = astuple(shared)
    return tuple(
        json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value
        for value in whole
    )


class ShareReader(OutboxReader):
    """Reads shared records, and the outbox."""

    def shared(self, bank: str) -> list[SharedRecord]:
        found = self._all(
            f"SELECT {SHARED} FROM visible_shared_record WHERE bank = ? ORDER BY shared DESC, id",
            bank,
        )
        return [shared_of(row) for row in found]

    def share_imports(self, bank: str) -> list[ShareImport]:
        found = self._all(
            "SELECT bank, id, place, heads, time FROM share_import WHERE bank = ? ORDER BY time, "
            "id",
            bank,
        )
        return [ShareImport(b, id, place, tuple(json.loads(h)), t) for b, id, place, h, t in found]


class ShareWriter(ShareReader, OutboxWriter, CurationWriter):
    """Writes them."""

    def sent_ids(self, bank: str) -> set[str]:
        return {id for (id,) in self._all("SELECT id FROM sent_share WHERE bank = ?", bank)}

    def put_sent(self, bank: str, ids: Iterable[str]) -> None:
        self._run_many(insert_missing("sent_share", "bank, id"), [(bank, id) for id in ids])

    def current_shared(self, bank: str) -> list[SharedRecord]:
        found = self._all(
            f"SELECT {SHARED} FROM current_shared_record WHERE bank = ? ORDER BY id", bank
        )
        return [shared_of(row) for row in found]

    def share_import_ids(self, bank: str, share_import: str) -> list[str]:
        found = self._all(
            "SELECT id FROM shared_record WHERE bank = ? AND share_import = ? ORDER BY id",
            bank,
            share_import,
        )
        return [id for (id,) in found]

    def put_share_import(self, share_import: ShareImport, records: Iterable[SharedRecord]) -> None:
        self._run(
            "INSERT INTO share_import VALUES (?, ?, ?, ?, ?)",
            *(
                share_import.bank,
                share_import.id,
                share_import.place,
                json.dumps(share_import.heads),
                share_import.time,
            ),
        )
        columns = f"{SHARED}, share_import"
        self._run_many(
            f"INSERT INTO shared_record ({columns}) VALUES ({placeholders(columns)})",
            [(*_row_of(record), share_import.id) for record in records],
        )
        self.mark_changed(share_import.bank, "")

    def put_shared_passages(
        self, bank: str, ids: Sequence[str], passages: Sequence[Passage]
    ) -> None:
        for id in ids:
            self._run("DELETE FROM passage WHERE bank = ? AND kind = 'shared' AND id = ?", bank, id)
        self.put_passages(passages)
        self.mark_changed(bank, "")
