"""Records that other people share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from holdfast.lazy_dataclass import field_values
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Passage
from holdfast.model.team import SHARED_SCOPES, Scope, SharedRecord
from holdfast.model.trust import Trust
from holdfast.store.index.passages import PassageWriter
from holdfast.store.index.progress import StageProgress
from holdfast.store.sql.database import Database
from holdfast.store.sql.statements import insert_missing, placeholders


class ShareImport(NamedTuple):
    """One import of what others share: from where (`place`), up to which commits (`heads`), and
    when."""

    bank: str
    id: str
    place: str
    heads: tuple[str, ...]
    time: str


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
    return tuple(
        json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value
        for value in field_values(shared)
    )


class ShareReader:
    """Reads shared records."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def all(self, bank: str) -> list[SharedRecord]:
        """The records that others share and that are shown, the latest first."""
        found = self._db.all(
            f"SELECT {SHARED} FROM visible_shared_record WHERE bank = ? ORDER BY shared DESC, id",
            (bank,),
        )
        return [shared_of(row) for row in found]

    def imports(self, bank: str) -> list[ShareImport]:
        """Every share import, undone or not, the oldest first."""
        found = self._db.all(
            "SELECT bank, id, place, heads, time FROM share_import WHERE bank = ? ORDER BY time, "
            "id",
            (bank,),
        )
        return [ShareImport(b, id, place, tuple(json.loads(h)), t) for b, id, place, h, t in found]


class ShareWriter(ShareReader):
    """Writes shared records."""

    def __init__(self, db: Database, passages: PassageWriter, progress: StageProgress) -> None:
        super().__init__(db)
        self._passages = passages
        self._progress = progress

    def sent_ids(self, bank: str) -> set[str]:
        """The ids of the records that were shared from this memory."""
        return {id for (id,) in self._db.all("SELECT id FROM sent_share WHERE bank = ?", (bank,))}

    def put_sent(self, bank: str, ids: Iterable[str]) -> None:
        """Add to the ids of the records that were shared from this memory."""
        self._db.run_many(insert_missing("sent_share", "bank, id"), [(bank, id) for id in ids])

    def current(self, bank: str) -> list[SharedRecord]:
        """The current version of each shared record, hidden and withdrawn ones included."""
        found = self._db.all(
            f"SELECT {SHARED} FROM current_shared_record WHERE bank = ? ORDER BY id", (bank,)
        )
        return [shared_of(row) for row in found]

    def import_ids(self, bank: str, share_import: str) -> list[str]:
        """The ids of the records that a share import brought."""
        found = self._db.all(
            "SELECT id FROM shared_record WHERE bank = ? AND share_import = ? ORDER BY id",
            (bank, share_import),
        )
        return [id for (id,) in found]

    def put_import(self, share_import: ShareImport, records: Iterable[SharedRecord]) -> None:
        """Store a share import with its records."""
        self._db.run(
            "INSERT INTO share_import VALUES (?, ?, ?, ?, ?)",
            (
                share_import.bank,
                share_import.id,
                share_import.place,
                json.dumps(share_import.heads),
                share_import.time,
            ),
        )
        columns = f"{SHARED}, share_import"
        self._db.run_many(
            f"INSERT INTO shared_record ({columns}) VALUES ({placeholders(columns)})",
            [(*_row_of(record), share_import.id) for record in records],
        )
        self._progress.mark_changed(share_import.bank, "")

    def put_passages(self, bank: str, ids: Sequence[str], passages: Sequence[Passage]) -> None:
        """Replace the passages of some shared records."""
        for id in ids:
            self._db.run(
                "DELETE FROM passage WHERE bank = ? AND kind = 'shared' AND id = ?", (bank, id)
            )
        self._passages.add(passages)
        self._progress.mark_changed(bank, "")
