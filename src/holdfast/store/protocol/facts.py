"""What a store keeps of claims, facts and their lives, and how a fact stood at a time.

All of it is derived, except for advice, which was paid for, and for what sessions made use of. A
life is a list of changes, so that what was known and held on any day can be told: a change after
that day has not happened yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.injections import RecordUse
from holdfast.model.knowledge import Claim, Fact, FactEvidence, Review, StatusChange
from holdfast.model.query import Passage
from holdfast.model.records import Turn


class FactWithPassage(NamedTuple):
    """A fact with the passage it is found by; None where another record says the same."""

    fact: Fact
    passage: Passage | None


class DerivedKnowledge(NamedTuple):
    """All that a bank's claims come to. `dropped` counts what was no fact, by reason."""

    facts: Sequence[FactWithPassage] = ()
    lives: Sequence[StatusChange] = ()
    bearings: Sequence[FactEvidence] = ()
    reviews: Sequence[Review] = ()
    dropped: Sequence[tuple[str, int]] = ()


class FactReader(Protocol):
    """What can be asked."""

    def claims(self, bank: str, session: str = "", turns: Sequence[str] = ()) -> list[Claim]:
        """The claims of a bank, of one session, or of some turns, by time."""
        ...

    def facts(self, bank: str | None) -> list[Fact]:
        """Every fact that is shown, whatever its status; the latest learned first."""
        ...

    def status_changes(self, bank: str, names: Sequence[tuple[str, str]]) -> list[StatusChange]:
        """The lives of records, each named by kind and id, by time."""
        ...

    def fact_evidence(self, bank: str, fact: str) -> list[FactEvidence]:
        """What bears on a fact, by time."""
        ...

    def facts_stated_in(self, bank: str, uri: str) -> list[Fact]:
        """The facts that were stated in a record."""
        ...

    def uses(self, bank: str) -> list[RecordUse]:
        """What sessions made use of after they were told, by time, as far as the turns that show
        it are shown."""
        ...

    def reviews(self, bank: str | None) -> list[Review]:
        """What people should decide or have decided, the oldest first."""
        ...

    def dropped_claims(self, bank: str | None) -> dict[str, int]:
        """How many claims were no fact, by reason."""
        ...


class FactWriter(Protocol):
    """The ways in."""

    def put_knowledge(self, bank: str, knowledge: DerivedKnowledge) -> None:
        """Replace what the claims of a bank come to. What stays the same is not written anew."""
        ...

    def tool_calls_matching(self, bank: str, words: Sequence[str]) -> Iterator[Turn]:
        """The tool calls of a bank whose target or action holds one of these words, as shown, by
        time."""
        ...

    def put_uses(self, bank: str, uses: Iterable[RecordUse]) -> None:
        """Keep what sessions made use of; what is known stays."""
        ...

    def drop_uses(self, bank: str, record: str, session: str) -> None:
        """Take back that a person found a record of use in an investigation."""
        ...

    def put_advice(self, bank: str, review: str, time: str, model: str, text: str) -> None:
        """Keep what a model says of a question that people should decide."""
        ...
