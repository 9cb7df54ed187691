"""Records that other people share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Passage
from holdfast.model.team import SHARED_SCOPES, Scope, SharedRecord
from holdfast.store.index.passages import Passages
from holdfast.store.index.progress import StageProgress
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import insert_missing, placeholders
from holdfast.store.sql.table import Table


class ShareImport(NamedTuple):
    """One import of what others share: from where (`place`), up to which commits (`heads`), and
    when."""

    bank: str
    id: str
    place: str
    heads: tuple[str, ...]
    time: str


def _scope(value: str) -> Scope:
    # Of a scope that this program does not know, nothing is shown.
    return SHARED_SCOPES.get(value, Scope.PERSONAL)


SHARED = Table(
    "shared_record",
    SharedRecord,
    visible="visible_shared_record",
    convert={"scope": (str, _scope)},
)
_IMPORT = Table("share_import", ShareImport)


class Shares(Subject):
    """Reads shared records."""

    _passages: Passages
    _progress: StageProgress

    def all(self, bank: str) -> list[SharedRecord]:
        """The records that others share and that are shown, the latest first."""
        return SHARED.find(self._db, bank, "ORDER BY shared DESC, id", hidden=False)

    def imports(self, bank: str) -> list[ShareImport]:
        """Every share import, undone or not, the oldest first."""
        return _IMPORT.find(self._db, bank, "ORDER BY time, id")

    def sent_ids(self, bank: str) -> set[str]:
        """The ids of the records that were shared from this memory."""
        return {id for (id,) in self._db.all("SELECT id FROM sent_share WHERE bank = ?", (bank,))}

    def put_sent(self, bank: str, ids: Iterable[str]) -> None:
        """Add to the ids of the records that were shared from this memory."""
        self._db.run_many(insert_missing("sent_share", "bank, id"), [(bank, id) for id in ids])

    def current(self, bank: str) -> list[SharedRecord]:
        """The current version of each shared record, hidden and withdrawn ones included."""
        found = self._db.all(
            f"SELECT {SHARED.columns} FROM current_shared_record WHERE bank = ? ORDER BY id",
            (bank,),
        )
        return SHARED.records(found)

    def import_ids(self, bank: str, share_import: str) -> list[str]:
        """The ids of the records that a share import brought."""
        found = self._db.all(
            "SELECT id FROM shared_record WHERE bank = ? AND share_import = ? ORDER BY id",
            (bank, share_import),
        )
        return [id for (id,) in found]

    def put_import(self, share_import: ShareImport, records: Iterable[SharedRecord]) -> None:
        """Store a share import with its records."""
        _IMPORT.add(self._db, [share_import])
        columns = f"{SHARED.columns}, share_import"
        self._db.run_many(
            f"INSERT INTO shared_record ({columns}) VALUES ({placeholders(columns)})",
            [(*SHARED.row(record), share_import.id) for record in records],
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
