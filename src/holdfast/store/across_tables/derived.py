"""Derived rows of sessions: replaced, dropped, and moved with their source."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.curation import Action, Curation, verdict_text
from holdfast.model.knowledge import Claim
from holdfast.model.query import Passage
from holdfast.model.records import Digest, Exchange
from holdfast.model.uris import uri
from holdfast.principal import Level
from holdfast.store.index.passages import FullTextIndex, Passages
from holdfast.store.index.progress import StageProgress
from holdfast.store.knowledge.concepts import Concepts
from holdfast.store.knowledge.facts import Facts
from holdfast.store.knowledge.graph import Graph
from holdfast.store.knowledge.memories import Memories
from holdfast.store.knowledge.rules import Rules
from holdfast.store.records.curation import Curations
from holdfast.store.records.sessions import DIGEST, SESSION, mark_stale
from holdfast.store.records.sources import Sources
from holdfast.store.records.turns import Turns
from holdfast.store.sql import labels
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import (
    upsert,
)
from holdfast.store.sql.table import EXCHANGE


class HiddenTurn(NamedTuple):
    """A turn that is not shown."""

    id: str


class SupersededText(NamedTuple):
    """The text that a correction replaces."""

    kind: str
    id: str
    was: str


Derived = Exchange | Digest | Passage | Claim | HiddenTurn | SupersededText

# Characters of passages that are collected before they are written: fewer statements, against the
# memory that a large session takes.
_MAX_PENDING_CHARACTERS = 1_000_000

# Tables of the stages above the session, and of their progress.
_STAGE_TABLES = (
    "claim",
    "fact",
    "status_period",
    "ended_statement",
    "fact_evidence",
    "review",
    "dropped_claim_count",
    "commit_session",
    "stage_progress",
)

# Tables of the session, of rules and memories, and of the index.
_BANK_TABLES = (
    "exchange", "digest", "passage", "record_labels", "rule_file", "rule", "statement", "pattern",
    "proposal", "memory_occurrence", "retained_memory", "stale_memory", "vector",
    "stale_session", "session_derivation", "session_change",
)  # fmt: skip


class DerivedRows(Subject):
    """Writes derived rows, and drops all of them so that they can be made again."""

    _concepts: Concepts
    _curation: Curations
    _facts: Facts
    _full_text: FullTextIndex
    _graph: Graph
    _memories: Memories
    _passages: Passages
    _progress: StageProgress
    _rules: Rules
    _sources: Sources
    _turns: Turns

    def put(self, bank: str, session: str, derived: Iterable[Derived], first: int = 0) -> None:
        """Replace the derived rows of a session from place `first` on, and its digest; it is no
        longer stale. `derived` is written while it is consumed."""
        self._clear_derived(bank, session, first)
        passages: list[Passage] = []
        pending_characters = 0
        for item in derived:
            if isinstance(item, Passage):
                passages.append(item)
                pending_characters += len(item.body) + len(item.context)
            else:
                self._put_one(bank, session, item)
            if pending_characters > _MAX_PENDING_CHARACTERS:
                self._passages.add(passages)
                passages.clear()
                pending_characters = 0
        self._passages.add(passages)
        self._db.run("DELETE FROM stale_session WHERE bank = ? AND session = ?", (bank, session))
        self._progress.mark_changed(bank, session)

    def _put_one(
        self, bank: str, session: str, item: Exchange | Digest | Claim | HiddenTurn | SupersededText
    ) -> None:
        if isinstance(item, Exchange):
            EXCHANGE.put(self._db, item)
            labels.put_labels(self._db, item)
        elif isinstance(item, Digest):
            self._db.run(upsert("digest", DIGEST.columns, "bank, id"), DIGEST.row(item))
        elif isinstance(item, Claim):
            self._facts.put_claim(item)
        elif isinstance(item, HiddenTurn):
            self._db.run(
                "INSERT INTO hidden_record VALUES (?, 'turn', ?, ?)", (bank, item.id, session)
            )
        else:
            self._db.run(
                "UPDATE curation_state SET was = ? WHERE bank = ? AND kind = ? AND id = ?",
                (item.was, bank, item.kind, item.id),
            )

    def _clear_derived(self, bank: str, session: str, first: int) -> None:
        self._memories.clear_session(bank, session, first)
        if first > 0:
            own = "bank = ? AND session = ?"
            later = (bank, session, first)
            self._db.run(
                f"DELETE FROM passage WHERE {own} AND (kind = 'digest' "
                f"OR kind = 'turn' AND id IN (SELECT id FROM turn WHERE {own} AND seq >= ?) "
                "OR kind = 'exchange' "
                f"AND id IN (SELECT id FROM exchange WHERE {own} AND first_seq >= ?))",
                (bank, session, *later, *later),
            )
            self._db.run(
                f"DELETE FROM hidden_record WHERE {own} AND kind = 'turn' "
                f"AND id IN (SELECT id FROM turn WHERE {own} AND seq >= ?)",
                (bank, session, *later),
            )
            self._db.run(f"DELETE FROM exchange WHERE {own} AND first_seq >= ?", later)
            self._db.run(f"DELETE FROM digest WHERE {own}", (bank, session))
            self._db.run(f"DELETE FROM claim WHERE {own} AND seq >= ?", later)
            return
        for table in ("exchange", "digest", "passage", "claim"):
            self._db.run(f"DELETE FROM {table} WHERE bank = ? AND session = ?", (bank, session))
        self._db.run(
            "DELETE FROM hidden_record WHERE bank = ? AND session = ? AND kind = 'turn'",
            (bank, session),
        )

    def drop_all(self) -> None:
        """Remove all derived rows; every session becomes stale."""
        self._db.require(Level.WRITE, all_banks=True)
        # First make the index whole: words that it has lost could not be taken out of it.
        self._full_text.rebuild()
        for table in ("exchange", "digest", "session_derivation", *_STAGE_TABLES):
            self._db.run(f"DELETE FROM {table}")
        self._concepts.drop()
        self._rules.drop_derived()
        self._db.run(
            "DELETE FROM passage WHERE kind NOT IN "
            "('commit', 'memory', 'pull', 'issue', 'remark', 'shared', 'imported')"
        )
        self._db.run("DELETE FROM record_labels WHERE kind = 'fact'")
        self._graph.drop()
        self._memories.drop_retained()
        self._db.run(
            "INSERT INTO stale_session SELECT bank, id, 0 FROM session WHERE true "
            "ON CONFLICT (bank, session) DO UPDATE SET first_seq = 0"
        )
        self._db.run("DELETE FROM vector_count")
        self._db.run(
            "INSERT INTO vector_count SELECT bank, model, count(*) FROM vector GROUP BY bank, model"
        )
        self._full_text.rebuild()

    def clear_session(self, bank: str, session: str) -> None:
        """Remove all that was derived from a session which leaves a bank."""
        self._memories.clear_session(bank, session, 0)
        for table in (
            "exchange", "digest", "passage", "claim", "stale_session", "session_derivation",
            "curation_state", "hidden_record",
        ):  # fmt: skip
            self._db.run(f"DELETE FROM {table} WHERE bank = ? AND session = ?", (bank, session))
        self._progress.mark_changed(bank, session)

    def drop_bank(self, bank: str) -> None:
        """Remove everything derived of a bank that is given up."""
        self._concepts.drop(bank)
        self._graph.drop(bank)
        for table in (*_BANK_TABLES, *_STAGE_TABLES):
            self._db.run(f"DELETE FROM {table} WHERE bank = ?", (bank,))

    def move_source(self, id: int, bank: str) -> None:
        """Move a source and everything read from it to another bank."""
        self._db.require(Level.WRITE, all_banks=True)
        source = self._sources.get(id)
        if source is None or source.bank == bank:
            return
        old = source.bank
        sessions = self._db.all(
            "SELECT id FROM session WHERE bank = ? AND (source = ? "
            "OR id IN (SELECT session FROM turn WHERE bank = ? AND source = ?)) ORDER BY id",
            (old, id, old, id),
        )
        for (session,) in sessions:
            self._rebank_session(id, session, old, bank)
        self._db.run("UPDATE source SET bank = ? WHERE id = ?", (bank, id))

    def _rebank_session(self, source: int, session: str, old: str, bank: str) -> None:
        """Move the turns that a session has from a source; those from other sources stay."""
        columns = SESSION.columns.removeprefix("bank, ")
        self._db.run(
            f"INSERT INTO session (bank, {columns}) "
            f"SELECT CAST(? AS text), {columns} FROM session WHERE bank = ? AND id = ? "
            "ON CONFLICT DO NOTHING",
            (bank, old, session),
        )
        moving = self._db.all(
            "SELECT id, seq FROM turn WHERE bank = ? AND session = ? AND source = ? ORDER BY seq",
            (old, session, source),
        )
        known = self._turns.known(bank, [turn for turn, _ in moving])
        taken = {turn.seq for turn in self._turns.stream_uncurated(bank, session)}
        for turn, seq in moving:
            if turn in known:
                self._db.run("DELETE FROM turn WHERE bank = ? AND id = ?", (old, turn))
                continue
            place = seq if seq not in taken else max(taken) + 1
            taken.add(place)
            self._db.run(
                "UPDATE turn SET bank = ?, seq = ? WHERE bank = ? AND id = ?",
                (bank, place, old, turn),
            )
        self.move_summaries(session, old, bank)
        self._rebank_decisions(session, old, bank)
        self.clear_session(old, session)
        left = self._db.one(
            "SELECT 1 FROM turn WHERE bank = ? AND session = ? LIMIT 1", (old, session)
        )
        if left:
            mark_stale(self._db, [(old, session, 0)])
        else:
            self._db.run("DELETE FROM session WHERE bank = ? AND id = ?", (old, session))
        mark_stale(self._db, [(bank, session, 0)])

    def move_summaries(self, session: str, old: str, bank: str) -> None:
        """Move the summaries of a session to its new bank, because they were paid for. That the old
        bank was reviewed stays there: nobody was asked about the rest of the new one."""
        self._db.require(Level.WRITE, all_banks=True)
        own = "SELECT id FROM {} WHERE bank = ? AND session = ?"
        self._db.run(
            "UPDATE model_summary SET bank = ? WHERE bank = ? AND kind <> 'brief review' "
            "AND record IN "
            f"({own.format('exchange')} UNION {own.format('digest')}) AND NOT EXISTS "
            "(SELECT 1 FROM model_summary AS held WHERE held.bank = ? AND held.hash = "
            "model_summary.hash "
            "AND held.version = model_summary.version)",
            (bank, old, old, session, old, session, bank),
        )

    def _rebank_decisions(self, session: str, old: str, bank: str) -> None:
        """Repeat the decisions about a session in the bank that it moves to."""
        for c in self._curation.states_in_session(old, session):
            target = f"holdfast://{c.kind}/{c.id}"
            corrections = Curation(0, bank, c.time, Action.CORRECT, target, c.text, c.who)
            for decides, entry in (
                (c.text, corrections),
                (c.into, replace(corrections, action=Action.MERGE, text=c.into)),
                (c.forgotten, replace(corrections, action=Action.FORGET, text="")),
            ):
                if decides:
                    self._curation.append(entry)
            self._curation.put_state(c._replace(bank=bank))
        self._rebank_judgements(session, old, bank)
        self._db.run(
            "INSERT INTO hidden_record SELECT CAST(? AS text), kind, id, session FROM "
            "hidden_record "
            "WHERE bank = ? AND session = ? AND kind = 'raw' ON CONFLICT DO NOTHING",
            (bank, old, session),
        )
        self._db.run(
            "INSERT INTO erasure_mark SELECT CAST(? AS text), mark FROM erasure_mark WHERE bank "
            "= ? "
            "ON CONFLICT DO NOTHING",
            (bank, old),
        )

    def _rebank_judgements(self, session: str, old: str, bank: str) -> None:
        """Repeat the verdicts on what a session says, unless the other bank has one since."""
        judged = self._curation.judgements(old)
        if not judged:
            return
        named = self._db.all(
            "SELECT 'exchange', id FROM exchange WHERE bank = ? AND session = ? "
            "UNION SELECT 'digest', id FROM digest WHERE bank = ? AND session = ? "
            "UNION SELECT 'memory', m.id FROM retained_memory AS m JOIN memory_occurrence AS o "
            "ON o.bank = m.bank AND o.key = m.key WHERE m.bank = ? AND o.session = ? "
            "UNION SELECT 'fact', e.fact FROM fact_evidence AS e JOIN claim AS c "
            "ON c.bank = e.bank AND e.uri = 'holdfast://turn/' || c.turn "
            "WHERE c.bank = ? AND c.session = ?",
            (old, session) * 4,
        )
        own = {uri(kind, id) for kind, id in named}
        there = self._curation.judgements(bank)
        for name, one in judged.items():
            if name in own and (name not in there or there[name].time < one.time):
                text = verdict_text(one.verdict, one.why, one.words)
                self._curation.append(
                    Curation(0, bank, one.time, Action.JUDGE, name, text, one.who)
                )
