"""Joins the memories of one session that tell the same matter, wherever they come from.

A commit and the statement in which the agent reports it are one matter, as are a request and what
the agent repeats of it, and a sentence and the list that it was completed to. One of them is kept,
with the sources of the others: a person's own words before those of an agent that repeats them, the
report that something was done before the request for it, what takes something back before what it
takes back, and else the one that says more. `refine/distil/joining.py` joins statements before they
are chosen; here they are worded, and beside what tools prove.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from holdfast.language import plain
from holdfast.model.knowledge import Kind
from holdfast.model.opinions import MemoryOccurrence
from holdfast.model.trust import PEOPLE, least_trusted
from holdfast.refine.core.statement_similarity import has_amending_phrase
from holdfast.refine.distil.features import content_words
from holdfast.refine.distil.joining import with_names_as_words, word_weights
from holdfast.refine.distil.matters import NEGATION, values_of
from holdfast.refine.memories.statement_networks import statement_network
from holdfast.regex import regex


class RecordJoinLimits(NamedTuple):
    """When a memory tells what another one does. Chosen by reading joins of sessions that nobody
    had graded (bench/RESULTS.md)."""

    # Words that both have, at least; fewer where one quotes the other.
    shared_words: int = 5
    quoted_words: int = 3
    # The share of the weight of one's words that the other has.
    covered: float = 0.7
    # The same of a person and an agent, of a tool and an agent, and of items of one message: that
    # these tell the same is likelier than of what an agent says in two messages.
    shared_beside: int = 4
    covered_beside: float = 0.6
    # How many times the words of the other one has that stands for both, where each tells the
    # other: below that, the later one does.
    more: float = 1.2
    # How many times the words of a person's statement an agent's may have that only repeats it.
    repeated: float = 2.0


LIMITS = RecordJoinLimits()
# What rules add to the words of a commit, a plan or a reply: the verb, files, and a verdict.
_VERB = regex(r"^(?:Committed|Carried out the plan|Began the plan|Worked on) (?=“)")
# A commit whose subject says too little: what its type calls the matter itself says more.
_BARE_COMMIT = regex(r"^Committed “(?!(?:feat|fix|perf|refactor)(?:\([^)]*\))?!?: )")
_TYPE = regex(r"(?<=“)\w+(?:\([^)]*\))?!?: ")
_FILES = regex(r"(?: in [\w./@~-]+(?:, [\w./@~-]+)*(?: and \d+ more)?)?(?:; the tests [^;]*)?$")
# What a statement is about, at its end.
_SUBJECT = regex(r" \((?:[^()]|\([^()]*\))*\)$")

# An agent says again what it was asked, often before it thinks about it.
_RESTATES = regex(
    r"^(?:okay|ok|so|now|great)?\W*the user (?:is|was|wants?|wanted|says?|said|asks?|asked|needs?|"
    r"needed|reports?|reported|mentions?|mentioned)\b"
)

_REPORTS = frozenset((Kind.OUTCOME, Kind.FACT, Kind.DECISION))


class _Record(NamedTuple):
    """A memory with what is compared of it, and its place among those that were given."""

    memory: MemoryOccurrence
    text: str
    words: frozenset[str]
    values: frozenset[str]
    number: int

    @property
    def is_person(self) -> bool:
        return self.memory.trust in PEOPLE

    @property
    def is_by_rules(self) -> bool:
        """Whether rules found it in what tools did; no statement was chosen for it."""
        return self.memory.worth is None and self.memory.kind is Kind.OUTCOME


def join_records(found: Sequence[MemoryOccurrence]) -> list[MemoryOccurrence]:
    """The memories of a session without those that another one stands for, in their order."""
    records = [_record(one, number) for number, one in enumerate(found)]
    weights = word_weights([record.words for record in records])
    kept: list[_Record] = []
    for record in sorted(records, key=lambda one: (-len(one.words), one.number)):
        for place, other in enumerate(kept):
            stands = _standing(other, record, weights)
            if stands is not None:
                joined = record if stands is other else other
                kept[place] = stands._replace(memory=_with_sources(stands.memory, joined.memory))
                break
        else:
            kept.append(record)
    kept.sort(key=lambda one: one.number)
    return _without_bare_commits([record.memory for record in kept])


def _without_bare_commits(found: Sequence[MemoryOccurrence]) -> list[MemoryOccurrence]:
    """The memories without bare subjects of commits where the agent says what came of the exchange:
    the history has the subject."""
    said = {one.seq: one.key for one in found if one.kind is Kind.OUTCOME and one.worth is not None}
    bare = {
        one.key: said[one.seq]
        for one in found
        if one.seq in said and one.worth is None and _BARE_COMMIT.match(one.what)
    }
    kept: list[MemoryOccurrence] = []
    for one in found:
        if one.key not in bare:
            commits = (other for other in found if bare.get(other.key) == one.key)
            kept.append(reduce(_with_sources, commits, one))
    return kept


def _record(memory: MemoryOccurrence, number: int) -> _Record:
    """A memory to compare. What it is about, in brackets at its end, tells it not apart; if the
    brackets are a part of it, their numbers do."""
    text = memory.what
    if memory.worth is None:
        text = _TYPE.sub("", _VERB.sub("", _FILES.sub("", text)))
    values = values_of(with_names_as_words(text))
    text = _SUBJECT.sub("", text)
    words = content_words(with_names_as_words(text))
    return _Record(memory, plain(text).lower(), words, values, number)


def _standing(one: _Record, other: _Record, weights: Mapping[str, float]) -> _Record | None:
    """The one of two memories that stands for both; None if they tell two matters."""
    if not _may_join(one, other):
        return None
    person, agent = (one, other) if one.is_person else (other, one)
    if _restates(agent, person):
        return person
    tells, is_told = (_tells(*pair, weights) for pair in ((one, other), (other, one)))
    if not tells and not is_told:
        return None
    if one.is_person is not other.is_person:
        if is_told if person is other else tells:
            return person
        if agent.memory.kind is Kind.OUTCOME:
            return agent
        repeats = len(agent.words) <= LIMITS.repeated * len(person.words)
        return person if repeats else None
    pair = (one, other)
    earlier, later = sorted(pair, key=lambda record: (record.memory.seq, record.number))
    if _takes_back(later, earlier):
        return later
    if tells and is_told:
        longer = max(one, other, key=_length)
        return longer if _length(longer) >= LIMITS.more * min(map(_length, pair)) else later
    return one if tells else other


def _restates(agent: _Record, person: _Record) -> bool:
    """Whether an agent tells what a person said in the same exchange."""
    if not person.is_person or agent.is_person or agent.memory.seq != person.memory.seq:
        return False
    return _RESTATES.match(agent.text) is not None and not agent.words.isdisjoint(person.words)


def _may_join(one: _Record, other: _Record) -> bool:
    """Whether two memories may be of one matter: both are stated or done, and a task is no deed."""
    kinds = (one.memory.kind, other.memory.kind)
    if None in kinds or max(one.memory.needs, other.memory.needs) > 1:
        return False
    return Kind.TODO not in kinds or kinds[0] is kinds[1]


def _are_beside(one: _Record, other: _Record) -> bool:
    """Whether two memories are of a person and an agent, of a tool and an agent, or of one
    message."""
    if one.is_person is not other.is_person or one.is_by_rules is not other.is_by_rules:
        return True
    return one.memory.evidence == other.memory.evidence


def _tells(one: _Record, other: _Record, weights: Mapping[str, float]) -> bool:
    """Whether one memory tells all that another one does: it quotes it, or it has most of its
    words and all of its numbers, and both negate or none does."""
    if other.memory.kind is Kind.OUTCOME and not _may_report(one, other):
        return False
    lead = _shared_lead(one, other)
    shared = (one.words & other.words) - lead
    if other.text in one.text:
        return len(shared | lead) >= LIMITS.quoted_words
    is_beside = _are_beside(one, other)
    least_words = LIMITS.shared_beside if is_beside else LIMITS.shared_words
    if len(shared) < least_words or (NEGATION in one.values) is not (NEGATION in other.values):
        return False
    least = LIMITS.covered_beside if is_beside else LIMITS.covered
    own = other.words - lead
    is_covered = sum(weights[w] for w in shared) >= least * sum(weights[w] for w in own)
    return is_covered and other.values <= one.values


def _may_report(one: _Record, outcome: _Record) -> bool:
    """Whether a memory may tell of an outcome. That an agent did something, only another report or
    the person tells. What tools prove is told by no request, and by no cause of what it ended."""
    if outcome.is_by_rules:
        return not one.is_person and one.memory.kind in _REPORTS
    return one.is_person or one.memory.kind is Kind.OUTCOME


def _shared_lead(one: _Record, other: _Record) -> frozenset[str]:
    """The words that introduce both, if they are items of one list: they tell them not apart."""
    lead, colon, _ = one.text.partition(": ")
    return content_words(lead) if colon and other.text.startswith(lead + colon) else frozenset()


def _takes_back(later: _Record, earlier: _Record) -> bool:
    """Whether a later outcome takes back something of an earlier one."""
    if later.memory.kind is not Kind.OUTCOME or later.memory.seq == earlier.memory.seq:
        return False
    return has_amending_phrase(later.memory.what) and not has_amending_phrase(earlier.memory.what)


def _length(record: _Record) -> int:
    return len(record.words)


def _with_sources(stands: MemoryOccurrence, joined: MemoryOccurrence) -> MemoryOccurrence:
    """A memory with the sources of another one that it stands for. What tools prove was done is an
    outcome, whatever its words look like."""
    evidence = tuple(dict.fromkeys((*stands.evidence, *joined.evidence)))
    worths = [worth for worth in (stands.worth, joined.worth) if worth is not None]
    is_person = stands.trust in PEOPLE
    trust = stands.trust if is_person else least_trusted((stands.trust, joined.trust))
    made = stands._replace(
        evidence=evidence,
        worth=max(worths, default=None),
        trust=trust,
        why=stands.why or joined.why,
    )
    is_proven = joined.worth is None and joined.kind is Kind.OUTCOME
    if is_proven and stands.kind is Kind.FACT and not is_person:
        network = statement_network(Kind.OUTCOME, stands.what, is_person)
        key = stands.key.replace(stands.network.value, network.value, 1)
        made = made._replace(kind=Kind.OUTCOME, network=network, key=key)
    return made
