"""Decisions of people: the log, its result for each record, and records as they were before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from holdfast.model.corrections import corrected_turn
from holdfast.model.curation import Action, Curation, CurationState
from holdfast.model.forge import Pull
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import Memory, Network
from holdfast.model.query import Passage
from holdfast.model.records import Turn
from holdfast.model.team import Commit
from holdfast.model.trust import Status
from holdfast.store.protocol.curation import StandaloneRecord
from holdfast.store.sql import labels
from holdfast.store.sql.rows import records as rows
from holdfast.store.sql.runner import StatementRunner
from holdfast.store.sql.statements import (
    batches,
    insert,
    insert_missing,
    placeholders,
    placeholders_for,
    upsert,
)
from holdfast.store.sql.tables.progress import StageProgress

# `rows.MEMORY` of what people asked to remember, and where it is found.
REMEMBERED_MEMORY = (
    "remembered_memory.bank, remembered_memory.id, time, who, text, coalesce(network, 'world'), "
    "coalesce(place, ''), coalesce(why, ''), confidence, remembered_memory.trust, "
    "CASE remembered_memory.trust WHEN 'user' THEN 'verified' ELSE 'observed' END, '[]', '[]', 1 "
    "FROM remembered_memory LEFT JOIN memory_dimension "
    "ON memory_dimension.bank = remembered_memory.bank AND memory_dimension.id = "
    "remembered_memory.id"
)
# Kinds that are hidden by their own id; a turn can also be hidden with its session or exchange.
_HIDDEN_BY_ID = (
    "session", "commit", "memory", "concept", "pull", "issue", "remark", "shared", "taking",
    "imported", "importing",
)  # fmt: skip


class CurationReader(StatementRunner):
    """Reads decisions."""

    def curations(self, bank: str) -> list[Curation]:
        found = self._all(
            "SELECT seq, bank, time, action, target, text, who FROM curation "
            "WHERE bank = ? ORDER BY seq",
            bank,
        )
        return [rows.curation_of(row) for row in found]

    def curation_state(self, bank: str, kind: str, id: str) -> CurationState | None:
        row = self._one(
            f"SELECT {rows.CURATION_STATE} FROM curation_state WHERE bank = ? AND kind = ? AND "
            "id = ?",
            bank,
            kind,
            id,
        )
        return rows.curation_state_of(row) if row else None

    def curation_states_in_session(self, bank: str, session: str) -> list[CurationState]:
        found = self._all(
            f"SELECT {rows.CURATION_STATE} FROM curation_state WHERE bank = ? AND session = ? "
            "ORDER BY "
            "kind, id",
            bank,
            session,
        )
        return [rows.curation_state_of(row) for row in found]

    def find_hidden(
        self, bank: str | None, kind: str, id: str, limit: int = 5
    ) -> list[CurationState]:
        where, values = self._in_bank(bank)
        named = f"{where} AND (? IN ('', kind)) AND id >= ? AND id < ?"
        given = (*values, kind, rows.text(id), rows.text(id) + "\U0010ffff")
        found = self._all(
            f"SELECT {rows.CURATION_STATE} FROM curation_state WHERE {named} "
            "AND (forgotten <> 0 OR \"into\" <> '') "
            "UNION SELECT bank, kind, id, session, 0, '', '', '', '', '' FROM hidden_record "
            f"WHERE {named} AND kind <> 'raw' AND NOT EXISTS (SELECT 1 FROM curation_state AS own "
            "WHERE own.bank = hidden_record.bank AND own.kind = hidden_record.kind AND own.id = "
            "hidden_record.id "
            "AND (own.forgotten <> 0 OR own.\"into\" <> '')) ORDER BY 3, 2, 1 LIMIT ?",
            *given,
            *given,
            limit,
        )
        return [rows.curation_state_of(row) for row in found]

    def erased_marks(self, bank: str, marks: Sequence[str]) -> set[str]:
        if self._one("SELECT 1 FROM erasure_mark WHERE bank = ? LIMIT 1", bank) is None:
            return set()
        found: set[str] = set()
        for some in batches(marks):
            listed = self._all(
                "SELECT mark FROM erasure_mark WHERE bank = ? AND mark IN "
                f"({placeholders_for(some)})",
                bank,
                *some,
            )
            found.update(mark for (mark,) in listed)
        return found

    def is_raw_line_withheld(self, bank: str, turn: str) -> bool:
        return bool(
            self._one(
                "SELECT 1 FROM hidden_record WHERE bank = ? AND kind = 'raw' AND id = ?", bank, turn
            )
        )

    def _corrected_turns(self, turns: list[Turn]) -> list[Turn]:
        """Turns of one session, with the new words of those that were corrected."""
        if not turns:
            return turns
        found = self._all(
            "SELECT id, text FROM curation_state "
            "WHERE bank = ? AND session = ? AND kind = 'turn' AND text <> ''",
            turns[0].bank,
            turns[0].session,
        )
        corrections: dict[str, str] = dict(found)
        return [
            corrected_turn(turn, corrections[turn.id]) if turn.id in corrections else turn
            for turn in turns
        ]


class CurationWriter(CurationReader, StageProgress):
    """Writes decisions, and reads records regardless of them."""

    def append_curation(self, entry: Curation) -> Curation:
        e = entry
        ((seq,),) = self._all(
            f"{insert('curation', 'bank, time, action, target, text, who')} RETURNING seq",
            *(e.bank, e.time, e.action.value, e.target, e.text, e.who),
        )
        return replace(entry, seq=seq)

    def put_curation_state(self, curated: CurationState) -> None:
        c = curated
        name = (c.bank, c.kind, c.id)
        # One about which nothing stands any more still tells the session it is in.
        self._run(
            upsert("curation_state", rows.CURATION_STATE, "bank, kind, id"),
            *c,
        )
        if c.kind in _HIDDEN_BY_ID:
            self._run("DELETE FROM hidden_record WHERE bank = ? AND kind = ? AND id = ?", *name)
            if c.is_hidden:
                self._run("INSERT INTO hidden_record VALUES (?, ?, ?, ?)", *name, c.session)
        if c.kind == "concept" and c.is_hidden:  # what stays of it is made again
            for table in ("passage", "record_labels"):
                self._run(f"DELETE FROM {table} WHERE bank = ? AND kind = ? AND id = ?", *name)
        if not c.session:
            self.mark_changed(c.bank, "")

    def put_memory(self, memory: Memory) -> None:
        self._run(
            insert_missing("remembered_memory", rows.REMEMBERED),
            *rows.remembered_row(memory),
        )
        m = memory
        if m.network is not Network.WORLD or m.where or m.why:
            self._run(
                insert_missing("memory_dimension", "bank, id, network, confidence, place, why"),
                *(m.bank, m.id, m.network.value, m.confidence, m.where, m.why),
            )
        self.mark_changed(memory.bank, "")

    def all_remembered(self, bank: str) -> list[Memory]:
        found = self._all(
            f"SELECT {REMEMBERED_MEMORY} WHERE remembered_memory.bank = ? ORDER BY time, "
            "remembered_memory.id",
            bank,
        )
        return [rows.memory_of(row) for row in found]

    def all_commits(self, bank: str) -> Iterator[Commit]:
        for row in self._all(f'SELECT {rows.COMMIT} FROM "commit" WHERE bank = ?', bank):
            yield rows.commit_of(row)

    def commit(self, bank: str, id: str) -> Commit | None:
        row = self._one(f'SELECT {rows.COMMIT} FROM "commit" WHERE bank = ? AND id = ?', bank, id)
        return rows.commit_of(row) if row else None

    def all_turns(self, bank: str, session: str, first: int = 0) -> Iterator[Turn]:
        for row in self._stream(
            f"SELECT {rows.TURN} FROM turn WHERE bank = ? AND session = ? AND seq >= ? "
            "ORDER BY seq",
            *(bank, session, first),
        ):
            yield rows.turn_of(row)

    def turn(self, bank: str, id: str) -> Turn | None:
        row = self._one(f"SELECT {rows.TURN} FROM turn WHERE bank = ? AND id = ?", bank, id)
        return rows.turn_of(row) if row else None

    def all_subagent_ids(self, bank: str, session: str) -> list[str]:
        found = self._all(
            "SELECT id FROM session WHERE bank = ? AND parent = ? AND id <> ? ORDER BY id",
            bank,
            session,
            session,
        )
        return [id for (id,) in found]

    def put_passage(self, record: StandaloneRecord, passage: Passage | None) -> None:
        name = (record.bank, record_kind(record), record.id)
        self._run("DELETE FROM passage WHERE bank = ? AND kind = ? AND id = ?", *name)
        self._run("DELETE FROM record_labels WHERE bank = ? AND kind = ? AND id = ?", *name)
        if passage is not None:
            self.put_passages([passage])
            if isinstance(record, Commit | Pull):
                labels.put_labels(self._connection, record)
            elif (
                isinstance(record, Memory) and record.status is Status.VERIFIED
            ):  # what a person corrections, not what was made of it
                labels.put_labels(self._connection, replace(record, what=passage.body))

    def _rebank_decisions(self, session: str, old: str, bank: str) -> None:
        """Repeat the decisions about a session in the bank that it moves to."""
        for c in self.curation_states_in_session(old, session):
            target = f"holdfast://{c.kind}/{c.id}"
            corrections = Curation(0, bank, c.time, Action.CORRECT, target, c.text, c.who)
            for decides, entry in (
                (c.text, corrections),
                (c.into, replace(corrections, action=Action.MERGE, text=c.into)),
                (c.forgotten, replace(corrections, action=Action.FORGET, text="")),
            ):
                if decides:
                    self.append_curation(entry)
            self.put_curation_state(c._replace(bank=bank))
        self._run(
            "INSERT INTO hidden_record SELECT CAST(? AS text), kind, id, session FROM "
            "hidden_record "
            "WHERE bank = ? AND session = ? AND kind = 'raw' ON CONFLICT DO NOTHING",
            *(bank, old, session),
        )
        self._run(
            "INSERT INTO erasure_mark SELECT CAST(? AS text), mark FROM erasure_mark WHERE bank "
            "= ? "
            "ON CONFLICT DO NOTHING",
            bank,
            old,
        )

    def put_passages(self, passages: Sequence[Passage]) -> None:
        """Add passages; triggers update the index."""
        columns = f"{rows.PASSAGE}, scope"
        self._run_many(
            f"INSERT INTO passage ({columns}) VALUES ({placeholders(columns)})",
            [rows.passage_row(passage) for passage in passages],
        )
