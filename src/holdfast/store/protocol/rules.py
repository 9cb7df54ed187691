"""Rules that people wrote, statements, patterns, and proposals of rules.

Rules are derived from files, patterns from statements; both can be removed and made again. A
proposal waits for a person; a rejected one is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.knowledge import Pattern, Proposal, Refusal, Rule
from holdfast.model.query import Passage
from holdfast.model.trust import Trust


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


class StatementStore(Protocol):
    """Keeps statements, so that only changed sessions are read again."""

    def put_statements(self, bank: str, session: str, statements: Iterable[Statement]) -> None:
        """Replace the statements of a session; "" for those outside any session."""
        ...

    def statements(self, bank: str) -> list[Statement]:
        """All statements of a bank, by time."""
        ...


class RuleReader(Protocol):
    """Reads rules, patterns and proposals."""

    def rule_files(self, bank: str) -> list[ReadRuleFile]:
        """The rule files that were read for a bank, by name."""
        ...

    def rules(self, bank: str) -> list[Rule]:
        """The sections of these files, in the order of path and line."""
        ...

    def patterns(self, bank: str) -> list[Pattern]:
        """The patterns of a bank, the most certain first."""
        ...

    def proposals(self, bank: str) -> list[Proposal]:
        """The proposals that wait for a person, oldest first."""
        ...

    def refusals(self, bank: str) -> list[Refusal]:
        """The rejected proposals, oldest first; one whose rejection was undone is left out."""
        ...


class RuleWriter(StatementStore, Protocol):
    """Writes rules, patterns and proposals."""

    def put_rules(
        self, bank: str, files: Sequence[ReadRuleFile], rules: Iterable[tuple[Rule, Passage]]
    ) -> None:
        """Replace all rules of a bank, each with the passage by which it is found."""
        ...

    def put_patterns(self, bank: str, patterns: Iterable[Pattern]) -> None:
        """Replace all patterns of a bank."""
        ...

    def put_proposal(self, proposal: Proposal) -> None:
        """Store a proposal, in place of its earlier version."""
        ...

    def drop_proposal(self, bank: str, id: str) -> None:
        """Remove a proposal."""
        ...

    def put_refusal(self, bank: str, refusal: Refusal) -> None:
        """Store a rejected proposal."""
        ...
