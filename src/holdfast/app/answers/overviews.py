"""Answers questions without a subject: "What is not allowed?", "What is still open?" They list what
is known of that kind in a bank, with citations, instead of what is nearest to their words.

It is chosen as for the session brief, which asks the same, but without a limit of room and also for
a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from holdfast.brief.informative import is_offer, lasting_part, says_it_lasts
from holdfast.brief.known_statements import (
    SETTLING_KINDS,
    KnownStatement,
    is_laid_down,
    is_of_a_program,
    names_work,
    state,
    tells_fault,
)
from holdfast.brief.sessions.findings import CAUSE, Findings
from holdfast.brief.statement_ranking import ReplacedWork, StatementRanking, is_same_matter
from holdfast.brief.verdicts import read_outdated
from holdfast.language import content_stems, sentences, truncate, without_open_label
from holdfast.model.knowledge import FactKind, Kind, Memory
from holdfast.model.query import Answer, Confidence, Hit
from holdfast.model.trust import ENDED_STATUSES, Trust
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.core.ended_words import WHOLE_SESSION, read_ended_words
from holdfast.recall.query.overview_questions import Overview
from holdfast.recall.query.statement_kinds import forbids
from holdfast.recall.query.time_ranges import TimeRange
from holdfast.refine.core.statement_similarity import own_words
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.research.answering.answer import compose
from holdfast.research.answering.quoting import MAX_SENTENCE_CHARS, Quote
from holdfast.research.answering.request import AskRequest, hits_of_passages
from holdfast.store.protocol import Reader


class OverviewLimits(NamedTuple):
    """How much an overview reads, which bounds the time, and how much it lists: what is read at a
    glance. Of all banks it reads those with the latest sessions."""

    # Content words of a decision: "/review" and "then SQLite" say nothing to who was not there.
    min_stems: int = 3
    remembered: int = 120
    statements: int = 600
    # Sessions among which the last one of a person is.
    sessions: int = 20
    quotes: int = 12
    banks: int = 5
    # Of each group, where everything is asked for.
    decisions: int = 6
    faults: int = 3
    open_tasks: int = 3


_LIMITS = OverviewLimits()
# The groups of everything, and how much of each is told.
_GROUPS = {
    Overview.DECISIONS: _LIMITS.decisions,
    Overview.FAULTS: _LIMITS.faults,
    Overview.OPEN_TASKS: _LIMITS.open_tasks,
}


class Known(NamedTuple):
    """A statement of an overview: its text, when it was said, the URIs of the records that say so,
    words to put before it, and whether somebody wrote it down for all sessions or said that it
    lasts."""

    text: str
    time: str
    records: tuple[str, ...]
    lead: str = ""
    is_written_down: bool = False
    lasts: bool = False


class BankOverview:
    """What is known in a bank, by kind."""

    def __init__(self, reader: Reader, bank: str) -> None:
        self._reader = reader
        self._bank = bank
        self._ended = read_ended_words(reader, bank)
        self._verdicts = read_outdated(reader, bank)
        self._ranking = StatementRanking(
            reader, bank, self._ended, ReplacedWork(reader, bank), self._verdicts
        )
        self._findings = Findings(self._ranking)
        self._best = list(self._ranking.best([]))
        # Of each session that was looked at, whether a person began it.
        self._by_person: dict[str, bool] = {}

    def of(self, wanted: Overview) -> list[Known]:
        """What is known of a kind, the most important first; of everything a group after the
        other."""
        if wanted is Overview.EVERYTHING:
            return [one for group, most in _GROUPS.items() for one in self.of(group)[:most]]
        found: dict[Overview, Callable[[], Iterable[Known]]] = {
            Overview.PROHIBITIONS: self._prohibitions,
            Overview.RULES: lambda: (*self._laid_down(), *self._rules_of_files()),
            Overview.DECISIONS: lambda: (*self._laid_down(), *self._chosen()),
            Overview.OPEN_TASKS: self._open_tasks,
            Overview.FAULTS: self._faults,
        }
        return _distinct(one for one in found[wanted]() if not self._is_outdated(one))

    def _is_outdated(self, one: Known) -> bool:
        """Whether somebody said that it, or another record that says the same, does not hold any
        more. What stands in a file holds until it is changed there."""
        if any(map(self._verdicts.is_outdated, one.records)):
            return True
        return not one.is_written_down and self._verdicts.repeats_dropped(one.text, one.time)

    def _laid_down(self) -> list[Known]:
        """What people laid down: in the memory file, as rules in force, by asking to remember it,
        or in what they said; what says that it lasts first, then the latest."""
        found = [*self._rulings(), *self._remembered(), *self._settled()]
        found.sort(key=_by_durability, reverse=True)
        return [*self._rules_of_files(memory_file=True), *found]

    def _chosen(self) -> list[Known]:
        """What else was decided: choices that people made when they were asked, and what agents
        say holds now; the latest first."""
        found = [*self._rulings(by_agent=True)]
        for memory in self._retained(Kind.DECISION):
            if memory.trust is Trust.TOOL and self._is_told(memory):
                found.append(_decision(memory.what, memory.when, uri("memory", memory.id)))
        return sorted(found, key=lambda one: one.time, reverse=True)

    def _retained(self, kind: Kind) -> list[Memory]:
        limit = _LIMITS.statements
        return self._reader.memories.retained(self._bank, limit=limit, kind=kind, only_open=True)

    def _is_told(self, memory: Memory) -> bool:
        """Whether a statement holds, and a person began its session."""
        holds = memory.status not in ENDED_STATUSES
        return holds and state(self._reader, memory, self._ended, self._by_person) is not None

    def _prohibitions(self) -> Iterator[Known]:
        """Of what is decided and what the files of rules say, the sentences that forbid."""
        for one in (*self._laid_down(), *self._rules_of_files()):
            said = [sentence for sentence in sentences(one.text) if forbids(sentence)]
            if said:
                yield one._replace(text=" ".join(said) if one.is_written_down else one.text)

    def _rules_of_files(self, *, memory_file: bool = False) -> Iterator[Known]:
        """The sections of the files that people review."""
        for rule in self._reader.rules.all(self._bank):
            if rule.is_memory_file is memory_file and rule.text.strip():
                name = uri("rule", rule.id)
                yield Known(rule.text, rule.updated, (name,), is_written_down=True, lasts=True)

    def _rulings(self, *, by_agent: bool = False) -> Iterator[Known]:
        """The rules in force that people stated, or those in an agent's words."""
        for fact in self._reader.facts.all(self._bank):
            is_agents = fact.trust is Trust.ASSISTANT
            if fact.kind is not FactKind.RULE or is_agents is not by_agent:
                continue
            if fact.status in ENDED_STATUSES or not _lays_down(fact.content):
                continue
            time = fact.last_validated or fact.validity.learned
            yield _decision(fact.content, time, uri("fact", fact.id), *fact.evidence)

    def _remembered(self) -> Iterator[Known]:
        """What people asked to remember."""
        for memory in self._reader.memories.remembered(self._bank, _LIMITS.remembered):
            holds = memory.lays_down and memory.status not in ENDED_STATUSES
            if holds and not self._ended.find(memory.what, memory.when):
                yield _decision(memory.what, memory.when, uri("memory", memory.id))

    def _settled(self) -> Iterator[Known]:
        """What people settled in sessions, and all rules among it that are meant to last."""
        best = [one.memory for one in self._best if one.memory.kind in SETTLING_KINDS]
        rules = (one for one in self._retained(Kind.RULE) if is_laid_down(one))
        for memory in (*best, *filter(self._is_told, rules)):
            text = lasting_part(own_words(memory.what))
            if not memory.by_agent and _lays_down(text):
                yield _decision(text, memory.when, uri("memory", memory.id))

    def _faults(self) -> Iterator[Known]:
        """What agents found to be broken, and why; what was mended since is said to be."""
        for one in self._best:
            if not tells_fault(one.memory):
                continue
            label = self._findings.label(one)
            lead = "" if label == CAUSE else f"{label}: "
            yield self._stated(one, one.text, lead)

    def _open_tasks(self) -> Iterator[Known]:
        """What agents left open, and the next steps of the last sessions."""
        for one in self._best:
            if one.memory.kind is Kind.TODO and self._findings.is_left_open(one):
                yield self._stated(one, one.text)
        yield from self._next_steps()

    def _stated(self, one: KnownStatement, text: str, lead: str = "") -> Known:
        return Known(text, one.memory.when, (uri("memory", one.memory.id),), lead)

    def _next_steps(self) -> Iterator[Known]:
        """What the last session of a person said is to be done next. What earlier ones said was
        mostly taken up since."""
        latest = self._reader.sessions.latest(self._bank, _LIMITS.sessions)
        session = next((one for one in latest if not one.parent), None)
        digest = self._reader.sessions.digest(self._bank, session.id) if session else None
        for step in map(without_open_label, digest.next_steps if digest else ()):
            assert digest is not None
            if is_offer(step) or is_of_a_program(step) or not names_work(step):
                continue
            if not self._ended.find(step, digest.started, digest.session, WHOLE_SESSION):
                yield Known(step, digest.ended or digest.started, (uri("digest", digest.id),))


