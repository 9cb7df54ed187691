"""The review queue: everything that waits for a person's decision (rules to write or to drop,
contradicted facts, texts that agents want kept), and files in which secrets were found. It only
reads; the decisions are made in `holdfast.app.curation`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.curation.rule_proposals import Candidate
from holdfast.app.memory import Holdfast
from holdfast.app.views.record_view import RecordRef, describe_refs, fingerprint
from holdfast.learn.agent_lessons import LESSON
from holdfast.learn.promotion import refusals_in_effect
from holdfast.model.knowledge import Fact, Memory, Refusal, Review, ReviewState
from holdfast.model.uris import uri
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.store.protocol import Reader

# Larger than any bank: asks the store for all memories.
_NO_LIMIT = 1_000_000


class FactQuestion(NamedTuple):
    """A contradicted fact and the evidence against it; `seen` is the fingerprint of its text."""

    review: Review
    fact: Fact | None
    against: tuple[RecordRef, ...]
    seen: str


class RedactedFile(NamedTuple):
    """A file from which secrets were redacted: how many of each kind, never the secrets."""

    bank: str
    path: str
    kinds: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        return sum(count for _, count in self.kinds)


class ReviewQueue(NamedTuple):
    """What waits for a decision: rules proposed from repeated statements, questions about facts,
    rules that agents want written (`lessons`) and texts that agents remembered (`memories`)."""

    rules: tuple[Candidate, ...] = ()
    questions: tuple[FactQuestion, ...] = ()
    lessons: tuple[Candidate, ...] = ()
    memories: tuple[Memory, ...] = ()

    @property
    def total(self) -> int:
        return sum(map(len, self))


def load_queue(memory: Holdfast) -> ReviewQueue:
    """Everything that waits, in all banks."""
    found = list(_candidates(memory))
    return ReviewQueue(
        tuple(c for c in found if not is_from_agent(c)),
        tuple(_question(memory.reader, review) for review in memory.browse.reviews(ALL_BANKS)),
        tuple(c for c in found if is_from_agent(c)),
        tuple(_agent_memories(memory.reader)),
    )


class WaitingCounts(NamedTuple):
    """How much waits: rules that were proposed, by people's words or by agents, facts that were
    contradicted, and texts of agents."""

    rules: int = 0
    facts: int = 0
    agents: int = 0


def waiting_counts(memory: Holdfast) -> WaitingCounts:
    """How many entries the queue has of each kind, without reading any rule file."""
    reader = memory.reader
    return WaitingCounts(
        sum(len(reader.rules.proposals(bank.id)) for bank in reader.banks.all()),
        len(memory.browse.reviews(ALL_BANKS)),
        sum(1 for _ in _agent_memories(reader)),
    )


def count_waiting(memory: Holdfast) -> int:
    """How many entries the queue has."""
    return sum(waiting_counts(memory))


def is_from_agent(candidate: Candidate) -> bool:
    """Whether an agent proposed it."""
    return candidate.proposal.target.startswith(uri(LESSON, ""))


def answered_reviews(memory: Holdfast) -> list[Review]:
    """The questions about facts that were answered, the latest first."""
    known = [
        r for r in memory.browse.reviews(ALL_BANKS, all=True) if r.state is not ReviewState.OPEN
    ]
    return sorted(known, key=lambda review: review.decided, reverse=True)


def refused_proposals(reader: Reader) -> list[tuple[str, Refusal]]:
    """The rejected proposals, which are not made again, each with its bank, the latest first."""
    found = [
        (bank.id, one) for bank in reader.banks.all() for one in refusals_in_effect(reader, bank.id)
    ]
    return sorted(found, key=lambda pair: pair[1].time, reverse=True)


def redacted_files(reader: Reader) -> list[RedactedFile]:
    """The files in which secrets were found, those with the most first."""
    found: list[RedactedFile] = []
    for source in reader.sources.all():
        kinds = reader.sources.redaction_counts(source.id)
        if kinds:
            found.append(RedactedFile(source.bank, source.path, tuple(sorted(kinds.items()))))
    return sorted(found, key=lambda one: (-one.total, one.path))


def _candidates(memory: Holdfast) -> Iterator[Candidate]:
    for bank in memory.reader.banks.all():
        if memory.reader.rules.proposals(bank.id):
            yield from memory.rules.candidates(bank.id)


def _agent_memories(reader: Reader) -> Iterator[Memory]:
    for bank in reader.banks.all():
        yield from (one for one in reader.memories.remembered(bank.id, _NO_LIMIT) if one.by_agent)


def _question(reader: Reader, review: Review) -> FactQuestion:
    found = find_by_uri(reader, review.bank, review.target)
    fact = found if isinstance(found, Fact) else None
    against = describe_refs(reader, review.bank, [RecordRef(name, "") for name in review.evidence])
    return FactQuestion(review, fact, tuple(against), fingerprint(fact.content if fact else ""))
