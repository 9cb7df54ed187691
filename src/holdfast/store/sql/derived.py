"""Writing what is derived from sessions: exchanges, digests, claims and passages."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.model.knowledge import Claim
from holdfast.model.query import Passage
from holdfast.model.records import Digest, Exchange
from holdfast.store.protocol import Derived
from holdfast.store.protocol.curation import HiddenTurn, SupersededText
from holdfast.store.sql import labels
from holdfast.store.sql.rows import records as rows
from holdfast.store.sql.statements import upsert
from holdfast.store.sql.tables.concepts import ConceptWriter
from holdfast.store.sql.tables.export import ExportWriter
from holdfast.store.sql.tables.facts import FactWriter
from holdfast.store.sql.tables.graph import GraphWriter
from holdfast.store.sql.tables.imports import ImportWriter
from holdfast.store.sql.tables.memories import MemoryWriter
from holdfast.store.sql.tables.rules import RuleWriter
from holdfast.store.sql.tables.shares import ShareWriter

# Characters of passages that are collected before they are written: fewer statements, against the
# memory that a large session takes.
_MAX_PENDING_CHARACTERS = 1_000_000
# Tables of the stages above the session, and of their progress.
_STAGE_TABLES = (
    "claim",
    "fact",
    "status_period",
    "fact_evidence",
    "review",
    "dropped_claim_count",
    "commit_session",
    "stage_progress",
)


class DerivedWriter(
    ConceptWriter,
    RuleWriter,
    ShareWriter,
    ImportWriter,
    ExportWriter,
    MemoryWriter,
    FactWriter,
    GraphWriter,
):
    """Writes derived rows, and drops all of them so that they can be made again."""

    def put_derived(
        self, bank: str, session: str, derived: Iterable[Derived], first: int = 0
    ) -> None:
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
                self.put_passages(passages)
                passages.clear()
                pending_characters = 0
        self.put_passages(passages)
        self._run("DELETE FROM stale_session WHERE bank = ? AND session = ?", bank, session)
        self.mark_changed(bank, session)

    def _put_one(
        self, bank: str, session: str, item: Exchange | Digest | Claim | HiddenTurn | SupersededText
    ) -> None:
        if isinstance(item, Exchange):
            self._run(upsert("exchange", rows.EXCHANGE, "bank, id"), *rows.exchange_row(item))
            labels.put_labels(self._connection, item)
        elif isinstance(item, Digest):
            self._run(upsert("digest", rows.DIGEST, "bank, id"), *rows.digest_row(item))
        elif isinstance(item, Claim):
            self.put_claim(item)
        elif isinstance(item, HiddenTurn):
            self._run("INSERT INTO hidden_record VALUES (?, 'turn', ?, ?)", bank, item.id, session)
        else:
            self._run(
                "UPDATE curation_state SET was = ? WHERE bank = ? AND kind = ? AND id = ?",
                item.was,
                bank,
                item.kind,
                item.id,
            )

    def _clear_derived(self, bank: str, session: str, first: int) -> None:
        self._clear_retained(bank, session, first)
        if first > 0:
            own = "bank = ? AND session = ?"
            later = (bank, session, first)
            self._run(
                f"DELETE FROM passage WHERE {own} AND (kind = 'digest' "
                f"OR kind = 'turn' AND id IN (SELECT id FROM turn WHERE {own} AND seq >= ?) "
                "OR kind = 'exchange' "
                f"AND id IN (SELECT id FROM exchange WHERE {own} AND first_seq >= ?))",
                bank,
                session,
                *later,
                *later,
            )
            self._run(
                f"DELETE FROM hidden_record WHERE {own} AND kind = 'turn' "
                f"AND id IN (SELECT id FROM turn WHERE {own} AND seq >= ?)",
                bank,
                session,
                *later,
            )
            self._run(f"DELETE FROM exchange WHERE {own} AND first_seq >= ?", *later)
            self._run(f"DELETE FROM digest WHERE {own}", bank, session)
            self._run(f"DELETE FROM claim WHERE {own} AND seq >= ?", *later)
            return
        for table in ("exchange", "digest", "passage", "claim"):
            self._run(f"DELETE FROM {table} WHERE bank = ? AND session = ?", bank, session)
        self._run(
            "DELETE FROM hidden_record WHERE bank = ? AND session = ? AND kind = 'turn'",
            bank,
            session,
        )

    def drop_derived(self) -> None:
        # First make the index whole: words that it has lost could not be taken out of it.
        self._rebuild_index()
        for table in ("exchange", "digest", "session_derivation", *_STAGE_TABLES):
            self._run(f"DELETE FROM {table}")
        self.drop_concepts()
        self._drop_rules()
        self._run(
            "DELETE FROM passage WHERE kind NOT IN "
            "('commit', 'memory', 'pull', 'issue', 'remark', 'shared', 'imported')"
        )
        self._run("DELETE FROM record_labels WHERE kind = 'fact'")
        self.drop_graph()
        self._drop_retained()
        self._run(
            "INSERT INTO stale_session SELECT bank, id, 0 FROM session WHERE true "
            "ON CONFLICT (bank, session) DO UPDATE SET first_seq = 0"
        )
        self._run("DELETE FROM vector_count")
        self._run(
            "INSERT INTO vector_count SELECT bank, model, count(*) FROM vector GROUP BY bank, model"
        )
        self._rebuild_index()

    def _rebuild_index(self) -> None:
        """Make the engine's index of words, or what it counts for it, from the passages."""
        raise NotImplementedError
