"""What a store keeps of rules: those that people wrote, and those that may become some.

Rules are derived from files, patterns from what was said; both can be dropped and made again. A
proposal waits for a person; what a person turned down is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.knowledge import Pattern, Proposal, Refusal, Rule
from holdfast.model.query import Passage
from holdfast.model.trust import Trust


class ReadRuleFile(NamedTuple):
    """A file of rules as it was when it was read: which project's (`root`), its stamp and what
    it held."""

    file: str
    root: str
    stamp: str
    hash: str


class Statement(NamedTuple):
    """One sentence in a record (`uri`, the `place`-th there). `source` tells sources apart: two
    statements of one source are one occurrence. `quotable` if it can stand by itself; of one that
    was told by the way, `about` is what counts of it."""

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
    """Keeping them, so that only sessions that changed are read again."""

    def put_statements(self, bank: str, session: str, statements: Iterable[Statement]) -> None:
        """These are the statements of a session now; those of "" are outside of any."""
        ...

    def statements(self, bank: str) -> list[Statement]:
        """All statements of a bank, by time."""
        ...


class RuleReader(Protocol):
    """What can be asked about rules."""

    def rule_files(self, bank: str) -> list[ReadRuleFile]:
        """The files of rules that were read for a bank, by name."""
        ...

    def rules(self, bank: str) -> list[Rule]:
        """The sections of these files, in the order of path and line."""
        ...

    def patterns(self, bank: str) -> list[Pattern]:
        """What may become a rule, the surest first."""
        ...

    def proposals(self, bank: str) -> list[Proposal]:
        """What waits for a person, oldest first."""
        ...

    def refusals(self, bank: str) -> list[Refusal]:
        """What was turned down, oldest first; it holds for as long as that decision stands."""
        ...


class RuleWriter(StatementStore, Protocol):
    """The ways in."""

    def put_rules(
        self, bank: str, files: Sequence[ReadRuleFile], rules: Iterable[tuple[Rule, Passage]]
    ) -> None:
        """These are the rules of a bank now, each findable by its passage; others are gone."""
        ...

    def put_patterns(self, bank: str, patterns: Iterable[Pattern]) -> None:
        """These are the patterns of a bank now."""
        ...

    def put_proposal(self, proposal: Proposal) -> None:
        """Let something wait for a person, or wait in other words."""
        ...

    def drop_proposal(self, bank: str, id: str) -> None:
        """It waits no longer."""
        ...

    def put_refusal(self, bank: str, refusal: Refusal) -> None:
        """Remember what a person turned down."""
        ...