def _by_durability(one: Known) -> tuple[bool, str]:
    return one.lasts, one.time


def _decision(text: str, time: str, *records: str) -> Known:
    return Known(text, time, records, lasts=says_it_lasts(text))


def _lays_down(text: str) -> bool:
    """Whether a decision is meant for later, too, and says something by itself."""
    if is_for_the_moment(text) or is_of_a_program(text):
        return False
    return len(content_stems(lasting_part(text))) >= _LIMITS.min_stems


def _distinct(found: Iterable[Known]) -> list[Known]:
    """Without what says the same as one before. Rules that were written down stand side by side."""
    kept: list[Known] = []
    said: list[frozenset[str]] = []
    for one in found:
        own = content_stems(one.text)
        is_repeated = not one.is_written_down and any(is_same_matter(own, it) for it in said)
        if own and not is_repeated:
            kept.append(one)
            said.append(own)
    return kept


# What agents say is broken or open may have changed since without a word.
_BY_AGENTS = frozenset((Overview.OPEN_TASKS, Overview.FAULTS))


def answer_overview(
    reader: Reader, request: AskRequest, wanted: Overview, when: TimeRange | None
) -> Answer | None:
    """The answer to a question without a subject, of the time that it names. It abstains if nothing
    of that kind is known; where nothing is and the question may ask for all work of a time, it is
    None."""
    found = list(_known(reader, request, wanted, when))
    quotes = _quotes(reader, request, found[: _LIMITS.quotes])
    if not quotes:
        return None if when is not None and when.only_time else _abstain(request, wanted, when)
    left = len(found) - len(quotes)
    notes = [f"Not listed: {left} more."] if left else []
    confidence = Confidence.LOW if wanted in _BY_AGENTS else Confidence.MEDIUM
    return compose(reader, request, quotes, confidence, notes, may_be_outdated=False)


