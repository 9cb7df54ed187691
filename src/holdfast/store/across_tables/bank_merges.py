"""Merging a bank into another, and undoing that.

Canonical rows go to the other bank with their ids; what was derived is made again there. Of each
row that goes, `bank_merge_row` holds the key, never the words. A row that both banks have stays
once. Undoing moves the rows back, with all that was read of the bank's transcripts and decided
about its records since; what both banks had is copied.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.bank import Bank
from holdfast.model.curation import Action
from holdfast.model.uris import parse_uri
from holdfast.principal import Level
from holdfast.store.across_tables.derived import DerivedRows
from holdfast.store.index.passages import Passages
from holdfast.store.index.progress import StageProgress
from holdfast.store.index.vectors import Vectors
from holdfast.store.records.banks import Banks
from holdfast.store.records.curation import Curations
from holdfast.store.records.sessions import mark_stale
from holdfast.store.sql import labels
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import batches, insert_missing, placeholders_for
from holdfast.store.sql.table import PASSAGE


class _Table(NamedTuple):
    """A table whose rows belong to a bank: its primary key without the bank, and the kind of the
    records in it that have passages."""

    name: str
    key: str = "id"
    kind: str = ""


# Sessions, turns and sources are moved by themselves. Erasure marks are copied in both directions:
# what was erased in one of the banks must not come back in the other.
_TABLES = (
    _Table("injection"),
    _Table("record_use", "record, turn"),
    _Table("model_call"),
    _Table("model_summary", "hash, version"),
    _Table("remembered_memory", kind="memory"),
    _Table("memory_dimension"),
    _Table("opinion", kind="memory"),
    _Table("opinion_revision", "opinion, number"),
    _Table("concept_anchor", "concept, position"),
    _Table("refused_proposal", "seq"),
    _Table("commit", kind="commit"),
    _Table("commit_patch"),
    _Table("file_change", "path, time, id, change"),
    _Table("commit_revert", "reverted, id"),
    _Table("unmerged_commit"),
    _Table("git_tag", "name"),
    _Table("git_branch", "name"),
    _Table("repository", "path"),
    _Table("pull", kind="pull"),
    _Table("issue", kind="issue"),
    _Table("remark", kind="remark"),
    _Table("pull_commit", '"commit", pull'),
    _Table("forge_login", "login"),
    _Table("followed_repository", "repo"),
    _Table("share_import"),
    _Table("shared_record", "id, share_import", "shared"),
    _Table("sent_share"),
    _Table("outbox_item", "remote, id"),
    _Table("import_batch"),
    _Table("imported_record", "id, import_batch", "imported"),
    _Table("curation_state", "kind, id"),
    _Table("hidden_record", "kind, id"),
)
# Tables whose rows are moved in ways of their own, and how they are named in `bank_merge_row`.
_ALIAS, _SOURCE, _SESSION, _TURN, _DECISION, _MERGE = (
    "bank_alias", "source", "session", "turn", "curation", "bank_merge_row",
)  # fmt: skip
# Tables of which nothing is copied where both banks had a row: it is made again from files or from
# the log.
_NOT_COPIED = ("repository", "followed_repository", "outbox_item", "hidden_record")
_MERGE_ROW = "bank, decision, origin, key, shared, was"
# What a shared turn has of its own in each bank.
_TURN_PLACE = 'seq, source, line, "offset", ref'
# Vectors that are copied at a time.
_VECTORS_AT_ONCE = 1000

Key = tuple[Any, ...]


class _MergeRow(NamedTuple):
    key: Key
    shared: bool
    was: list[Any]


class BankMerges(Subject):
    """Moves everything of a bank into another, and back."""

    _banks: Banks
    _curation: Curations
    _derived: DerivedRows
    _passages: Passages
    _progress: StageProgress
    _vectors: Vectors

    def merge(self, bank: str, into: str, decision: int) -> None:
        """Move all rows of a bank into another, as the decision with this number says, and remove
        the bank. The sessions that came are to be derived again."""
        self._db.require(Level.ADMIN, all_banks=True)
        # Nobody reviewed both at once.
        self._db.run(
            "DELETE FROM model_summary WHERE bank IN (?, ?) AND kind = 'brief review'", (bank, into)
        )
        self._note(into, decision, _ALIAS, self._keys("bank_alias", "alias", bank))
        self._note(into, decision, _SOURCE, self._keys("source", "id", bank))
        self._note(into, decision, _DECISION, self._keys("curation", "seq", bank))
        earlier = self._db.all(
            "SELECT DISTINCT decision FROM bank_merge_row WHERE bank = ?", (bank,)
        )
        self._note(into, decision, _MERGE, earlier)
        for table in _TABLES:
            self._move_rows(table, bank, into, decision)
        sessions = self._move_sessions(bank, into, decision)
        self._move_passages(bank, into)
        self._copy_marks(bank, into)
        self._copy_vectors(bank, into)
        for name in ("bank_alias", "source", "curation", "bank_merge_row"):
            self._db.run(f"UPDATE {name} SET bank = ? WHERE bank = ?", (into, bank))
        self._derived.drop_bank(bank)
        self._db.run("DELETE FROM erasure_mark WHERE bank = ?", (bank,))
        self._db.run("DELETE FROM bank WHERE id = ?", (bank,))
        mark_stale(self._db, [(into, session, 0) for session in sessions])
        self._progress.mark_changed(into, "")

    def unmerge(self, bank: Bank, into: str, decision: int) -> None:
        """Undo a merge: create the bank again and move back what came from it."""
        self._db.require(Level.ADMIN, all_banks=True)
        self._banks.add(replace(bank, aliases=()))
        back, known = bank.id, self._merge_rows(into, decision)
        wanted_by_others = self._wanted_by_others(into, decision)
        aliases = [row.key[0] for row in known.get(_ALIAS, ())]
        self._set_bank("bank_alias", "alias", back, into, aliases)
        merges = [row.key[0] for row in known.get(_MERGE, ())]
        self._set_bank("bank_merge_row", "decision", back, into, merges)
        sources = [row.key[0] for row in known.get(_SOURCE, ())]
        self._set_bank("source", "id", back, into, sources)
        sessions = self._return_sessions(back, into, sources, known)
        self._return_decisions(back, into, decision, known, sessions)
        for table in _TABLES:
            self._return_rows(table, back, into, known.get(table.name, ()), wanted_by_others)
        self._copy_marks(into, back)
        self._db.run("DELETE FROM bank_merge_row WHERE bank = ? AND decision = ?", (into, decision))
        for id in (back, into):
            self._progress.mark_changed(id, "")

    # Rows with a key of their own.

    def _keys(self, table: str, column: str, bank: str) -> list[Key]:
        return self._db.all(f"SELECT {column} FROM {table} WHERE bank = ?", (bank,))

    def _note(self, into: str, decision: int, origin: str, keys: Iterable[Key]) -> None:
        self._put_notes(into, decision, origin, [_MergeRow(key, False, []) for key in keys])

    def _put_notes(self, into: str, decision: int, origin: str, noted: Iterable[_MergeRow]) -> None:
        values = [
            (into, decision, origin, _json(row.key), int(row.shared), _json(row.was))
            for row in noted
        ]
        self._db.run_many(insert_missing("bank_merge_row", _MERGE_ROW), values)

    def _move_rows(self, table: _Table, bank: str, into: str, decision: int) -> None:
        same = f'EXISTS (SELECT 1 FROM "{table.name}" AS o WHERE o.bank = ? AND {_same(table)})'
        found = self._db.all(
            f"SELECT {_of('t', table.key)}, CASE WHEN {same} THEN 1 ELSE 0 END "
            f'FROM "{table.name}" AS t WHERE t.bank = ?',
            (into, bank),
        )
        if not found:
            return
        noted = [_MergeRow(row[:-1], bool(row[-1]), []) for row in found]
        self._put_notes(into, decision, table.name, noted)
        self._db.run(
            f'UPDATE "{table.name}" AS t SET bank = ? WHERE t.bank = ? AND NOT {same}',
            (into, bank, into),
        )
        self._db.run(f'DELETE FROM "{table.name}" WHERE bank = ?', (bank,))

    def _return_rows(
        self,
        table: _Table,
        bank: str,
        into: str,
        noted: Sequence[_MergeRow],
        wanted_by_others: dict[tuple[str, str], int],
    ) -> None:
        for row in noted:
            other = wanted_by_others.get((table.name, _json(row.key)))
            if row.shared or other is not None:
                self._copy_row(table, bank, into, row.key)
            else:
                self._db.run(
                    f'UPDATE "{table.name}" AS t SET bank = ? WHERE bank = ? AND {_is(table.key)} '
                    f'AND NOT EXISTS (SELECT 1 FROM "{table.name}" AS o WHERE o.bank = ? '
                    f"AND {_same(table)})",
                    (bank, into, *row.key, bank),
                )
            if other is not None and not row.shared:
                self._db.run(
                    "UPDATE bank_merge_row SET shared = 0 WHERE bank = ? AND decision = ? "
                    "AND origin = ? AND key = ?",
                    (into, other, table.name, _json(row.key)),
                )
            if table.kind:
                keeps = row.shared or other is not None
                self._return_passage(bank, into, table.kind, str(row.key[0]), keeps)

    def _copy_row(self, table: _Table, bank: str, into: str, key: Key) -> None:
        if table.name in _NOT_COPIED:
            return
        listed = self._columns(table.name)
        self._db.run(
            f'INSERT INTO "{table.name}" (bank, {listed}) SELECT CAST(? AS text), {listed} '
            f'FROM "{table.name}" WHERE bank = ? AND {_is(table.key)} ON CONFLICT DO NOTHING',
            (bank, into, *key),
        )

    def _columns(self, table: str) -> str:
        """The columns of a table without the bank."""
        found = self._db.all(self._db.dialect.table_columns, (table,))
        return ", ".join(f'"{name}"' for (name,) in found if name != "bank")

    def _set_bank(
        self, table: str, column: str, bank: str, into: str, values: Sequence[Any]
    ) -> None:
        for some in batches(values):
            self._db.run(
                f"UPDATE {table} SET bank = ? WHERE bank = ? "
                f"AND {column} IN ({placeholders_for(some)})",
                (bank, into, *some),
            )

    def _merge_rows(self, into: str, decision: int) -> dict[str, list[_MergeRow]]:
        """The rows that a merge moved, by their table."""
        found: dict[str, list[_MergeRow]] = {}
        for origin, key, shared, was in self._db.all(
            "SELECT origin, key, shared, was FROM bank_merge_row WHERE bank = ? AND decision = ? "
            "ORDER BY origin, key",
            (into, decision),
        ):
            row = _MergeRow(tuple(json.loads(key)), bool(shared), json.loads(was))
            found.setdefault(origin, []).append(row)
        return found

    def _wanted_by_others(self, into: str, decision: int) -> dict[tuple[str, str], int]:
        """The rows that a later merge found here already, each with the number of that merge: they
        stay when this one is undone."""
        found = self._db.all(
            "SELECT origin, key, min(decision) FROM bank_merge_row WHERE bank = ? "
            "AND decision > ? AND shared = 1 GROUP BY origin, key",
            (into, decision),
        )
        return {(origin, key): other for origin, key, other in found}

    # Sessions and turns.

    def _move_sessions(self, bank: str, into: str, decision: int) -> list[str]:
        """Move sessions and turns; returns the ids of the sessions."""
        held = {id for (id,) in self._keys("session", "id", into)}
        sessions = sorted(id for (id,) in self._keys("session", "id", bank))
        noted = [_MergeRow((id,), id in held, []) for id in sessions]
        self._put_notes(into, decision, _SESSION, noted)
        for id in sessions:
            self._copy_row(_Table(_SESSION), into, bank, (id,))
            if id in held:
                self._renumber_turns(bank, into, decision, id)
        self._db.run("UPDATE turn SET bank = ? WHERE bank = ?", (into, bank))
        self._db.run("DELETE FROM session WHERE bank = ?", (bank,))
        return sessions

    def _renumber_turns(self, bank: str, into: str, decision: int, session: str) -> None:
        """Make room for the turns of a session that both banks have: a turn that both have stays
        once, and one whose position is taken goes to the end."""
        listed = f"SELECT id, {_TURN_PLACE} FROM turn WHERE bank = ? AND session = ? ORDER BY seq"
        there = self._db.all(listed, (into, session))
        known, taken = {row[0] for row in there}, {row[1] for row in there}
        noted: list[_MergeRow] = []
        came = self._db.all(listed, (bank, session))
        end = max([*taken, *(row[1] for row in came)], default=0)
        for id, seq, *rest in came:
            if id in known:
                noted.append(_MergeRow((id,), True, [seq, *rest]))
                self._db.run("DELETE FROM turn WHERE bank = ? AND id = ?", (bank, id))
            elif seq in taken:
                end += 1
                noted.append(_MergeRow((id,), False, [seq]))
                self._set_seq(bank, id, end)
        self._put_notes(into, decision, _TURN, noted)

    def _set_seq(self, bank: str, turn: str, seq: int) -> None:
        self._db.run("UPDATE turn SET seq = ? WHERE bank = ? AND id = ?", (seq, bank, turn))

    def _return_sessions(
        self, bank: str, into: str, sources: Sequence[int], known: dict[str, list[_MergeRow]]
    ) -> list[str]:
        """Move back the sessions of the bank and all turns of its sources; returns the sessions
        that are in this bank alone again."""
        noted = {row.key[0]: row.shared for row in known.get(_SESSION, ())}
        since = self._sessions_of(into, sources)
        for id in {**noted, **since}:
            self._copy_row(_Table(_SESSION), bank, into, (id,))
        self._set_bank("turn", "source", bank, into, sources)
        turns = sorted(known.get(_TURN, ()), key=lambda row: row.was[0])
        for row in turns:
            if row.shared:
                self._copy_turn(bank, row)
            else:
                self._set_seq(bank, row.key[0], row.was[0])
        alone = [id for id in {**noted, **since} if not noted.get(id, False)]
        for id in {**noted, **since}:
            self._db.run(
                "INSERT INTO hidden_record SELECT CAST(? AS text), kind, id, session FROM "
                "hidden_record WHERE bank = ? AND session = ? AND kind = 'raw' "
                "ON CONFLICT DO NOTHING",
                (bank, into, id),
            )
        for id in alone:
            self._derived.move_summaries(id, into, bank)
            for table in ("curation_state", "hidden_record", "record_use", "model_call"):
                self._db.run(
                    f"UPDATE {table} SET bank = ? WHERE bank = ? AND session = ? AND NOT EXISTS "
                    f"(SELECT 1 FROM {table} AS o WHERE o.bank = ? AND {_FOLLOWS[table]})",
                    (bank, into, id, bank),
                )
            self._derived.clear_session(into, id)
            self._db.run("DELETE FROM session WHERE bank = ? AND id = ?", (into, id))
        self._return_injections(bank, into)
        mark_stale(self._db, [(bank, id, 0) for id in {**noted, **since}])
        mark_stale(self._db, [(into, id, 0) for id, shared in noted.items() if shared])
        return alone

    def _sessions_of(self, bank: str, sources: Sequence[int]) -> dict[str, bool]:
        found: dict[str, bool] = {}
        for some in batches(sources):
            places = placeholders_for(some)
            listed = self._db.all(
                f"SELECT DISTINCT session FROM turn WHERE bank = ? AND source IN ({places}) "
                f"UNION SELECT id FROM session WHERE bank = ? AND source IN ({places})",
                (bank, *some, bank, *some),
            )
            found |= dict.fromkeys((id for (id,) in listed), False)
        return found

    def _return_injections(self, bank: str, into: str) -> None:
        """Move what was injected into sessions that are in this bank alone; injections have the
        agent's own id of the session."""
        self._db.run(
            "UPDATE injection SET bank = ? WHERE bank = ? AND session IN (SELECT host FROM session "
            "WHERE bank = ?) AND session NOT IN (SELECT host FROM session WHERE bank = ?)",
            (bank, into, bank, into),
        )

    def _copy_turn(self, bank: str, row: _MergeRow) -> None:
        listed = self._columns(_TURN)
        self._db.run(
            f"INSERT INTO turn (bank, {listed}) SELECT CAST(? AS text), {listed} FROM turn "
            "WHERE id = ? ORDER BY bank LIMIT 1 ON CONFLICT DO NOTHING",
            (bank, row.key[0]),
        )
        places = ", ".join(f"{name} = ?" for name in _TURN_PLACE.split(", "))
        self._db.run(
            f"UPDATE turn SET {places} WHERE bank = ? AND id = ?", (*row.was, bank, row.key[0])
        )

    # Decisions.

    def _return_decisions(
        self,
        bank: str,
        into: str,
        decision: int,
        known: dict[str, list[_MergeRow]],
        sessions: Sequence[str],
    ) -> None:
        """Move back the decisions that came with the bank, and those made since about its
        records."""
        own = {str(row.key[0]) for row in known.get(_DECISION, ())}
        records = {
            (table.kind, str(row.key[0]))
            for table in _TABLES
            if table.kind
            for row in known.get(table.name, ())
            if not row.shared
        }
        records |= {("session", id) for id in sessions}
        for session in sessions:
            states = self._curation.states_in_session(bank, session)
            records |= {(state.kind, state.id) for state in states}
        for entry in self._curation.log(into):
            if entry.seq <= decision:
                continue
            about = parse_uri(entry.target)
            follows = (
                entry.target in own
                if entry.action is Action.UNDO
                else about is not None and (about.kind, about.id) in records
            )
            if follows:
                own.add(str(entry.seq))
        self._set_bank("curation", "seq", bank, into, sorted(int(seq) for seq in own))

    # Passages, vectors, marks.

    def _move_passages(self, bank: str, into: str) -> None:
        """Let the records that have no session be found in the other bank."""
        kinds = sorted({table.kind for table in _TABLES if table.kind})
        found = self._db.all(
            f"SELECT {PASSAGE.columns} FROM passage AS t WHERE bank = ? "
            f"AND kind IN ({placeholders_for(kinds)}) AND NOT EXISTS (SELECT 1 FROM passage AS o "
            "WHERE o.bank = ? AND o.kind = t.kind AND o.id = t.id) "
            "AND NOT EXISTS (SELECT 1 FROM retained_memory AS r "
            "WHERE r.bank = t.bank AND r.id = t.id) ORDER BY kind, id",
            (bank, *kinds, into),
        )
        for row in found:
            passage = PASSAGE.record(row)
            labels.copy_labels(self._db, bank, into, passage.kind, passage.id)
        self._passages.add([PASSAGE.record(row)._replace(bank=into) for row in found])

    def _return_passage(self, bank: str, into: str, kind: str, id: str, keeps: bool) -> None:
        for passage in self._passages.of_records(into, kind, [id]):
            self._passages.add([passage._replace(bank=bank)])
            labels.copy_labels(self._db, into, bank, kind, id)
        if not keeps:
            for table in ("passage", "record_labels"):
                self._db.run(
                    f"DELETE FROM {table} WHERE bank = ? AND kind = ? AND id = ?", (into, kind, id)
                )

    def _copy_marks(self, bank: str, into: str) -> None:
        self._db.run(
            "INSERT INTO erasure_mark SELECT CAST(? AS text), mark FROM erasure_mark "
            "WHERE bank = ? ON CONFLICT DO NOTHING",
            (into, bank),
        )

    def _copy_vectors(self, bank: str, into: str) -> None:
        """Keep the embeddings of the texts, which take long to compute."""
        for model in [model for model, _ in self._vectors.models()]:
            last = 0
            while some := self._vectors.after(bank, model, last, _VECTORS_AT_ONCE):
                self._vectors.put(into, model, [(v.hash, v.part, v.data) for v in some])
                last = some[-1].number


# Of a row that follows its session: the condition that the other bank has the same.
_FOLLOWS = {
    "curation_state": "o.kind = curation_state.kind AND o.id = curation_state.id",
    "hidden_record": "o.kind = hidden_record.kind AND o.id = hidden_record.id",
    "record_use": "o.record = record_use.record AND o.turn = record_use.turn",
    "model_call": "o.id = model_call.id",
}


def _json(values: Sequence[Any]) -> str:
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))


def _columns(key: str) -> list[str]:
    return key.split(", ")


def _of(table: str, key: str) -> str:
    return ", ".join(f"{table}.{name}" for name in _columns(key))


def _same(table: _Table) -> str:
    return " AND ".join(f"o.{name} = t.{name}" for name in _columns(table.key))


def _is(key: str) -> str:
    return " AND ".join(f"{name} = ?" for name in _columns(key))
