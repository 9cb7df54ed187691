"""Opinions and their history. They are canonical."""

from __future__ import annotations

from holdfast.lazy_dataclass import replace
from holdfast.model.curation import CurationState
from holdfast.model.opinions import (
    Opinion,
    OpinionRevision,
    Trend,
)
from holdfast.model.query import Passage
from holdfast.store.index.passages import PassageWriter
from holdfast.store.knowledge.memories import NOT_HIDDEN, memory_corrections
from holdfast.store.sql import rows
from holdfast.store.sql.database import Database
from holdfast.store.sql.statements import (
    upsert,
)

OPINION = (
    "bank, id, what, why, confidence, trend, status, trust, formed, updated, latest, sessions, "
    "favour, against, author"
)


def opinion_of(row: rows.Row) -> Opinion:
    """`OPINION`."""
    fields = rows.named_fields(OPINION, row)
    fields["trend"] = Trend(fields["trend"])
    fields["evidence_for"] = rows.as_tuple(fields.pop("favour"))
    fields["evidence_against"] = rows.as_tuple(fields.pop("against"))
    return Opinion(**rows.with_enums(fields))


def opinion_row(o: Opinion) -> rows.Row:
    """`OPINION`."""
    return (
        o.bank, o.id, o.what, o.why, o.confidence, o.trend.value, o.status.value, o.trust.value,
        o.formed, o.updated, o.latest, o.sessions, rows.as_list(o.evidence_for),
        rows.as_list(o.evidence_against), o.author,
    )  # fmt: skip


class OpinionReader:
    """Reads opinions without hidden ones and with corrections applied."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def all(self, bank: str) -> list[Opinion]:
        """The opinions of a bank, the firmest first."""
        found = self._db.all(
            f"SELECT {OPINION} FROM opinion WHERE bank = ? "
            f"AND {NOT_HIDDEN.format('opinion')} ORDER BY confidence DESC, id",
            (bank,),
        )
        corrections = memory_corrections(self._db, bank)
        opinions = [opinion_of(row) for row in found]
        return [_corrected(o, corrections.get(o.id)) for o in opinions]

    def history(self, bank: str, opinion: str) -> list[OpinionRevision]:
        """The revisions of an opinion, oldest first."""
        found = self._db.all(
            "SELECT time, confidence, favour, against, note FROM opinion_revision "
            "WHERE bank = ? AND opinion = ? ORDER BY number",
            (bank, opinion),
        )
        return [OpinionRevision(*row) for row in found]


def _corrected(opinion: Opinion, known: CurationState | None) -> Opinion:
    if known is None:
        return opinion
    trust = known.trust_of(opinion.trust) if known.by_agent else opinion.trust
    return replace(opinion, what=known.text, trust=trust)


class OpinionWriter(OpinionReader):
    """Writes opinions."""

    def __init__(self, db: Database, passages: PassageWriter) -> None:
        super().__init__(db)
        self._passages = passages

    def all_uncurated(self, bank: str) -> list[Opinion]:
        """Every opinion, hidden or not, without corrections, by id."""
        found = self._db.all(f"SELECT {OPINION} FROM opinion WHERE bank = ? ORDER BY id", (bank,))
        return [opinion_of(row) for row in found]

    def put(
        self, opinion: Opinion, revision: OpinionRevision | None, passage: Passage | None
    ) -> None:
        """Store an opinion with its new revision, in place of its earlier state."""
        o = opinion
        self._db.run(upsert("opinion", OPINION, "bank, id"), opinion_row(o))
        if revision is not None:
            self._db.run(
                "INSERT INTO opinion_revision SELECT ?, ?, coalesce(max(number), 0) + 1, ?, ?, "
                "?, ?, ? "
                "FROM opinion_revision WHERE bank = ? AND opinion = ?",
                (o.bank, o.id, *revision, o.bank, o.id),
            )
        self._show(o.bank, o.id, passage)

    def drop(self, bank: str, id: str) -> None:
        """Remove an opinion with its history."""
        self._db.run("DELETE FROM opinion WHERE bank = ? AND id = ?", (bank, id))
        self._db.run("DELETE FROM opinion_revision WHERE bank = ? AND opinion = ?", (bank, id))
        self._show(bank, id, None)

    def _show(self, bank: str, id: str, passage: Passage | None) -> None:
        self._db.run(
            "DELETE FROM passage WHERE bank = ? AND kind = 'memory' AND id = ?", (bank, id)
        )
        if passage is not None:
            self._passages.add([passage])
