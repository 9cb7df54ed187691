"""Claims, facts, the evidence on them and their status changes.

All of it is derived, except for record uses. Status changes are
kept as a list, so that what was known at any time can be read: a change after that time is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import (
    Claim,
    ClaimKind,
    EndedStatement,
    EndReason,
    EvidenceKind,
    Fact,
    FactEvidence,
    FactKind,
    Review,
    ReviewState,
    StatusChange,
    Validity,
)
from holdfast.model.query import Passage
from holdfast.model.trust import Status, Trust
from holdfast.store.index.passages import PassageWriter
from holdfast.store.sql import labels, rows
from holdfast.store.sql.database import Database
from holdfast.store.sql.statements import batches, insert, insert_missing, placeholders_for, upsert

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from typing import Any

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


CLAIM = (
    "bank, id, session, exchange, turn, seq, time, kind, text, trust, by_person, status, changed, "
    "because, share, told, problem, signature, attempts, files"
)

FACT = (
    "bank, id, kind, content, confidence, trust, problem, attempts, contradictions, "
    "last_validated, status, since, until, learned, evidence, against, supersedes, superseded_by, "
    "files"
)

ENDED_STATEMENT = (
    "session, first_seq, last_seq, text, said, ended, reason, who, record, instead, now, everywhere"
)

REVIEW = 'bank, id, kind, target, reason, opened, evidence, state, decided, "by"'

_LISTS = ("evidence", "against", "supersedes", "files")

_NAMES_PER_STATEMENT = 250
# What is written anew with the facts of a bank.
_REPLACED_TABLES = (
    "status_period", "ended_statement", "fact_evidence", "review", "dropped_claim_count"
)  # fmt: skip


def claim_row(claim: Claim) -> rows.Row:
    """`CLAIM`."""
    c = claim
    return (
        c.bank, c.id, c.session, c.exchange, c.turn, c.seq, c.time, c.kind.value, c.text,
        c.trust.value, int(c.by_person), c.status.value, c.changed, c.because, c.share, c.told,
        c.problem, c.signature, c.attempts, rows.as_list(c.files),
    )  # fmt: skip


def claim_of(row: rows.Row) -> Claim:
    """`CLAIM`."""
    fields: dict[str, Any] = dict(zip(CLAIM.split(", "), row, strict=True))
    fields["kind"] = ClaimKind(fields["kind"])
    fields["trust"] = Trust(fields["trust"])
    fields["status"] = Status(fields["status"])
    fields["by_person"] = bool(fields["by_person"])
    fields["files"] = tuple(rows.loads(fields["files"]))
    return Claim(**fields)


def fact_row(fact: Fact) -> rows.Row:
    """`FACT`."""
    f = fact
    return (
        f.bank, f.id, f.kind.value, f.content, f.confidence, f.trust.value, f.problem, f.attempts,
        f.contradictions, f.last_validated, f.status.value, f.validity.since, f.validity.until,
        f.validity.learned, rows.as_list(f.evidence), rows.as_list(f.against),
        rows.as_list(f.supersedes), f.superseded_by, rows.as_list(f.files),
    )  # fmt: skip


def fact_of(row: rows.Row) -> Fact:
    """`FACT`."""
    fields: dict[str, Any] = dict(zip(FACT.split(", "), row, strict=True))
    fields["kind"] = FactKind(fields["kind"])
    fields["trust"] = Trust(fields["trust"])
    fields["status"] = Status(fields["status"])
    for name in _LISTS:
        fields[name] = tuple(rows.loads(fields[name]))
    times = (fields.pop("since"), fields.pop("until"), fields.pop("learned"))
    return Fact(**fields, validity=Validity(*times))


def _review_row(review: Review) -> rows.Row:
    r = review
    return (
        r.bank, r.id, r.kind, r.target, r.reason, r.opened, rows.as_list(r.evidence), r.state.value,
        r.decided, r.by,
    )  # fmt: skip


def _review_of(row: rows.Row) -> Review:
    bank, id, kind, target, reason, opened, evidence, state, decided, by = row
    names = tuple(rows.loads(evidence))
    verdict = ReviewState(state)
    return Review(bank, id, kind, target, reason, opened, names, verdict, decided, by)


def _status_change_of(row: rows.Row) -> StatusChange:
    kind, id, time, status, because = row
    return StatusChange(kind, id, time, Status(status), because)


def _ended_row(bank: str, position: int, ended: EndedStatement) -> rows.Row:
    e = ended
    return (
        bank, position, e.session, e.first_seq, e.last_seq, e.text, e.said, e.ended, e.reason.value,
        e.who, e.record, e.instead, e.now, int(e.everywhere),
    )  # fmt: skip


def _ended_statement_of(row: rows.Row) -> EndedStatement:
    *said, reason, who, record, instead, now, everywhere = row
    return EndedStatement._make(
        (*said, EndReason(reason), who, record, instead, now, bool(everywhere))
    )


class FactReader:
    """Reads claims and facts."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def claims(self, bank: str, session: str = "", turns: Sequence[str] = ()) -> list[Claim]:
        """The claims of a bank, of one session, or of some turns, by time."""
        found: list[rows.Row] = []
        for start in range(0, max(1, len(turns)), _NAMES_PER_STATEMENT):
            some = turns[start : start + _NAMES_PER_STATEMENT]
            where = "AND session = ?" * bool(session)
            where += f" AND turn IN ({placeholders_for(some)})" * bool(some)
            found += self._db.all(
                f"SELECT {CLAIM} FROM claim WHERE bank = ? {where} ORDER BY time, seq, id",
                (bank, *([session] * bool(session)), *some),
            )
        return [claim_of(row) for row in found]

    def all(self, bank: str | None) -> list[Fact]:
        """Every fact that is not hidden, whatever its status; the latest learned first."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT {FACT} FROM fact WHERE {where} ORDER BY learned DESC, id", values
        )
        return [fact_of(row) for row in found]

    def status_changes(self, bank: str, names: Sequence[tuple[str, str]]) -> list[StatusChange]:
        """The status changes of records, each named by kind and id, by time."""
        found: list[rows.Row] = []
        for some in batches(names, _NAMES_PER_STATEMENT):
            found += self._db.all(
                "SELECT kind, id, time, status, because FROM status_period WHERE bank = ? AND "
                "(kind, id) IN "
                f"(VALUES {', '.join('(?, ?)' for _ in some)}) ORDER BY time",
                (bank, *(part for name in some for part in name)),
            )
        return [_status_change_of(row) for row in found]

    def ended_statements(self, bank: str, sessions: Sequence[str] = ()) -> list[EndedStatement]:
        """The words that no longer hold: those that ended everywhere, and those of some sessions;
        by the time of their end."""
        found = self._db.all(
            f"SELECT {ENDED_STATEMENT} FROM ended_statement WHERE bank = ? AND everywhere = 1",
            (bank,),
        )
        for some in batches(sessions, _NAMES_PER_STATEMENT):
            found += self._db.all(
                f"SELECT {ENDED_STATEMENT} FROM ended_statement WHERE bank = ? AND everywhere = 0 "
                f"AND session IN ({placeholders_for(some)})",
                (bank, *some),
            )
        return sorted(map(_ended_statement_of, found), key=lambda one: (one.ended, one))

    def evidence(self, bank: str, fact: str) -> list[FactEvidence]:
        """The evidence for and against a fact, by time."""
        found = self._db.all(
            "SELECT fact, time, uri, how FROM fact_evidence WHERE bank = ? AND fact = ? "
            "ORDER BY time, uri",
            (bank, fact),
        )
        return [FactEvidence(fact, time, uri, EvidenceKind(how)) for fact, time, uri, how in found]

    def stated_in(self, bank: str, uri: str) -> list[Fact]:
        """The facts that were stated in a record."""
        found = self._db.all(
            f"SELECT {FACT} FROM fact WHERE bank = ? AND id IN (SELECT fact FROM fact_evidence "
            "WHERE bank = ? AND uri = ? AND how IN ('stated', 'remembered')) ORDER BY id",
            (bank, bank, uri),
        )
        return [fact_of(row) for row in found]

    def uses(self, bank: str) -> list[RecordUse]:
        """The records that sessions used, by time, as far as the turns that show it are not
        hidden."""
        found = self._db.all(
            "SELECT record, session, turn, time FROM record_use WHERE bank = ? AND (turn = '' OR "
            "EXISTS "
            "(SELECT 1 FROM visible_turn WHERE visible_turn.bank = ? AND visible_turn.id = turn)) "
            "ORDER BY time, turn, record",
            (bank, bank),
        )
        from holdfast.model.ledgers.injections import RecordUse

        return [RecordUse(*row) for row in found]

    def reviews(self, bank: str | None) -> list[Review]:
        """The questions that people should decide or have decided, the oldest first."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT {REVIEW} FROM review WHERE {where} ORDER BY opened, id", values
        )
        return [_review_of(row) for row in found]

    def dropped_claims(self, bank: str | None) -> dict[str, int]:
        """How many claims became no fact, by reason."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT reason, sum(claims) FROM dropped_claim_count WHERE {where} GROUP BY reason "
            "ORDER BY 1",
            values,
        )
        return dict(found)


class FactWriter(FactReader):
    """Writes derived facts and record uses."""

    def __init__(self, db: Database, passages: PassageWriter) -> None:
        super().__init__(db)
        self._passages = passages

    def put_claim(self, claim: Claim) -> None:
        """Keep a claim."""
        self._db.run(upsert("claim", CLAIM, "bank, id"), claim_row(claim))

    def replace(self, bank: str, derived: DerivedFacts) -> None:
        """Replace what is derived from the claims of a bank; unchanged rows are not written."""
        self._put_facts(bank, derived)
        for table in _REPLACED_TABLES:
            self._db.run(f"DELETE FROM {table} WHERE bank = ?", (bank,))
        self._db.run_many(
            insert_missing("status_period", "bank, kind, id, time, status, because"),
            [
                (bank, life.kind, life.id, life.time, life.status.value, life.because)
                for life in derived.status_changes
            ],
        )
        self._db.run_many(
            insert("ended_statement", f"bank, position, {ENDED_STATEMENT}"),
            [_ended_row(bank, position, one) for position, one in enumerate(derived.ended)],
        )
        self._db.run_many(
            insert_missing("fact_evidence", "bank, fact, time, uri, how"),
            [(bank, b.fact, b.time, b.uri, b.how.value) for b in derived.evidence],
        )
        self._db.run_many(
            insert("review", REVIEW),
            [_review_row(review) for review in derived.reviews],
        )
        self._db.run_many(
            "INSERT INTO dropped_claim_count VALUES (?, ?, ?)",
            [(bank, reason, number) for reason, number in derived.dropped if number],
        )

    def _put_facts(self, bank: str, derived: DerivedFacts) -> None:
        """Write the facts that are new or changed, so that the index changes little."""
        found = self._db.all(f"SELECT {FACT} FROM fact WHERE bank = ?", (bank,))
        held = {row[1]: tuple(row) for row in found}
        bodies = self._db.all(
            f"SELECT {rows.PASSAGE} FROM passage WHERE bank = ? AND kind = 'fact'", (bank,)
        )
        passages = {row[2]: rows.passage_of(row) for row in bodies}
        wanted = {known.fact.id: known for known in derived.facts}
        for id in held.keys() - wanted.keys():
            self._db.run("DELETE FROM fact WHERE bank = ? AND id = ?", (bank, id))
        for id in passages.keys() - wanted.keys():
            self._hide_fact(bank, id)
        for id, known in wanted.items():
            row = fact_row(known.fact)
            if held.get(id) != row:
                self._db.run(upsert("fact", FACT, "bank, id"), row)
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
        self._db.run_many(
            insert_missing("record_use", "bank, record, session, turn, time"),
            [(bank, *use) for use in uses],
        )

    def drop_uses(self, bank: str, record: str, session: str) -> None:
        """Remove the mark of a person that a record was useful in an investigation."""
        self._db.run(
            "DELETE FROM record_use WHERE bank = ? AND record = ? AND session = ? AND turn = ''",
            (bank, record, session),
        )
