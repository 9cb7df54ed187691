"""Claims, facts, the evidence on them and their status changes.

All of it is derived, except for advice, which was paid for, and for record uses. Status changes are
kept as a list, so that what was known at any time can be read: a change after that time is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.knowledge import Claim, Fact, FactEvidence, Review, StatusChange
from holdfast.model.ledgers.injections import RecordUse
from holdfast.model.query import Passage
from holdfast.model.records import Turn


class FactWithPassage(NamedTuple):
    """A fact with the passage by which it is found; None where another record says the same."""

    fact: Fact
    passage: Passage | None


class DerivedKnowledge(NamedTuple):
    """All that is derived from the claims of a bank. `dropped` counts claims that are no facts, by
    reason."""

    facts: Sequence[FactWithPassage] = ()
    status_changes: Sequence[StatusChange] = ()
    evidence: Sequence[FactEvidence] = ()
    reviews: Sequence[Review] = ()
    dropped: Sequence[tuple[str, int]] = ()


class FactReader(Protocol):
    """Reads claims, facts and reviews."""

    def claims(self, bank: str, session: str = "", turns: Sequence[str] = ()) -> list[Claim]:
        """The claims of a bank, of one session, or of some turns, by time."""
        ...

    def facts(self, bank: str | None) -> list[Fact]:
        """Every fact that is not hidden, whatever its status; the latest learned first."""
        ...

    def status_changes(self, bank: str, names: Sequence[tuple[str, str]]) -> list[StatusChange]:
        """The status changes of records, each named by kind and id, by time."""
        ...

    def fact_evidence(self, bank: str, fact: str) -> list[FactEvidence]:
        """The evidence for and against a fact, by time."""
        ...

    def facts_stated_in(self, bank: str, uri: str) -> list[Fact]:
        """The facts that were stated in a record."""
        ...

    def uses(self, bank: str) -> list[RecordUse]:
        """The records that sessions used, by time, as far as the turns that show it are not
        hidden."""
        ...

    def reviews(self, bank: str | None) -> list[Review]:
        """The questions that people should decide or have decided, the oldest first."""
        ...

    def dropped_claims(self, bank: str | None) -> dict[str, int]:
        """How many claims became no fact, by reason."""
        ...


class FactWriter(Protocol):
    """Writes derived knowledge, record uses and advice."""

    def put_knowledge(self, bank: str, knowledge: DerivedKnowledge) -> None:
        """Replace what is derived from the claims of a bank; unchanged rows are not written."""
        ...

    def tool_calls_matching(self, bank: str, words: Sequence[str]) -> Iterator[Turn]:
        """The tool calls of a bank whose target or action contains one of these words, without
        hidden ones, by time."""
        ...

    def put_uses(self, bank: str, uses: Iterable[RecordUse]) -> None:
        """Keep which records sessions used; known uses stay."""
        ...

    def drop_uses(self, bank: str, record: str, session: str) -> None:
        """Remove the mark of a person that a record was useful in an investigation."""
        ...

    def put_advice(self, bank: str, review: str, time: str, model: str, text: str) -> None:
        """Keep what a model says about a question that people should decide."""
        ...
