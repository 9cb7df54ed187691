"""Rules, patterns, proposals, refused proposals, and statements that may become rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import Pattern, Proposal, Refusal, Rule
from holdfast.model.query import Passage
from holdfast.model.trust import Trust
from holdfast.store.index.passages import Passages
from holdfast.store.index.progress import StageProgress
from holdfast.store.sql.database import Subject
from holdfast.store.sql.table import Table


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


RULE = Table("rule", Rule)
PATTERN = Table("pattern", Pattern)
_PROPOSAL = Table("proposal", Proposal)
_STATEMENT = Table("statement", Statement, "bank, uri, place")
_REFUSED = Table("refused_proposal", Refusal, "bank, seq", beside=("bank",))
_FILE = Table("rule_file", ReadRuleFile, beside=("bank",))


class Rules(Subject):
    """Reads rules."""

    _passages: Passages
    _progress: StageProgress

    def files(self, bank: str) -> list[ReadRuleFile]:
        """The rule files that were read for a bank, by name."""
        return _FILE.find(self._db, bank, "ORDER BY file")

    def all(self, bank: str) -> list[Rule]:
        """The sections of these files, in the order of path and line."""
        return RULE.find(self._db, bank, "ORDER BY path, line, id")

    def patterns(self, bank: str) -> list[Pattern]:
        """The patterns of a bank, the most certain first."""
        order = "ORDER BY confidence DESC, occurrences DESC, id"
        return PATTERN.find(self._db, bank, order)

    def proposals(self, bank: str) -> list[Proposal]:
        """The proposals that wait for a person, oldest first."""
        return _PROPOSAL.find(self._db, bank, "ORDER BY made, id")

    def refusals(self, bank: str) -> list[Refusal]:
        """The rejected proposals, oldest first; one whose rejection was undone is left out."""
        return _REFUSED.find(self._db, bank, "ORDER BY seq")

    def put(
        self, bank: str, files: Sequence[ReadRuleFile], rules: Iterable[tuple[Rule, Passage]]
    ) -> None:
        """Replace all rules of a bank, each with the passage by which it is found."""
        for table in ("rule_file", "rule"):
            self._db.run(f"DELETE FROM {table} WHERE bank = ?", (bank,))
        self._db.run("DELETE FROM passage WHERE bank = ? AND kind = 'rule'", (bank,))
        _FILE.add(self._db, files, bank)
        for rule, passage in rules:
            RULE.put(self._db, rule)
            self._passages.add([passage])
        self._progress.mark_changed(bank, "")

    def put_patterns(self, bank: str, patterns: Iterable[Pattern]) -> None:
        """Replace all patterns of a bank."""
        self._db.run("DELETE FROM pattern WHERE bank = ?", (bank,))
        PATTERN.add(self._db, patterns)

    def put_proposal(self, proposal: Proposal) -> None:
        """Store a proposal, in place of its earlier version."""
        _PROPOSAL.put(self._db, proposal)

    def drop_proposal(self, bank: str, id: str) -> None:
        """Remove a proposal."""
        self._db.run("DELETE FROM proposal WHERE bank = ? AND id = ?", (bank, id))

    def put_refusal(self, bank: str, refusal: Refusal) -> None:
        """Store a rejected proposal."""
        _REFUSED.put(self._db, refusal, bank)

    def put_statements(self, bank: str, session: str, statements: Iterable[Statement]) -> None:
        """Replace the statements of a session; "" for those outside any session."""
        self._db.run("DELETE FROM statement WHERE bank = ? AND session = ?", (bank, session))
        for statement in statements:
            _STATEMENT.put(self._db, statement)

    def statements(self, bank: str) -> list[Statement]:
        """All statements of a bank, by time."""
        return _STATEMENT.find(self._db, bank, "ORDER BY time, uri, place")

    def drop_derived(self) -> None:
        """Remove what was derived from rule files and statements; it is made again."""
        for table in ("rule_file", "rule", "pattern", "proposal", "statement"):
            self._db.run(f"DELETE FROM {table}")
