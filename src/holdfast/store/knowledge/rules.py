"""Rules, patterns, proposals, refused proposals, and statements that may become rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from holdfast.lazy_dataclass import field_names, field_values
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import Pattern, Proposal, ProposalKind, Refusal, Rule
from holdfast.model.query import Passage
from holdfast.model.trust import Trust
from holdfast.store.index.passages import PassageWriter
from holdfast.store.index.progress import StageProgress
from holdfast.store.sql import rows
from holdfast.store.sql.database import Database
from holdfast.store.sql.statements import placeholders, upsert


class ReadRuleFile(NamedTuple):
    """A rule file as it was when it was read: its project (`root`), its stamp, and a hash of its
    content."""

    file: str
    root: str
    stamp: str
    hash: str


class Statement(NamedTuple):
    """One sentence in a record that says how things are done: the `place`-th sentence of the record
    `uri`. Two statements of one `source` count as one occurrence. `quotable` is whether it can
    stand by itself; of one that was said in passing, `about` is the part that counts."""

    bank: str
    uri: str
    place: int
    session: str
    source: str
    author: str
    time: str
    text: str
    trust: Trust
    decides: bool = False
    quotable: bool = True
    about: str = ""
    files: tuple[str, ...] = ()


RULE = ", ".join(field_names(Rule) or ())
PATTERN = ", ".join(field_names(Pattern) or ())
PROPOSAL = ", ".join(field_names(Proposal) or ())
_LISTS = ("paths", "sources", "authors", "evidence", "against", "files")
_REFUSED_PROPOSAL = "seq, target, text, why, time, who, evidence"


def row_of(record: Rule | Pattern | Proposal) -> rows.Row:
    """`RULE`, `PATTERN` or `PROPOSAL`."""
    values: rows.Row = field_values(record)
    return tuple(rows.as_list(cast(rows.Row, v)) if isinstance(v, tuple) else v for v in values)


def rule_of(row: rows.Row) -> Rule:
    """`RULE`."""
    return Rule(**_fields(RULE, row))


def pattern_of(row: rows.Row) -> Pattern:
    """`PATTERN`."""
    found = _fields(PATTERN, row)
    found["decides"] = bool(found["decides"])
    return Pattern(**found)


def proposal_of(row: rows.Row) -> Proposal:
    """`PROPOSAL`."""
    found = _fields(PROPOSAL, row)
    found["kind"] = ProposalKind(found["kind"])
    return Proposal(**found)


def _fields(columns: str, row: rows.Row) -> dict[str, Any]:
    found = dict(zip(columns.split(", "), row, strict=True))
    lists = {name: rows.as_tuple(found[name]) for name in _LISTS if name in found}
    return {**found, **lists, "trust": Trust(found["trust"])}


class RuleReader:
    """Reads rules."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def files(self, bank: str) -> list[ReadRuleFile]:
        """The rule files that were read for a bank, by name."""
        found = self._db.all(
            "SELECT file, root, stamp, hash FROM rule_file WHERE bank = ? ORDER BY file", (bank,)
        )
        return [ReadRuleFile(*row) for row in found]

    def all(self, bank: str) -> list[Rule]:
        """The sections of these files, in the order of path and line."""
        found = self._db.all(
            f"SELECT {RULE} FROM rule WHERE bank = ? ORDER BY path, line, id", (bank,)
        )
        return [rule_of(row) for row in found]

    def patterns(self, bank: str) -> list[Pattern]:
        """The patterns of a bank, the most certain first."""
        found = self._db.all(
            f"SELECT {PATTERN} FROM pattern WHERE bank = ? "
            "ORDER BY confidence DESC, occurrences DESC, id",
            (bank,),
        )
        return [pattern_of(row) for row in found]

    def proposals(self, bank: str) -> list[Proposal]:
        """The proposals that wait for a person, oldest first."""
        found = self._db.all(
            f"SELECT {PROPOSAL} FROM proposal WHERE bank = ? ORDER BY made, id", (bank,)
        )
        return [proposal_of(row) for row in found]

    def refusals(self, bank: str) -> list[Refusal]:
        """The rejected proposals, oldest first; one whose rejection was undone is left out."""
        found = self._db.all(
            f"SELECT {_REFUSED_PROPOSAL} FROM refused_proposal WHERE bank = ? ORDER BY seq", (bank,)
        )
        return [Refusal(*row)._replace(evidence=rows.as_tuple(row[-1])) for row in found]


