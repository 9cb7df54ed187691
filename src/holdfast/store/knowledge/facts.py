"""Claims, facts, the evidence on them and their status changes.

All of it is derived, except for record uses. Status changes are
kept as a list, so that what was known at any time can be read: a change after that time is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import (
    Claim,
    EndedStatement,
    Fact,
    FactEvidence,
    Review,
    StatusChange,
    Validity,
)
from holdfast.model.ledgers.injections import RecordUse
from holdfast.model.query import Passage
from holdfast.store.index.passages import Passages
from holdfast.store.sql import labels
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import batches, insert, placeholders_for
from holdfast.store.sql.table import PASSAGE, Table

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from holdfast.model.ledgers.injections import RecordUse


class FactWithPassage(NamedTuple):
    """A fact with the passage by which it is found; None where another record says the same."""

    fact: Fact
    passage: Passage | None


class DerivedFacts(NamedTuple):
    """All that is derived from the claims of a bank. `dropped` counts claims that are no facts, by
    reason."""

    facts: Sequence[FactWithPassage] = ()
    status_changes: Sequence[StatusChange] = ()
    evidence: Sequence[FactEvidence] = ()
    reviews: Sequence[Review] = ()
    dropped: Sequence[tuple[str, int]] = ()
    ended: Sequence[EndedStatement] = ()


CLAIM = Table("claim", Claim)
FACT = Table("fact", Fact, nested={"validity": Validity})
REVIEW = Table("review", Review)
_STATUS_CHANGE = Table("status_period", StatusChange, beside=("bank",))
_ENDED = Table("ended_statement", EndedStatement, beside=("bank", "position"))
_EVIDENCE = Table("fact_evidence", FactEvidence, beside=("bank",))
_USE = Table("record_use", RecordUse, beside=("bank",))

_NAMES_PER_STATEMENT = 250
# What is written anew with the facts of a bank.
_REPLACED_TABLES = (
    "status_period", "ended_statement", "fact_evidence", "review", "dropped_claim_count"
)  # fmt: skip


class Facts(Subject):
    """Reads claims and facts."""

    _passages: Passages

    def claims(self, bank: str, session: str = "", turns: Sequence[str] = ()) -> list[Claim]:
        """The claims of a bank, of one session, or of some turns, by time."""
        found: list[Claim] = []
        for some in batches(turns, _NAMES_PER_STATEMENT) if turns else ((),):
            where = "AND session = ? " * bool(session)
            where += f"AND turn IN ({placeholders_for(some)}) " * bool(some)
            values = (*([session] * bool(session)), *some)
            found += CLAIM.find(self._db, bank, f"{where}ORDER BY time, seq, id", values)
        return found

    def all(self, bank: str | None) -> list[Fact]:
        """Every fact that is not hidden, whatever its status; the latest learned first."""
        return FACT.find(self._db, bank, "ORDER BY learned DESC, id")

    def status_changes(self, bank: str, names: Sequence[tuple[str, str]]) -> list[StatusChange]:
        """The status changes of records, each named by kind and id, by time."""
        return [
            change
            for some in batches(names, _NAMES_PER_STATEMENT)
            for change in _STATUS_CHANGE.find(
                self._db,
                bank,
                f"AND (kind, id) IN (VALUES {', '.join('(?, ?)' for _ in some)}) ORDER BY time",
                [part for name in some for part in name],
            )
        ]

    def ended_statements(self, bank: str, sessions: Sequence[str] = ()) -> list[EndedStatement]:
        """The words that no longer hold: those that ended everywhere, and those of some sessions;
        by the time of their end."""
        found = _ENDED.find(self._db, bank, "AND everywhere = 1")
        for some in batches(sessions, _NAMES_PER_STATEMENT):
            where = f"AND everywhere = 0 AND session IN ({placeholders_for(some)})"
            found += _ENDED.find(self._db, bank, where, some)
        return sorted(found, key=lambda one: (one.ended, one))

    def evidence(self, bank: str, fact: str) -> list[FactEvidence]:
        """The evidence for and against a fact, by time."""
        return _EVIDENCE.find(self._db, bank, "AND fact = ? ORDER BY time, uri", (fact,))

    def stated_in(self, bank: str, uri: str) -> list[Fact]:
        """The facts that were stated in a record."""
        return FACT.find(
            self._db,
            bank,
            "AND id IN (SELECT fact FROM fact_evidence WHERE bank = ? AND uri = ? "
            "AND how IN ('stated', 'remembered')) ORDER BY id",
            (bank, uri),
        )

    def uses(self, bank: str) -> list[RecordUse]:
        """The records that sessions used, by time, as far as the turns that show it are not
        hidden."""
        return _USE.find(
            self._db,
            bank,
            "AND (turn = '' OR EXISTS (SELECT 1 FROM visible_turn WHERE visible_turn.bank = ? "
            "AND visible_turn.id = turn)) ORDER BY time, turn, record",
            (bank,),
        )

    def reviews(self, bank: str | None) -> list[Review]:
        """The questions that people should decide or have decided, the oldest first."""
        return REVIEW.find(self._db, bank, "ORDER BY opened, id")

    def dropped_claims(self, bank: str | None) -> dict[str, int]:
        """How many claims became no fact, by reason."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT reason, sum(claims) FROM dropped_claim_count WHERE {where} GROUP BY reason "
            "ORDER BY 1",
            values,
        )
        return dict(found)

    def put_claim(self, claim: Claim) -> None:
        """Keep a claim."""
        CLAIM.put(self._db, claim)

    def replace(self, bank: str, derived: DerivedFacts) -> None:
        """Replace what is derived from the claims of a bank; unchanged rows are not written."""
        self._put_facts(bank, derived)
        for table in _REPLACED_TABLES:
            self._db.run(f"DELETE FROM {table} WHERE bank = ?", (bank,))
        _STATUS_CHANGE.add_missing(self._db, derived.status_changes, bank)
        self._db.run_many(
            insert(_ENDED.name, f"bank, position, {_ENDED.columns}"),
            [(bank, place, *_ENDED.row(one)) for place, one in enumerate(derived.ended)],
        )
        _EVIDENCE.add_missing(self._db, derived.evidence, bank)
        REVIEW.add(self._db, derived.reviews)
        self._db.run_many(
            "INSERT INTO dropped_claim_count VALUES (?, ?, ?)",
            [(bank, reason, number) for reason, number in derived.dropped if number],
        )

    def _put_facts(self, bank: str, derived: DerivedFacts) -> None:
        """Write the facts that are new or changed, so that the index changes little."""
        held = {fact.id: fact for fact in FACT.find(self._db, bank)}
        passages = {one.id: one for one in PASSAGE.find(self._db, bank, "AND kind = 'fact'")}
        wanted = {known.fact.id: known for known in derived.facts}
        for id in held.keys() - wanted.keys():
            FACT.delete(self._db, bank, "AND id = ?", (id,))
        for id in passages.keys() - wanted.keys():
            self._hide_fact(bank, id)
        for id, known in wanted.items():
            if held.get(id) != known.fact:
                FACT.put(self._db, known.fact)
            if passages.get(id) != known.passage:
                self._hide_fact(bank, id)
                if known.passage is not None:
                    self._passages.add([known.passage])
                    labels.put_labels(self._db, known.fact)

    def _hide_fact(self, bank: str, id: str) -> None:
        """Remove the passage and the labels of a fact, so that no search finds it."""
        for table in ("passage", "record_labels"):
            self._db.run(
                f"DELETE FROM {table} WHERE bank = ? AND kind = 'fact' AND id = ?", (bank, id)
            )

    def put_uses(self, bank: str, uses: Iterable[RecordUse]) -> None:
        """Keep which records sessions used; known uses stay."""
        _USE.add_missing(self._db, uses, bank)

    def drop_uses(self, bank: str, record: str, session: str) -> None:
        """Remove the mark of a person that a record was useful in an investigation."""
        self._db.run(
            "DELETE FROM record_use WHERE bank = ? AND record = ? AND session = ? AND turn = ''",
            (bank, record, session),
        )
