"""What is known, laid out by kind for somebody who looks through it: rules, facts, concepts,
opinions, memories, patterns, and what others share; and apart from them what was put away, and
the log of decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.app.views.decision_log import all_entries
from holdfast.learn.decision_state import in_effect, undoable
from holdfast.model.curation import Action, Curation
from holdfast.model.imports import ImportedRecord
from holdfast.model.knowledge import Concept, Fact, Memory, Pattern, Rule
from holdfast.model.opinions import Opinion
from holdfast.model.team import SharedRecord
from holdfast.model.trust import ENDED_STATUSES, Status, Trust
from holdfast.model.uris import SCHEME, parse_uri, uri
from holdfast.recall.lookup.path import describe_record
from holdfast.store.protocol import Store

PAGE = 40
CURRENT, ANY = "current", "any"
# The word in the URIs of what lies on each shelf.
WORDS: Mapping[str, str] = {
    "rules": "rule",
    "facts": "fact",
    "concepts": "concept",
    "opinions": "memory",
    "memories": "memory",
    "patterns": "pattern",
    "shared": "shared",
    "imported": "imported",
}
_MOST = 20_000


class Wanted(NamedTuple):
    """What is looked for: on which shelf, of which bank (a name or an id), in which status, with
    which words; of rules those of one `file`, named by its domain. Pages count from 1."""

    shelf: str
    bank: str = ""
    status: str = CURRENT
    words: str = ""
    file: str = ""
    page: int = 1


class Item(NamedTuple):
    """One record on a shelf, in the form that all of them have. `since` and `until` are when it
    held, `notes` what else is to be told of its kind."""

    bank: str
    word: str
    id: str
    text: str
    title: str = ""
    kind: str = ""
    time: str = ""
    status: str = ""
    confidence: float | None = None
    trend: str = ""
    since: str = ""
    until: str = ""
    trust: Trust = Trust.EXTERNAL
    speaks_for: int = 0
    against: int = 0
    notes: tuple[str, ...] = ()

    @property
    def uri(self) -> str:
        """Its name."""
        return uri(self.word, self.id)

    @property
    def ended(self) -> bool:
        """Whether it does not hold any more."""
        return self.status in [status.value for status in ENDED_STATUSES]


class Shelf(NamedTuple):
    """A page of a shelf; `more` if another follows."""

    items: tuple[Item, ...]
    more: bool = False


class Away(NamedTuple):
    """A record that is not shown: what it says, where that is still known, who put it away and
    when, and what it went into, if it was merged."""

    bank: str
    word: str
    id: str
    text: str
    time: str
    who: str
    into: str = ""

    @property
    def uri(self) -> str:
        """Its name."""
        return uri(self.word, self.id)


class Decided(NamedTuple):
    """An entry of the log, with what the record says that it is about, if that is shown; `undone`
    if it was taken back, `latest` if it is the one that an undo takes back; by which way it came,
    and what was before and after it."""

    entry: Curation
    title: str = ""
    undone: bool = False
    latest: bool = False
    channel: str = ""
    before: str = ""
    after: str = ""


def shelf(memory: Holdfast, wanted: Wanted) -> Shelf:
    """The records of a shelf that are wanted."""
    banks = _banks(memory, wanted.bank)
    first = max(wanted.page - 1, 0) * PAGE
    limit = 2 * (first + PAGE)
    while True:
        found = _SHELVES[wanted.shelf](memory, banks, limit)
        passing = [item for item in found if _passes(item, wanted)]
        if len(passing) > first + PAGE or len(found) < limit or limit >= _MOST:
            return Shelf(tuple(passing[first : first + PAGE]), len(passing) > first + PAGE)
        limit *= 8


def _banks(memory: Holdfast, name: str) -> list[str]:
    id = memory.context.bank_id(name or ALL_BANKS)
    return [bank.id for bank in memory.reader.banks()] if id is None else [id]


def _passes(item: Item, wanted: Wanted) -> bool:
    if wanted.file and item.kind != wanted.file:
        return False
    if wanted.status == CURRENT and item.ended:
        return False
    if wanted.status not in (CURRENT, ANY, "") and item.status != wanted.status:
        return False
    said = f"{item.title} {item.text} {item.id}".lower()
    return all(word in said for word in wanted.words.lower().split())


def _rules(memory: Holdfast, banks: Sequence[str], limit: int) -> list[Item]:
    return [item_of(rule) for bank in banks for rule in memory.reader.rules(bank)]


def _facts(memory: Holdfast, banks: Sequence[str], limit: int) -> list[Item]:
    found = [item_of(fact) for bank in banks for fact in memory.reader.facts(bank)]
    return _latest(found)


def _concepts(memory: Holdfast, banks: Sequence[str], limit: int) -> list[Item]:
    found = [item_of(one) for bank in banks for one in memory.reader.concepts(bank, limit)]
    return _latest(found)


def _opinions(memory: Holdfast, banks: Sequence[str], limit: int) -> list[Item]:
    return [opinion_item(one) for bank in banks for one in memory.opinions.opinions(bank, all=True)]


def _memories(memory: Holdfast, banks: Sequence[str], limit: int) -> list[Item]:
    found = [
        item_of(one)
        for bank in banks
        for one in (
            *memory.reader.remembered(bank, limit),
            *memory.reader.retained(bank, limit=limit),
        )
    ]
    return _latest(found)


def _patterns(memory: Holdfast, banks: Sequence[str], limit: int) -> list[Item]:
    found = [item_of(one) for bank in banks for one in memory.reader.patterns(bank)]
    return sorted(found, key=lambda item: -(item.confidence or 0))


def _shared(memory: Holdfast, banks: Sequence[str], limit: int) -> list[Item]:
    return _latest([item_of(one) for bank in banks for one in memory.reader.shared(bank)])


def _imported(memory: Holdfast, banks: Sequence[str], limit: int) -> list[Item]:
    return _latest([item_of(one) for bank in banks for one in memory.reader.imported(bank)])


_SHELVES: Mapping[str, Callable[[Holdfast, Sequence[str], int], list[Item]]] = {
    "rules": _rules,
    "facts": _facts,
    "concepts": _concepts,
    "opinions": _opinions,
    "memories": _memories,
    "patterns": _patterns,
    "shared": _shared,
    "imported": _imported,
}


def _latest(items: list[Item]) -> list[Item]:
    return sorted(items, key=lambda item: item.time, reverse=True)


def item_of(
    record: Rule | Fact | Concept | Memory | Pattern | SharedRecord | ImportedRecord,
) -> Item:
    """A record in the form that all have on a shelf."""
    match record:
        case Fact():
            return _fact_item(record)
        case Memory():
            return _memory_item(record)
        case Rule():
            return Item(
                record.bank, "rule", record.id, record.text, f"{record.path} · {record.heading}",
                record.domain, record.updated, trust=record.trust,
                notes=(f"for {', '.join(record.paths)}",) if record.paths else (),
            )  # fmt: skip
        case Concept():
            return Item(
                record.bank, "concept", record.id, record.summary, record.name, "",
                record.updated, since=record.founded, trust=record.trust,
                speaks_for=len(record.members),
            )  # fmt: skip
        case Pattern():
            often = f"stated {record.occurrences} time{'s' if record.occurrences != 1 else ''}"
            by = f"by {', '.join(record.authors)}" if record.authors else ""
            return Item(
                record.bank, "pattern", record.id, record.content, "", record.domain,
                record.last, confidence=record.confidence, trust=record.trust,
                speaks_for=len(record.evidence), against=len(record.against),
                notes=tuple(filter(None, (often, by))),
            )  # fmt: skip
        case ImportedRecord():
            return Item(
                record.bank, "imported", record.id, record.text, record.title, record.kind,
                record.time, trust=record.trust, notes=(f"from {record.origin}",),
            )  # fmt: skip
        case SharedRecord():
            return Item(
                record.bank, "shared", record.id, record.text, "", record.kind, record.time,
                trust=record.trust,
                notes=(f"from {record.author}", *filter(None, (record.note,))),
            )  # fmt: skip


def _fact_item(fact: Fact) -> Item:
    tries = (f"{fact.attempts} attempts",) if fact.attempts else ()
    return Item(
        fact.bank, "fact", fact.id, fact.content, fact.problem, fact.kind.value,
        fact.validity.learned, fact.status.value, fact.confidence, "",
        fact.validity.since or fact.validity.learned, fact.validity.until, fact.trust,
        len(fact.evidence), len(fact.against), tries,
    )  # fmt: skip


def _memory_item(memory: Memory) -> Item:
    # Of what was retained, `who` are those involved; of what was given, who gave it.
    notes = [f"{'on' if memory.evidence_for else 'by'} {memory.who}"] if memory.who else []
    notes += [f"met in {memory.seen} sessions"] if memory.seen > 1 else []
    given_by_agent = memory.by_agent and not memory.evidence_for
    notes += ["said by an agent, not by a person"] if given_by_agent else []
    return Item(
        memory.bank, "memory", memory.id, memory.what, "", memory.network.value, memory.when,
        memory.status.value, memory.confidence, "", memory.validity.since or memory.when,
        memory.validity.until, memory.trust, len(memory.evidence_for),
        len(memory.evidence_against), tuple(notes),
    )  # fmt: skip


def opinion_item(opinion: Opinion) -> Item:
    """An opinion in the same form; it is known as a memory."""
    o = opinion
    notes = [f"in {o.sessions} session{'s' * (o.sessions != 1)}"]
    notes += [f"in tension since {o.tension[:10]}"] if o.tension else []
    notes += [f"formed by {o.author}"] if o.author else []
    until = o.updated if o.status is Status.RETRACTED else ""
    return Item(
        o.bank, "memory", o.id, o.what, "", "opinion", o.updated, o.status.value, o.confidence,
        o.trend.value, o.formed, until, o.trust, len(o.evidence_for), len(o.evidence_against),
        tuple(notes),
    )  # fmt: skip


def put_away(memory: Holdfast, store: Store, wanted: Wanted) -> tuple[list[Away], bool]:
    """What was forgotten or merged and can come back, the latest first; whether there is more."""
    found = [one for bank in _banks(memory, wanted.bank) for one in _away(store, bank)]
    words = wanted.words.lower().split()
    if words:
        found = [one._replace(text=_said(store, one)) for one in found]
        found = [one for one in found if all(w in f"{one.text} {one.uri}".lower() for w in words)]
    found.sort(key=lambda one: one.time, reverse=True)
    first = max(wanted.page - 1, 0) * PAGE
    page = found[first : first + PAGE]
    return [one._replace(text=_said(store, one)) for one in page], len(found) > first + PAGE


def _away(store: Store, bank: str) -> Iterator[Away]:
    last: dict[str, Curation] = {}
    for entry in in_effect(store.curations(bank)):
        if entry.action in (Action.FORGET, Action.MERGE, Action.PURGE, Action.RESTORE):
            last[entry.target] = entry
    for target, entry in last.items():
        named = parse_uri(target)
        if named is None or entry.action not in (Action.FORGET, Action.MERGE):
            continue
        known = store.curation_state(bank, named.kind, named.id)
        if known is not None and known.is_hidden:
            text = known.text or known.was
            yield Away(bank, named.kind, named.id, text, entry.time, entry.who, known.into)


def _said(store: Store, one: Away) -> str:
    """What a record says that is not shown, as far as anybody still knows."""
    if one.text:
        return one.text
    match one.word:
        case "memory":
            given = {m.id: m.what for m in store.all_remembered(one.bank)}
            formed = {o.id: o.what for o in store.all_opinions(one.bank)}
            return given.get(one.id) or formed.get(one.id, "")
        case "turn":
            turn = store.turn(one.bank, one.id)
            return turn.text if turn else ""
        case "commit":
            commit = store.commit(one.bank, one.id)
            return commit.subject if commit else ""
        case "session":
            turns = store.all_turns(one.bank, one.id)
            return next((turn.text for turn in turns if turn.text), "")
        case _:
            return ""


def decisions(memory: Holdfast, wanted: Wanted) -> tuple[list[Decided], bool]:
    """The log, the latest first, page by page; whether there is more."""
    told_all = all_entries(memory.reader, _banks(memory, wanted.bank))
    log = [one.curation for one in told_all]
    undone = {entry.target for entry in log if entry.action is Action.UNDO}
    latest = max((entry.seq for entry in undoable(log)), default=0)
    words = wanted.words.lower().split()
    told = [
        Decided(entry, "", str(entry.seq) in undone, entry.seq == latest, channel, before, after)
        for entry, channel, before, after in told_all
        if all(w in f"{entry.action} {entry.target} {entry.text}".lower() for w in words)
    ]
    first = max(wanted.page - 1, 0) * PAGE
    page = told[first : first + PAGE]
    return [d._replace(title=_title(memory, d.entry)) for d in page], len(told) > first + PAGE


def _title(memory: Holdfast, entry: Curation) -> str:
    named = parse_uri(entry.target) if entry.target.startswith(SCHEME) else None
    if named is not None and named.kind == "bank":
        return f"the bank {memory.context.bank_name(named.id)}"
    found = memory.reader.find(entry.bank, named.kind, named.id, 1) if named else []
    return next((describe_record(record)[0] for record in found), "")
