"""What a stretch of time came to, on request: what was done, decided and learned, and what the
memory got wrong in it. Every line names the record it comes from; nothing is made up, and of what
was forgotten only the name is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.app.status.usage_report import days_before
from holdfast.language import truncate
from holdfast.learn.decision_state import RETENTION_AUTHOR, in_effect
from holdfast.model.curation import Action
from holdfast.model.injections import InjectionUse
from holdfast.model.knowledge import ClaimKind, Fact
from holdfast.model.trust import ENDED_STATUSES, Status, Trust
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.query.iso_dates import read_iso_span

WEEK = 7
_MOST = 1000
_SHOWN = 15
_TEXT = 200
_GIVEN = (Action.REMEMBER, Action.TEACH, Action.APPROVE)
_WRONG = "wrong"


class Item(NamedTuple):
    """A line of a digest: what, when, in which bank, and the record it comes from."""

    time: str
    bank: str
    text: str
    uri: str = ""
    note: str = ""


class Section(NamedTuple):
    """Some lines, the latest first, and how many more there are."""

    name: str
    items: tuple[Item, ...]
    more: int = 0


class PeriodDigest(NamedTuple):
    """All of it, from `since` up to, but without, `until`."""

    bank: str
    since: str
    until: str
    sessions: int
    sections: tuple[Section, ...]
    ignored: int = 0


Finder = Callable[[Holdfast, str, str, str], Iterator[Item]]


def read_period(now: str, days: int, since: str, until: str) -> tuple[str, str]:
    """The time that is meant: some days up to now, or from one date to the end of another."""
    if not since:
        return days_before(now, days), now
    return read_iso_span(since).first, read_iso_span(until).end if until else now


def digest(
    memory: Holdfast, bank: str | None, since: str, until: str, shown: int = _SHOWN
) -> PeriodDigest:
    """Look through the records of a time."""
    id = memory.context.bank_id(bank)
    banks = [one.id for one in memory.reader.banks() if id in (None, one.id)]
    sections: list[Section] = []
    told: set[tuple[str, str]] = set()
    for name, finders in _SECTIONS.items():
        found: dict[tuple[str, str], Item] = {}
        for one in banks:
            for find in finders:
                for item in find(memory, one, since, until):
                    found.setdefault((one, item.text.lower()), item)
        # A fact and the sentence that it grew from say the same: once is enough. What was wrong is
        # told in any case, though what it was put right with is known by now.
        new = [item for key, item in found.items() if name == _WRONG or key not in told]
        told |= found.keys()
        latest = sorted(new, key=lambda item: item.time, reverse=True)
        sections.append(Section(name, tuple(latest[:shown]), max(0, len(latest) - shown)))
    injected = [i for i in memory.inventory.injections(bank, 100_000) if since <= i.time < until]
    fates = Counter(one.use for one in injected if one.arrived)
    return PeriodDigest(
        memory.context.bank_name(id),
        since,
        until,
        sum(1 for one in banks for _ in _done(memory, one, since, until)),
        tuple(sections),
        fates[InjectionUse.IGNORED],
    )


def _done(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    """Sessions that ended then, subagents' left out: their work is their parents'."""
    for session in memory.reader.sessions(bank, _MOST):
        if session.parent or not since <= session.ended < until:
            continue
        found = memory.reader.digest_of(bank, session.id)
        if found is not None:
            text = session.title or found.request
            note = "; ".join(truncate(one, 80) for one in found.completed[:2])
            name = memory.context.bank_name(bank)
            yield Item(found.ended, name, _short(text), uri("digest", found.id), note)


def _decided(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    yield from _claimed(memory, bank, since, until, (ClaimKind.RULING, ClaimKind.DECISION))


def _found_out(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    yield from _claimed(memory, bank, since, until, (ClaimKind.FINDING, ClaimKind.SOLUTION))


def _claimed(
    memory: Holdfast, bank: str, since: str, until: str, kinds: tuple[ClaimKind, ...]
) -> Iterator[Item]:
    """Sentences of that time which nothing has taken back."""
    name = memory.context.bank_name(bank)
    for one in memory.reader.claims(bank):
        if one.kind in kinds and since <= one.time < until and one.status not in ENDED_STATUSES:
            note = ", ".join(filter(None, (one.kind.value, _whose(one.trust))))
            yield Item(one.time, name, _short(one.text), uri("turn", one.turn), note)


def _disproved(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    """Sentences that turned out otherwise in that time."""
    name = memory.context.bank_name(bank)
    for one in memory.reader.claims(bank):
        if one.status in ENDED_STATUSES and since <= (one.changed or one.time) < until:
            note = f"{one.kind.value}, {one.status.value}"
            yield Item(one.changed or one.time, name, _short(one.text), uri("turn", one.turn), note)


def _said(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    """What people asked to keep, or let become a rule."""
    for one in in_effect(memory.reader.curations(bank)):
        if one.action in _GIVEN and since <= one.time < until and one.text:
            if not _is_shown(memory, bank, one.target):
                continue
            name = memory.context.bank_name(bank)
            yield Item(one.time, name, _short(one.text), _target(one.target), one.action.value)


def _facts(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    for fact in memory.browse.facts(bank):
        moment = fact.validity.learned or fact.validity.since
        if since <= moment < until:
            yield _fact(memory, fact, moment, fact.kind.value)


def _opinions(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    """What came to be believed then, unless it has faded since. One that was formed while old
    sessions were read is as old as what was said last."""
    for one in memory.reader.opinions(bank):
        moment = min(filter(None, (one.formed, one.latest)), default="")
        if one.status is not Status.RETRACTED and since <= moment < until:
            name = memory.context.bank_name(bank)
            yield Item(moment, name, _short(one.what), uri("memory", one.id), "opinion")


def _corrected(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    words = {Action.CORRECT: "corrected", Action.FORGET: "forgotten", Action.MERGE: "merged"}
    for one in in_effect(memory.reader.curations(bank)):
        if one.action in words and since <= one.time < until and one.who != RETENTION_AUTHOR:
            told = one.action is Action.CORRECT and _is_shown(memory, bank, one.target)
            text = one.text if told else f"a record was {words[one.action]}"
            name = memory.context.bank_name(bank)
            yield Item(one.time, name, _short(text), _target(one.target), words[one.action])


def _ended(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    """Facts that stopped being true, and those that something speaks against."""
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
            why = f"turned down: {truncate(one.why, 80)}" if one.why else "turned down"
            name = memory.context.bank_name(bank)
            yield Item(one.time, name, _short(one.text), _target(one.target), why)


def _contradicted(memory: Holdfast, bank: str, since: str, until: str) -> Iterator[Item]:
    """What a session was told and its user said was wrong."""
    for one in memory.inventory.injections(bank, _MOST):
        if one.use is InjectionUse.CONTRADICTED and one.arrived and since <= one.time < until:
            text = f"told to a session, and contradicted there: {one.because or 'no words kept'}"
            cited = next(iter(one.records), "")
            yield Item(one.time, memory.context.bank_name(bank), _short(text), cited, "injected")


def _fact(memory: Holdfast, fact: Fact, moment: str, note: str) -> Item:
    whose = _whose(fact.trust)
    told = f"{note}, {whose}" if whose else note
    return Item(
        moment,
        memory.context.bank_name(fact.bank),
        _short(fact.content),
        uri("fact", fact.id),
        told,
    )


def _whose(trust: Trust) -> str:
    """Where words came from, if not from those who were there."""
    outside = (Trust.EXTERNAL, Trust.IMPORT, Trust.TOOL)
    return f"from {trust.value} text" if trust in outside else ""


def _is_shown(memory: Holdfast, bank: str, target: str) -> bool:
    """Whether the words of a decision may be told: not if what it is about was forgotten since."""
    named = parse_uri(target)
    return named is None or not memory.reader.find_hidden(bank, named.kind, named.id, 1)


def _target(text: str) -> str:
    return text if "://" in text else ""


def _short(text: str) -> str:
    return truncate(" ".join(text.split()), _TEXT)


_SECTIONS: dict[str, tuple[Finder, ...]] = {
    "done": (_done,),
    "decided": (_decided, _said),
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


def as_markdown(told: PeriodDigest) -> str:
    """The digest as a page to keep or to send. Text from memory cannot become markup."""
    lines = [f"# {_span(told)}, bank {_plain(told.bank)}", ""]
    for section in told.sections:
        lines += [f"## {TITLES[section.name]}", ""]
        lines += [_line(item) for item in section.items] or [EMPTY_TEXT[section.name]]
        lines += [f"- and {section.more} more"] * bool(section.more)
        lines.append("")
    if told.ignored:
        lines += [f"{told.ignored} texts that sessions were told left no trace in them.", ""]
    return "\n".join(lines)


def _span(told: PeriodDigest) -> str:
    return f"{told.since[:10]} to {told.until[:10]}"


def _line(item: Item) -> str:
    note = f" ({_plain(item.note)})" if item.note else ""
    cited = f" `{item.uri}`" if item.uri else ""
    return f"- {item.time[:10]} {_plain(item.text)}{note}{cited}"


def _plain(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_[]<>#|" else c for c in text)


def digest_json(told: PeriodDigest) -> dict[str, Any]:
    """The same for programs."""
    sections: Iterable[Section] = told.sections
    return {
        "bank": told.bank,
        "since": told.since,
        "until": told.until,
        "sessions": told.sessions,
        **{
            section.name: {
                "items": [item._asdict() for item in section.items],
                "more": section.more,
            }
            for section in sections
        },
        "ignored_injections": told.ignored,
    }
