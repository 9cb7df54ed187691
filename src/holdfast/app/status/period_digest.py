"""A digest of a period, for `holdfast digest`: what was done, decided and learned in it, what was
left open, and what the memory got wrong. Every line cites the record it comes from; no model is
asked. The text of forgotten records is not shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from holdfast.app.core.context import describe_bank
from holdfast.app.memory import Holdfast
from holdfast.brief.known_statements import open_tasks
from holdfast.language import truncate, without_open_label
from holdfast.learn.bank_merge_log import is_bank_merge
from holdfast.learn.decision_state import RETENTION_AUTHOR
from holdfast.model.curation import Action, in_effect, not_restored
from holdfast.model.knowledge import Claim, ClaimKind, Fact, Memory
from holdfast.model.ledgers.injections import InjectionUse
from holdfast.model.records import Digest, Session
from holdfast.model.to_json import to_jsonable
from holdfast.model.trust import ENDED_STATUSES, Status, Trust
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.core.ended_words import WHOLE_SESSION, EndedWords, read_ended_words
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.recall.lookup.origins import session_names
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.regex import regex
from holdfast.research.answering.quoted_status import claim_statuses
from holdfast.times import add_seconds

# The default period, in days.
WEEK = 7
_DAY_S = 86400.0
# Bounds the queries for sessions and contradicted injections of a bank; in a longer period the
# oldest would be missing.
_MAX_RECORDS = 1000
_MAX_INJECTIONS = 100_000
# Lines of a section, and characters of a line and of a note, to keep a digest to a screen or two.
_MAX_ITEMS = 15
_MAX_TEXT = 200
_MAX_NOTE = 80
_WRONG = "wrong"


class Item(NamedTuple):
    """A line of a digest: when, in which bank, what, the record it comes from, and a note on it."""

    time: str
    bank: str
    text: str
    uri: str = ""
    note: str = ""


class Section(NamedTuple):
    """The lines of a section, newest first, and how many more there are."""

    name: str
    items: tuple[Item, ...]
    more: int = 0


class PeriodDigest(NamedTuple):
    """The digest from `since` up to, but without, `until`. `ignored` counts injections that left no
    trace."""

    bank: str
    since: str
    until: str
    sessions: int
    sections: tuple[Section, ...]
    ignored: int = 0


class BankPeriod:
    """One bank in the period of a digest. What several sections are made of is read once."""

    def __init__(self, memory: Holdfast, bank: str, since: str, until: str) -> None:
        self.memory = memory
        self.bank = bank
        self.since = since
        self.until = until

    @cached_property
    def ended(self) -> EndedWords:
        """The words of the bank that do not hold any more."""
        return read_ended_words(self.memory.reader, self.bank)

    def holds(self, memory: Memory) -> bool:
        """Whether a memory is in force: neither itself nor what it says was ended later."""
        shown = self._endings.with_status(memory)
        return isinstance(shown, Memory) and shown.status not in ENDED_STATUSES

    @cached_property
    def _endings(self) -> RecordEndings:
        return RecordEndings(self.memory.reader)

    @cached_property
    def sessions(self) -> list[tuple[Session, Digest]]:
        """The sessions that ended in the period; those of subagents are part of their parents."""
        sessions = self.memory.reader.sessions
        found = [
            (one, sessions.digest(self.bank, one.id))
            for one in sessions.latest(self.bank, _MAX_RECORDS)
            if not one.parent and self.has(one.ended)
        ]
        return [(session, digest) for session, digest in found if digest is not None]

    @cached_property
    def claims(self) -> list[tuple[Claim, Status, str]]:
        """The claims of the bank, each with its status now and since when it has that."""
        reader = self.memory.reader
        claims = reader.facts.claims(self.bank)
        last = claim_statuses(reader, self.bank, claims)
        return [
            (one, last[one.id].status, last[one.id].time)
            if one.id in last
            else (one, one.status, one.changed or one.time)
            for one in claims
        ]

    def has(self, time: str) -> bool:
        """Whether a time lies in the period."""
        return self.since <= time < self.until

    def item(self, time: str, text: str, uri: str, note: str) -> Item:
        short = truncate(" ".join(text.split()), _MAX_TEXT)
        return Item(time, self.memory.context.bank_name(self.bank), short, uri, note)

    def is_shown(self, target: str) -> bool:
        """Whether the text of a decision may be shown: not if its target was forgotten since."""
        parsed = parse_uri(target)
        return parsed is None or not self.memory.reader.curation.find_hidden(
            self.bank, parsed.kind, parsed.id, 1
        )


Finder = Callable[[BankPeriod], Iterator[Item]]


def read_period(now: str, days: int, since: str, until: str) -> tuple[str, str]:
    """The period that is meant: some days up to now, or from one date to the end of another."""
    if not since:
        return add_seconds(now, -days * _DAY_S), now
    return read_iso_span(since).first, read_iso_span(until).end if until else now


def digest(
    memory: Holdfast, bank: str | None, since: str, until: str, shown: int = _MAX_ITEMS
) -> PeriodDigest:
    """Collect the records of a period, at most `shown` a section."""
    id = memory.context.bank_id(bank)
    banks = [one.id for one in memory.reader.banks.all() if id in (None, one.id)]
    periods = [BankPeriod(memory, one, since, until) for one in banks]
    sections: list[Section] = []
    listed: set[tuple[str, str]] = set()
    for name, finders in _SECTIONS.items():
        found: dict[tuple[str, str], Item] = {}
        for period in periods:
            for find in finders:
                for item in find(period):
                    found.setdefault((period.bank, item.text.lower()), item)
        # A fact and the sentence that it comes from have the same text, which is listed once. What
        # was wrong is always listed, though an earlier section may show its correction.
        new = [item for key, item in found.items() if name == _WRONG or key not in listed]
        listed |= found.keys()
        latest = sorted(new, key=lambda item: item.time, reverse=True)
        sections.append(Section(name, tuple(latest[:shown]), max(0, len(latest) - shown)))
    injected = memory.inventory.injections(bank, _MAX_INJECTIONS)
    uses = Counter(one.use for one in injected if since <= one.time < until and one.arrived)
    return PeriodDigest(
        memory.context.bank_name(id),
        since,
        until,
        sum(len(period.sessions) for period in periods),
        tuple(sections),
        uses[InjectionUse.IGNORED],
    )


def _done(period: BankPeriod) -> Iterator[Item]:
    ended = period.ended
    for session, found in period.sessions:
        text = session.title or found.request
        done = [
            one
            for one in found.completed
            if not ended.find(one, found.started, session.id, WHOLE_SESSION)
        ]
        note = "; ".join(truncate(one, _MAX_NOTE) for one in done[:2])
        for one in ended.find(text, found.started, session.id, WHOLE_SESSION)[:1]:
            note = f"no longer valid: {one.label}"
        yield period.item(found.ended, text, uri("digest", found.id), note)


def _decided(period: BankPeriod) -> Iterator[Item]:
    yield from _claimed(period, (ClaimKind.RULING, ClaimKind.DECISION))


def _found_out(period: BankPeriod) -> Iterator[Item]:
    yield from _claimed(period, (ClaimKind.FINDING, ClaimKind.SOLUTION))


def _claimed(period: BankPeriod, kinds: tuple[ClaimKind, ...]) -> Iterator[Item]:
    """Sentences of the period that still hold."""
    for one, status, _ in period.claims:
        if one.kind in kinds and period.has(one.time) and status not in ENDED_STATUSES:
            note = _note(one.kind.value, one.trust)
            yield period.item(one.time, one.text, uri("turn", one.turn), note)


def _disproved(period: BankPeriod) -> Iterator[Item]:
    """Sentences that were superseded or disproved in the period."""
    for one, status, time in period.claims:
        if status in ENDED_STATUSES and period.has(time):
            note = f"{one.kind.value}, {status.value}"
            yield period.item(time, one.text, uri("turn", one.turn), note)


def _left_open(period: BankPeriod) -> Iterator[Item]:
    """Next steps of the sessions of the period, and tasks that agents named in it; not what was
    done since."""
    ended = period.ended
    for one in open_tasks(period.memory.reader, period.bank, ended):
        if period.has(one.memory.when):
            yield period.item(one.memory.when, one.text, uri("memory", one.memory.id), "task")
    names = session_names(
        period.memory.reader, period.bank, [session.id for session, _ in period.sessions]
    )
    for session, found in period.sessions:
        for step in found.next_steps:
            if not ended.find(step, session.started, session.id, WHOLE_SESSION):
                text = names.get(session.id) or "a session"
                note = f"next step of {truncate(text, _MAX_NOTE)}"
                words = without_open_label(step)
                yield period.item(session.ended, words, uri("session", session.id), note)


def _taught(period: BankPeriod) -> Iterator[Item]:
    """What people asked to remember, or approved as a rule. A rule that was only proposed waits."""
    reader = period.memory.reader
    for memory in reader.memories.remembered(period.bank, _MAX_RECORDS):
        if memory.lays_down and period.has(memory.when) and period.holds(memory):
            name = uri("memory", memory.id)
            yield period.item(memory.when, memory.what, name, Action.REMEMBER.value)
    for one in in_effect(reader.curation.log(period.bank)):
        is_approved = one.action is Action.APPROVE and one.text
        if is_approved and period.has(one.time) and period.is_shown(one.target):
            yield period.item(one.time, one.text, _target(one.target), one.action.value)


def _facts(period: BankPeriod) -> Iterator[Item]:
    for fact in period.memory.browse.facts(period.bank):
        time = fact.validity.learned or fact.validity.since
        if period.has(time):
            yield _fact(period, fact, time, fact.kind.value)


def _opinions(period: BankPeriod) -> Iterator[Item]:
    """Opinions formed in the period and not retracted since. One that was formed while old sessions
    were read counts at the time of its latest evidence."""
    for one in period.memory.reader.opinions.all(period.bank):
        time = min(filter(None, (one.formed, one.latest)), default="")
        if one.status is not Status.RETRACTED and period.has(time):
            yield period.item(time, one.what, uri("memory", one.id), "opinion")


def _corrected(period: BankPeriod) -> Iterator[Item]:
    ended = period.ended
    words = {Action.CORRECT: "corrected", Action.FORGET: "forgotten", Action.MERGE: "merged"}
    for one in not_restored(in_effect(period.memory.reader.curation.log(period.bank))):
        about_record = not is_bank_merge(one) and one.who != RETENTION_AUTHOR
        if one.action in words and period.has(one.time) and about_record:
            word = words[one.action]
            visible = one.action is Action.CORRECT and period.is_shown(one.target)
            visible = visible and not ended.find(one.text, one.time)
            text = one.text if visible else f"a record was {word}"
            yield period.item(one.time, text, _target(one.target), word)


def _ended(period: BankPeriod) -> Iterator[Item]:
    """Facts that stopped being true, and those that were contradicted."""
    for fact in period.memory.browse.facts(period.bank, all=True):
        if fact.validity.until and period.has(fact.validity.until):
            yield _fact(period, fact, fact.validity.until, "no longer valid")
    for review in period.memory.reader.facts.reviews(period.bank):
        if period.has(review.opened):
            yield period.item(review.opened, review.reason, review.target, "contradicted")


def _refused(period: BankPeriod) -> Iterator[Item]:
    for one in period.memory.reader.rules.refusals(period.bank):
        if period.has(one.time) and period.is_shown(one.target):
            why = f"rejected: {truncate(one.why, _MAX_NOTE)}" if one.why else "rejected"
            yield period.item(one.time, one.text, _target(one.target), why)


def _contradicted(period: BankPeriod) -> Iterator[Item]:
    """Injected context that the user of the session contradicted."""
    for one in period.memory.inventory.injections(period.bank, _MAX_RECORDS):
        if one.use is InjectionUse.CONTRADICTED and one.arrived and period.has(one.time):
            text = f"injected, and contradicted in the session: {one.because or 'no quote'}"
            yield period.item(one.time, text, next(iter(one.records), ""), "injected")


def _fact(period: BankPeriod, fact: Fact, time: str, note: str) -> Item:
    return period.item(time, fact.content, uri("fact", fact.id), _note(note, fact.trust))


def _note(note: str, trust: Trust) -> str:
    """A note that also says where a text comes from, if not from the people and agents of the
    session."""
    foreign = trust in (Trust.EXTERNAL, Trust.IMPORT, Trust.TOOL)
    return f"{note}, from {trust.value} text" if foreign else note


def _target(text: str) -> str:
    return text if "://" in text else ""


_SECTIONS: dict[str, tuple[Finder, ...]] = {
    "done": (_done,),
    "decided": (_decided, _taught),
    "learned": (_facts, _found_out, _opinions),
    "open": (_left_open,),
    _WRONG: (_corrected, _ended, _disproved, _refused, _contradicted),
}
TITLES = {
    "done": "What was done",
    "decided": "What was decided",
    "learned": "What was learned",
    "open": "What is open",
    _WRONG: "What memory got wrong",
}
EMPTY_TEXT = {
    "done": "No session ended in this time.",
    "decided": "No sentence is clearly a decision; there may be some in other words.",
    "learned": "No new facts or opinions.",
    "open": "No known open tasks.",
    _WRONG: "Nothing was corrected, contradicted or rejected. Unnoticed mistakes are possible.",
}


# What Markdown would change within a line: emphasis, code, links, HTML and its entities, and number
# signs that would close a heading.
_MARKS = regex(r"([\\`*_~\[\]<>]|&(?=#?\w+;)|(?<!\S)#(?=#*$))")


def as_markdown(digest: PeriodDigest) -> str:
    """The digest as Markdown. Text from memory is escaped, so that it cannot become markup."""
    period = f"{digest.since[:10]} to {digest.until[:10]}"
    lines = [f"# {period}, {_escape(describe_bank(digest.bank))}", ""]
    for section in digest.sections:
        lines += [f"## {TITLES[section.name]}", ""]
        lines += [_line(item) for item in section.items] or [EMPTY_TEXT[section.name]]
        lines += [f"- and {section.more} more"] * bool(section.more)
        lines.append("")
    if digest.ignored:
        lines += [f"{digest.ignored} injected texts left no trace.", ""]
    return "\n".join(lines)


def _line(item: Item) -> str:
    note = f" ({_escape(item.note)})" if item.note else ""
    cited = f" `{item.uri}`" if item.uri else ""
    return f"- {item.time[:10]} {_escape(item.text)}{note}{cited}"


def _escape(text: str) -> str:
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def digest_json(digest: PeriodDigest) -> dict[str, Any]:
    """The digest as JSON."""
    sections = {
        section.name: {"items": to_jsonable(section.items), "more": section.more}
        for section in digest.sections
    }
    return {
        "bank": digest.bank,
        "since": digest.since,
        "until": digest.until,
        "sessions": digest.sessions,
        **sections,
        "ignored_injections": digest.ignored,
    }
