"""A digest of a period, for `holdfast digest`: what was done, decided and learned in it, and what
the memory got wrong. Every line cites the record it comes from; no model is asked. The text of
forgotten records is not shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.app.status.usage_report import days_before
from holdfast.language import truncate
from holdfast.learn.decision_state import RETENTION_AUTHOR, in_effect
from holdfast.model.curation import Action
from holdfast.model.knowledge import ClaimKind, Fact
from holdfast.model.ledgers.injections import InjectionUse
from holdfast.model.trust import ENDED_STATUSES, Status, Trust
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.query.iso_dates import read_iso_span

# The default period, in days.
WEEK = 7
# Bounds the queries for sessions and contradicted injections of a bank; in a longer period the
# oldest would be missing.
_MAX_RECORDS = 1000
_MAX_INJECTIONS = 100_000
# Lines of a section, and characters of a line and of a note, to keep a digest to a screen or two.
_MAX_ITEMS = 15
_MAX_TEXT = 200
_MAX_NOTE = 80
_TAUGHT = (Action.REMEMBER, Action.TEACH, Action.APPROVE)
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


# Finds the items of a bank between two times: (memory, bank, since, until).
Finder = Callable[[Holdfast, str, str, str], Iterator[Item]]


def read_period(now: str, days: int, since: str, until: str) -> tuple[str, str]:
    """The period that is meant: some days up to now, or from one date to the end of another."""
    if not since:
        return days_before(now, days), now
    return read_iso_span(since).first, read_iso_span(until).end if until else now


def digest(
    memory: Holdfast, bank: str | None, since: str, until: str, shown: int = _MAX_ITEMS
) -> PeriodDigest:
    """Collect the records of a period, at most `shown` a section."""
    id = memory.context.bank_id(bank)
    banks = [one.id for one in memory.reader.banks() if id in (None, one.id)]
    sections: list[Section] = []
    listed: set[tuple[str, str]] = set()
    for name, finders in _SECTIONS.items():
        found: dict[tuple[str, str], Item] = {}
        for one in banks:
            for find in finders:
                for item in find(memory, one, since, until):
                    found.setdefault((one, item.text.lower()), item)
        # A fact and the sentence that it comes from have the same text, which is listed once. What
        # was wrong is always listed, though an earlier section may show its correction.
        new = [item for key, item in found.items() if name == _WRONG or key not in listed]
        listed |= found.keys()
        latest = sorted(new, key=lambda item: item.time, reverse=True)
        sections.append(Section(name, tuple(latest[:shown]), max(0, len(latest) - shown)))
    injected = [
        i for i in memory.inventory.injections(bank, _MAX_INJECTIONS) if since <= i.time < until
    ]
    uses = Counter(one.use for one in injected if one.arrived)
    return PeriodDigest(
        memory.context.bank_name(id),
        since,
        until,
        sum(1 for one in banks for _ in _done(memory, one, since, until)),
        tuple(sections),
        uses[InjectionUse.IGNORED],
    )


def _done(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    """Sessions that ended in the period; those of subagents are part of their parents."""
    for session in memory.reader.sessions(bank, _MAX_RECORDS):
        if session.parent or not since <= session.ended < until:
            continue
        found = memory.reader.digest_of(bank, session.id)
        if found is not None:
            text = session.title or found.request
            note = "; ".join(truncate(one, _MAX_NOTE) for one in found.completed[:2])
            name = memory.context.bank_name(bank)
            yield Item(found.ended, name, _short(text), uri("digest", found.id), note)


def _decided(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    yield from _claimed(memory, bank, since, until, (ClaimKind.RULING, ClaimKind.DECISION))


def _found_out(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    yield from _claimed(memory, bank, since, until, (ClaimKind.FINDING, ClaimKind.SOLUTION))


def _claimed(
    memory: Holdfast, bank: str, since: str, until: str, kinds: tuple[ClaimKind, ...]
) -> Iterator[Item]:
    """Sentences of the period that still hold."""
    name = memory.context.bank_name(bank)
    for one in memory.reader.claims(bank):
        if one.kind in kinds and since <= one.time < until and one.status not in ENDED_STATUSES:
            note = ", ".join(filter(None, (one.kind.value, _origin(one.trust))))
            yield Item(one.time, name, _short(one.text), uri("turn", one.turn), note)


def _disproved(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    """Sentences that were superseded or disproved in the period."""
    name = memory.context.bank_name(bank)
    for one in memory.reader.claims(bank):
        if one.status in ENDED_STATUSES and since <= (one.changed or one.time) < until:
            note = f"{one.kind.value}, {one.status.value}"
            yield Item(one.changed or one.time, name, _short(one.text), uri("turn", one.turn), note)


def _taught(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    """What people asked to remember, or taught and approved as a rule."""
    for one in in_effect(memory.reader.curations(bank)):
        if one.action in _TAUGHT and since <= one.time < until and one.text:
            if not _is_shown(memory, bank, one.target):
                continue
            name = memory.context.bank_name(bank)
            yield Item(one.time, name, _short(one.text), _target(one.target), one.action.value)


def _facts(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    for fact in memory.browse.facts(bank):
        time = fact.validity.learned or fact.validity.since
        if since <= time < until:
            yield _fact(memory, fact, time, fact.kind.value)


def _opinions(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    """Opinions formed in the period and not retracted since. One that was formed while old sessions
    were read counts at the time of its latest evidence."""
    for one in memory.reader.opinions(bank):
        time = min(filter(None, (one.formed, one.latest)), default="")
        if one.status is not Status.RETRACTED and since <= time < until:
            name = memory.context.bank_name(bank)
            yield Item(time, name, _short(one.what), uri("memory", one.id), "opinion")


def _corrected(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    words = {Action.CORRECT: "corrected", Action.FORGET: "forgotten", Action.MERGE: "merged"}
    for one in in_effect(memory.reader.curations(bank)):
        if one.action in words and since <= one.time < until and one.who != RETENTION_AUTHOR:
            visible = one.action is Action.CORRECT and _is_shown(memory, bank, one.target)
            text = one.text if visible else f"a record was {words[one.action]}"
            name = memory.context.bank_name(bank)
            yield Item(one.time, name, _short(text), _target(one.target), words[one.action])


def _ended(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    """Facts that stopped being true, and those that were contradicted."""
    for fact in memory.browse.facts(bank, all=True):
        if fact.validity.until and since <= fact.validity.until < until:
            yield _fact(memory, fact, fact.validity.until, "no longer so")
    for review in memory.reader.reviews(bank):
        if since <= review.opened < until:
            name = memory.context.bank_name(bank)
            yield Item(review.opened, name, _short(review.reason), review.target, "contradicted")


def _refused(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    for one in memory.reader.refusals(bank):
        if since <= one.time < until and _is_shown(memory, bank, one.target):
            why = f"turned down: {truncate(one.why, _MAX_NOTE)}" if one.why else "turned down"
            name = memory.context.bank_name(bank)
            yield Item(one.time, name, _short(one.text), _target(one.target), why)


def _contradicted(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    """Injected context that the user of the session contradicted."""
    for one in memory.inventory.injections(bank, _MAX_RECORDS):
        if one.use is InjectionUse.CONTRADICTED and one.arrived and since <= one.time < until:
            text = f"told to a session, and contradicted there: {one.because or 'no words kept'}"
            cited = next(iter(one.records), "")
            yield Item(one.time, memory.context.bank_name(bank), _short(text), cited, "injected")


def _fact(memory: Holdfast, fact: Fact, time: str, note: str) -> Item:
    return Item(
        time,
        memory.context.bank_name(fact.bank),
        _short(fact.content),
        uri("fact", fact.id),
        ", ".join(filter(None, (note, _origin(fact.trust)))),
    )


def _origin(trust: Trust) -> str:
    """Where a text comes from, if not from the people and agents of the session."""
    foreign = (Trust.EXTERNAL, Trust.IMPORT, Trust.TOOL)
    return f"from {trust.value} text" if trust in foreign else ""


def _is_shown(memory: Holdfast, bank: str, target: str) -> bool:
    """Whether the text of a decision may be shown: not if its target was forgotten since."""
    parsed = parse_uri(target)
    return parsed is None or not memory.reader.find_hidden(bank, parsed.kind, parsed.id, 1)


def _target(text: str) -> str:
    return text if "://" in text else ""


def _short(text: str) -> str:
    return truncate(" ".join(text.split()), _MAX_TEXT)


_SECTIONS: dict[str, tuple[Finder, ...]] = {
    "done": (_done,),
    "decided": (_decided, _taught),
    "learned": (_facts, _found_out, _opinions),
    _WRONG: (_corrected, _ended, _disproved, _refused, _contradicted),
}
TITLES = {
    "done": "What was done",
    "decided": "What was decided",
    "learned": "What was learned",
    _WRONG: "What memory got wrong",
}
EMPTY_TEXT = {
    "done": "No session ended in this time.",
    "decided": "No sentence was plainly a decision. Sessions may hold some in other words.",
    "learned": "No fact or opinion was formed.",
    _WRONG: "Nothing was corrected, contradicted or turned down. More may be wrong than was said.",
}


def as_markdown(digest: PeriodDigest) -> str:
    """The digest as Markdown. Text from memory is escaped, so that it cannot become markup."""
    lines = [f"# {_period(digest)}, bank {_escape(digest.bank)}", ""]
    for section in digest.sections:
        lines += [f"## {TITLES[section.name]}", ""]
        lines += [_line(item) for item in section.items] or [EMPTY_TEXT[section.name]]
        lines += [f"- and {section.more} more"] * bool(section.more)
        lines.append("")
    if digest.ignored:
        lines += [f"{digest.ignored} texts that sessions were told left no trace in them.", ""]
    return "\n".join(lines)


def _period(digest: PeriodDigest) -> str:
    return f"{digest.since[:10]} to {digest.until[:10]}"


def _line(item: Item) -> str:
    note = f" ({_escape(item.note)})" if item.note else ""
    cited = f" `{item.uri}`" if item.uri else ""
    return f"- {item.time[:10]} {_escape(item.text)}{note}{cited}"


def _escape(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_[]<>#|" else c for c in text)


def digest_json(digest: PeriodDigest) -> dict[str, Any]:
    """The digest as JSON."""
    return {
        "bank": digest.bank,
        "since": digest.since,
        "until": digest.until,
        "sessions": digest.sessions,
        **{
            section.name: {
                "items": [item._asdict() for item in section.items],
                "more": section.more,
            }
            for section in digest.sections
        },
        "ignored_injections": digest.ignored,
    }
