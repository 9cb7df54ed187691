"""People's decisions: the log, and what it results in for each record.

The log is canonical. The state of a record follows from it and is stored beside the records, so
that reading them does not replay the log. A hidden record stays stored and is left out of every
answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.lazy_dataclass import replace
from holdfast.model.curation import (
    Action,
    Curation,
    CurationState,
    Judgement,
    in_effect,
    judgements,
)
from holdfast.store.index.progress import StageProgress
from holdfast.store.sql import rows
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import (
    batches,
    insert,
    placeholders_for,
)
from holdfast.store.sql.table import Table

CURATION = Table("curation", Curation, "seq")
CURATION_STATE = Table("curation_state", CurationState, "bank, kind, id")

# Kinds that are hidden by their own id; a turn can also be hidden with its session or exchange.
_HIDDEN_BY_ID = (
    "session", "commit", "memory", "concept", "pull", "issue", "remark", "shared", "taking",
    "imported", "importing",
)  # fmt: skip


class Curations(Subject):
    """Reads decisions and what they result in."""

    _progress: StageProgress

    def log(self, bank: str) -> list[Curation]:
        """The log of people's decisions, oldest first."""
        return CURATION.find(self._db, bank, "ORDER BY seq")

    def judgements(self, bank: str) -> dict[str, Judgement]:
        """The verdicts of people and agents that are in effect, by the URIs of the records."""
        about = (Action.JUDGE, Action.CORRECT, Action.CONFIRM, Action.UNDO)
        found = self._db.all(
            f"SELECT {CURATION.columns} FROM curation "
            f"WHERE bank = ? AND (action IN ({placeholders_for(about)}) OR action = ? "
            "AND target IN (SELECT target FROM curation WHERE bank = ? AND action = ?)) "
            "ORDER BY seq",
            (
                bank,
                *(action.value for action in about),
                Action.REMEMBER.value,
                bank,
                Action.JUDGE.value,
            ),
        )
        return judgements(in_effect(CURATION.records(found)))

    def merged_decisions(self, bank: str) -> frozenset[int]:
        """The numbers of the decisions of a bank that were made in others, before these were merged
        into it."""
        found = self._merged_keys("m.bank = ? AND m.origin = 'curation'", (bank,))
        return frozenset(int(key) for (key,) in found)

    def merged_sessions(self, bank: str, decision: int) -> frozenset[str]:
        """The ids of the sessions of the bank that was merged into this one by this decision."""
        where = "m.bank = ? AND m.decision = ? AND m.origin = 'session'"
        return frozenset(str(key) for (key,) in self._merged_keys(where, (bank, decision)))

    def _merged_keys(self, where: str, values: Sequence[str | int]) -> list[rows.Row]:
        """The keys of rows that merges moved, each of one column."""
        items = self._db.dialect.json_items
        sql = f"SELECT i.value FROM bank_merge_row AS m, {items}(m.key) AS i WHERE {where}"
        return self._db.all(sql, values)

    def state(self, bank: str, kind: str, id: str) -> CurationState | None:
        """The result of all decisions about one record; None if there are none."""
        return CURATION_STATE.first(self._db, bank, "AND kind = ? AND id = ?", (kind, id))

    def states_in_session(self, bank: str, session: str) -> list[CurationState]:
        """The same for everything in a session, the session itself included."""
        ordered = "AND session = ? ORDER BY kind, id"
        return CURATION_STATE.find(self._db, bank, ordered, (session,))

    def find_hidden(
        self, bank: str | None, kind: str, id: str, limit: int = 5
    ) -> list[CurationState]:
        """Hidden records by their id or the start of it, whether they are hidden themselves or with
        what contains them; `kind` "" means all kinds."""
        where, values = self._db.in_bank(bank)
        named = f"{where} AND (? IN ('', kind)) AND id >= ? AND id < ?"
        given = (*values, kind, rows.text(id), rows.text(id) + "\U0010ffff")
        found = self._db.all(
            f"SELECT {CURATION_STATE.columns} FROM curation_state WHERE {named} "
            "AND (forgotten <> 0 OR \"into\" <> '') "
            "UNION SELECT bank, kind, id, session, 0, '', '', '', '', '' FROM hidden_record "
            f"WHERE {named} AND kind <> 'raw' AND NOT EXISTS (SELECT 1 FROM curation_state AS own "
            "WHERE own.bank = hidden_record.bank AND own.kind = hidden_record.kind AND own.id = "
            "hidden_record.id "
            "AND (own.forgotten <> 0 OR own.\"into\" <> '')) ORDER BY 3, 2, 1 LIMIT ?",
            (*given, *given, limit),
        )
        return CURATION_STATE.records(found)

    def erased_marks(self, bank: str, marks: Sequence[str]) -> set[str]:
        """Which of these marks belong to something that was erased permanently."""
        if self._db.one("SELECT 1 FROM erasure_mark WHERE bank = ? LIMIT 1", (bank,)) is None:
            return set()
        found: set[str] = set()
        for some in batches(marks):
            listed = self._db.all(
                "SELECT mark FROM erasure_mark WHERE bank = ? AND mark IN "
                f"({placeholders_for(some)})",
                (bank, *some),
            )
            found.update(mark for (mark,) in listed)
        return found

    def is_raw_line_withheld(self, bank: str, turn: str) -> bool:
        """Whether the raw line of a turn is withheld because it contains what was scrubbed from the
        turn."""
        return bool(
            self._db.one(
                "SELECT 1 FROM hidden_record WHERE bank = ? AND kind = 'raw' AND id = ?",
                (bank, turn),
            )
        )

    def states_of_kind(self, bank: str, kind: str) -> list[CurationState]:
        """The curation states of all records of a kind."""
        return CURATION_STATE.find(self._db, bank, "AND kind = ? ORDER BY id", (kind,))

    def append(self, entry: Curation) -> Curation:
        """Append a person's decision to the log; returns it with its number."""
        e = entry
        ((seq,),) = self._db.all(
            f"{insert('curation', 'bank, time, action, target, text, who')} RETURNING seq",
            (e.bank, e.time, e.action.value, e.target, e.text, e.who),
        )
        return replace(entry, seq=seq)

    def put_state(self, curated: CurationState) -> None:
        """Store the curation state of one record."""
        c = curated
        name = (c.bank, c.kind, c.id)
        # One about which nothing stands any more still tells the session it is in.
        CURATION_STATE.put(self._db, c)
        if c.kind in _HIDDEN_BY_ID:
            self._db.run("DELETE FROM hidden_record WHERE bank = ? AND kind = ? AND id = ?", name)
            if c.is_hidden:
                self._db.run("INSERT INTO hidden_record VALUES (?, ?, ?, ?)", (*name, c.session))
        if c.kind == "concept" and c.is_hidden:  # what stays of it is made again
            for table in ("passage", "record_labels"):
                self._db.run(f"DELETE FROM {table} WHERE bank = ? AND kind = ? AND id = ?", name)
        if not c.session:
            self._progress.mark_changed(c.bank, "")