class RuleWriter(RuleReader):
    """Writes rules."""

    def __init__(self, db: Database, passages: PassageWriter, progress: StageProgress) -> None:
        super().__init__(db)
        self._passages = passages
        self._progress = progress

    def put(
        self, bank: str, files: Sequence[ReadRuleFile], rules: Iterable[tuple[Rule, Passage]]
    ) -> None:
        """Replace all rules of a bank, each with the passage by which it is found."""
        for table in ("rule_file", "rule"):
            self._db.run(f"DELETE FROM {table} WHERE bank = ?", (bank,))
        self._db.run("DELETE FROM passage WHERE bank = ? AND kind = 'rule'", (bank,))
        self._db.run_many(
            "INSERT INTO rule_file VALUES (?, ?, ?, ?, ?)", [(bank, *file) for file in files]
        )
        for rule, passage in rules:
            self._db.run(upsert("rule", RULE, "bank, id"), row_of(rule))
            self._passages.add([passage])
        self._progress.mark_changed(bank, "")

    def put_patterns(self, bank: str, patterns: Iterable[Pattern]) -> None:
        """Replace all patterns of a bank."""
        self._db.run("DELETE FROM pattern WHERE bank = ?", (bank,))
        self._db.run_many(
            f"INSERT INTO pattern ({PATTERN}) VALUES ({placeholders(PATTERN)})",
            [row_of(pattern) for pattern in patterns],
        )

    def put_proposal(self, proposal: Proposal) -> None:
        """Store a proposal, in place of its earlier version."""
        self._db.run(upsert("proposal", PROPOSAL, "bank, id"), row_of(proposal))

    def drop_proposal(self, bank: str, id: str) -> None:
        """Remove a proposal."""
        self._db.run("DELETE FROM proposal WHERE bank = ? AND id = ?", (bank, id))

    def put_refusal(self, bank: str, refusal: Refusal) -> None:
        """Store a rejected proposal."""
        *row, evidence = refusal
        self._db.run(
            upsert("refused_proposal", f"bank, {_REFUSED_PROPOSAL}", "bank, seq"),
            (bank, *row, rows.as_list(evidence)),
        )

    def put_statements(self, bank: str, session: str, statements: Iterable[Statement]) -> None:
        """Replace the statements of a session; "" for those outside any session."""
        self._db.run("DELETE FROM statement WHERE bank = ? AND session = ?", (bank, session))
        columns = ", ".join(Statement._fields)
        self._db.run_many(
            upsert("statement", columns, "bank, uri, place"),
            [(*s[:-1], rows.as_list(s.files)) for s in statements],
        )

    def statements(self, bank: str) -> list[Statement]:
        """All statements of a bank, by time."""
        found = self._db.all(
            f"SELECT {', '.join(Statement._fields)} FROM statement WHERE bank = ? "
            "ORDER BY time, uri, place",
            (bank,),
        )
        return [
            s._replace(
                trust=Trust(s.trust),
                decides=bool(s.decides),
                quotable=bool(s.quotable),
                files=rows.as_tuple(row[-1]),
            )
            for row in found
            for s in (Statement(*row),)
        ]

    def drop_derived(self) -> None:
        """Remove what was derived from rule files and statements; it is made again."""
        for table in ("rule_file", "rule", "pattern", "proposal", "statement"):
            self._db.run(f"DELETE FROM {table}")
