"""Opinions and their history. They are canonical."""

from __future__ import annotations

from holdfast.lazy_dataclass import replace
from holdfast.model.curation import CurationState
from holdfast.model.opinions import (
    Opinion,
    OpinionRevision,
)
from holdfast.model.query import Passage
from holdfast.store.index.passages import Passages
from holdfast.store.knowledge.memories import NOT_HIDDEN, memory_corrections
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import (
    upsert,
)
from holdfast.store.sql.table import Table

OPINION = Table(
    "opinion", Opinion, renamed={"evidence_for": "favour", "evidence_against": "against"}
)
_REVISION = Table("opinion_revision", OpinionRevision)


def _corrected(opinion: Opinion, known: CurationState | None) -> Opinion:
    if known is None:
        return opinion
    trust = known.trust_of(opinion.trust) if known.by_agent else opinion.trust
    return replace(opinion, what=known.text, trust=trust)


class Opinions(Subject):
    """Reads opinions without hidden ones and with corrections applied."""

    _passages: Passages

    def all(self, bank: str) -> list[Opinion]:
        """The opinions of a bank, the firmest first."""
        found = self._db.all(
            f"SELECT {OPINION.columns} FROM opinion WHERE bank = ? "
            f"AND {NOT_HIDDEN.format('opinion')} ORDER BY confidence DESC, id",
            (bank,),
        )
        corrections = memory_corrections(self._db, bank)
        opinions = OPINION.records(found)
        return [_corrected(o, corrections.get(o.id)) for o in opinions]

    def history(self, bank: str, opinion: str) -> list[OpinionRevision]:
        """The revisions of an opinion, oldest first."""
        found = self._db.all(
            "SELECT time, confidence, favour, against, note FROM opinion_revision "
            "WHERE bank = ? AND opinion = ? ORDER BY number",
            (bank, opinion),
        )
        return [OpinionRevision(*row) for row in found]

    def all_uncurated(self, bank: str) -> list[Opinion]:
        """Every opinion, hidden or not, without corrections, by id."""
        found = self._db.all(
            f"SELECT {OPINION.columns} FROM opinion WHERE bank = ? ORDER BY id", (bank,)
        )
        return OPINION.records(found)

    def put(
        self, opinion: Opinion, revision: OpinionRevision | None, passage: Passage | None
    ) -> None:
        """Store an opinion with its new revision, in place of its earlier state."""
        o = opinion
        self._db.run(upsert("opinion", OPINION.columns, "bank, id"), OPINION.row(o))
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