def _abstain(request: AskRequest, wanted: Overview, when: TimeRange | None) -> Answer:
    of_time = " of that time" if when is not None else ""
    what = "anything that lasts" if wanted is Overview.EVERYTHING else wanted.value
    return Answer(
        question=request.question,
        answer=f"Not known: memory has no record of {what}{of_time}.",
        confidence=Confidence.NONE,
        abstained=True,
        source="",
    )


def _known(
    reader: Reader, request: AskRequest, wanted: Overview, when: TimeRange | None
) -> Iterator[tuple[str, Known]]:
    for bank in _banks(reader, request.bank):
        known = BankOverview(reader, bank).of(wanted)
        if when is not None:
            known = [one for one in known if when.start <= one.time < (when.end or "~")]
        yield from ((bank, one) for one in known)


def _banks(reader: Reader, bank: str | None) -> Sequence[str]:
    if bank is not None:
        return [bank]
    ids = [one.id for one in reader.banks.all()]
    latest = sorted(ids, key=reader.sessions.last_end, reverse=True)
    return latest[: _LIMITS.banks]


def _quotes(reader: Reader, request: AskRequest, found: Sequence[tuple[str, Known]]) -> list[Quote]:
    """The quotes of what was found, as far as the request accepts their records."""
    quotes: list[Quote] = []
    for bank, known in found:
        hits = (_hit(reader, request, bank, record) for record in known.records)
        hit = next((one for one in hits if one is not None), None)
        if hit is not None and request.accepts(hit):
            sentence = truncate(" ".join(known.text.split()), MAX_SENTENCE_CHARS)
            quotes.append(Quote(hit, sentence, 0.0, 0.0, known.lead))
    return quotes


# A fact that only repeats a record is found as that record.
def _hit(reader: Reader, request: AskRequest, bank: str, record: str) -> Hit | None:
    named = parse_uri(record)
    passages = reader.passages.of_records(bank, named.kind, [named.id]) if named else []
    return next(iter(hits_of_passages(reader, request, passages)), None)
