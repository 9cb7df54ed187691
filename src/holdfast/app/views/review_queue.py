"""What waits for a person, gathered from wherever it waits: rules to write or to drop, facts that
something speaks against, what agents want kept, secrets that were found. Nothing here decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.curation.rule_proposals import Candidate
from holdfast.app.memory import Holdfast
from holdfast.app.views.record_view import RecordRef, fingerprint, describe_refs
from holdfast.learn.agent_lessons import LESSON
from holdfast.learn.promotion import refusals_in_effect
from holdfast.model.knowledge import Fact, Memory, Refusal, Review, ReviewState
from holdfast.model.uris import parse_uri, uri
from holdfast.store.protocol import Reader

_MOST = 500


class FactQuestion(NamedTuple):
    """A fact that something speaks against, and what does; `seen` tells its words from others."""

    review: Review
    fact: Fact | None
    against: tuple[RecordRef, ...]
    seen: str


class RedactedFile(NamedTuple):
    """A file that secrets were taken out of: how many of each kind, and never which."""

    bank: str
    path: str
    kinds: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        """How many in all."""
        return sum(count for _, count in self.kinds)


class ReviewQueue(NamedTuple):
    """What is to be decided: rules that grew out of what was said, questions on facts, rules that
    agents want written (`lessons`) and texts that they want kept (`memories`)."""

    rules: tuple[Candidate, ...] = ()
    questions: tuple[FactQuestion, ...] = ()
    lessons: tuple[Candidate, ...] = ()
    memories: tuple[Memory, ...] = ()

    @property
    def total(self) -> int:
        """How much that is."""
        return sum(map(len, self))


def load_queue(memory: Holdfast) -> ReviewQueue:
    """Everything that waits, in all banks."""
    found = list(_candidates(memory))
    return ReviewQueue(
        tuple(c for c in found if not is_from_agent(c)),
        tuple(_question(memory.reader, review) for review in memory.browse.reviews(ALL_BANKS)),
        tuple(c for c in found if is_from_agent(c)),
        tuple(_memories(memory.reader)),
    )


def count_waiting(memory: Holdfast) -> int:
    """How much waits, without looking at any file."""
    reader = memory.reader
    rules = sum(len(reader.proposals(bank.id)) for bank in reader.banks())
    return rules + len(memory.browse.reviews(ALL_BANKS)) + sum(1 for _ in _memories(reader))


def is_from_agent(candidate: Candidate) -> bool:
    """Whether an agent asks for it."""
    return candidate.proposal.target.startswith(uri(LESSON, ""))


def answered_reviews(memory: Holdfast) -> list[Review]:
    """The questions that were answered, the latest first."""
    known = [
        r for r in memory.browse.reviews(ALL_BANKS, all=True) if r.state is not ReviewState.OPEN
    ]
    return sorted(known, key=lambda review: review.decided, reverse=True)


def refused_proposals(reader: Reader) -> list[tuple[str, Refusal]]:
    """What is not proposed again, with its bank, the latest first."""
    found = [
        (bank.id, one) for bank in reader.banks() for one in refusals_in_effect(reader, bank.id)
    ]
    return sorted(found, key=lambda pair: pair[1].time, reverse=True)


def redacted_files(reader: Reader) -> list[RedactedFile]:
    """The files that secrets were found in, those with most first."""
    found: list[RedactedFile] = []
    for source in reader.sources():
        kinds = reader.redaction_counts(source.id)
        if kinds:
            found.append(RedactedFile(source.bank, source.path, tuple(sorted(kinds.items()))))
    return sorted(found, key=lambda one: (-one.total, one.path))


def _candidates(memory: Holdfast) -> Iterator[Candidate]:
    for bank in memory.reader.banks():
        if memory.reader.proposals(bank.id):
            yield from memory.rules.candidates(bank.id)


def _memories(reader: Reader) -> Iterator[Memory]:
    for bank in reader.banks():
        yield from (one for one in reader.remembered(bank.id, _MOST) if one.by_agent)


def _question(reader: Reader, review: Review) -> FactQuestion:
    named = parse_uri(review.target)
    found = reader.find(review.bank, named.kind, named.id, 1) if named else []
    fact = next((one for one in found if isinstance(one, Fact)), None)
    against = describe_refs(reader, review.bank, [RecordRef(name, "") for name in review.evidence])
    return FactQuestion(review, fact, tuple(against), fingerprint(fact.content if fact else ""))
