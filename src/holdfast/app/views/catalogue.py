"""The catalogue of a memory: pages of records by section (rules, facts, concepts, opinions,
memories, patterns, shared and imported records), of hidden records, and of the log of decisions.
One record with its evidence is in `record_view`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.app.views.decision_log import read_logs
from holdfast.learn.decision_state import independently_undoable
from holdfast.model.curation import Action, Curation, in_effect
from holdfast.model.imports import ImportedRecord
from holdfast.model.knowledge import Concept, EndedSentence, Fact, Memory, Pattern, Rule
from holdfast.model.opinions import Opinion
from holdfast.model.team import SharedRecord
from holdfast.model.trust import ENDED_STATUSES, Status, Trust
from holdfast.model.uris import SCHEME, parse_uri, uri
from holdfast.recall.core.ended_words import has_ended
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.recall.lookup.path import describe_record
from holdfast.store.protocol import Reader, Store

CatalogueRecord = Rule | Fact | Concept | Memory | Pattern | SharedRecord | ImportedRecord
_T = TypeVar("_T")
# Records on one page. A larger page needs less paging but takes longer to render.
PAGE_SIZE = 40
# Values of `CatalogueQuery.status` besides the statuses themselves: records that still hold, all.
CURRENT, ANY = "current", "any"
# The sections of the catalogue, each with the kind in the URIs of its records.
KIND_BY_SECTION: Mapping[str, str] = {
    "rules": "rule",
    "facts": "fact",
    "concepts": "concept",
    "opinions": "memory",
    "memories": "memory",
    "patterns": "pattern",
    "shared": "shared",
    "imported": "imported",
}


class _ScanLimits(NamedTuple):
    """How many records are read to fill a page, where a filter rejects some of them."""

    # The first read takes this many times what the page needs.
    first_factor: int = 2
    # Each further read takes this many times as many as the one before.
    growth: int = 8
    # Above this a page is returned with what was found, so that a filter that matches almost
    # nothing does not read a huge memory whole.
    max_records: int = 20_000


_SCAN = _ScanLimits()


class CatalogueQuery(NamedTuple):
    """Which records to list: a section, a bank (a name or an id; "" for all), a status, and words
    that must all occur. `file` is the domain of a rule file, `knowledge` the kind of what facts and
    memories say. Pages count from 1."""

    section: str
    bank: str = ""
    status: str = CURRENT
    words: str = ""
    file: str = ""
    page: int = 1
    knowledge: str = ""


class CatalogueItem(NamedTuple):
    """One record in the form that all kinds share. `word` is the kind in its URI and `kind` the
    kind of fact, network or domain; `knowledge` is the kind of what it says. `since` and `until`
    bound when it held; `speaks_for` and `against` count its evidence; `notes` are remarks that only
    its kind has."""

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
    knowledge: str = ""

    @property
    def uri(self) -> str:
        return uri(self.word, self.id)

    @property
    def ended(self) -> bool:
        """Whether it no longer holds."""
        return self.status in [status.value for status in ENDED_STATUSES]


class CataloguePage(NamedTuple):
    """One page of a section; `more` if another follows."""

    items: tuple[CatalogueItem, ...]
    more: bool = False


class HiddenRecord(NamedTuple):
    """A record that was forgotten or merged: its text ("" if unknown), who hid it and when, and
    the URI of the record it was merged into."""

    bank: str
    word: str
    id: str
    text: str
    time: str
    who: str
    into: str = ""

    @property
    def uri(self) -> str:
        return uri(self.word, self.id)


class LoggedDecision(NamedTuple):
    """An entry of the log with the title of its record ("" if that is hidden and was not forgotten
    here), the channel it came by, and the text before and after it. `undone` if it was undone,
    `can_undo` if it can be: nothing later depends on it."""

    entry: Curation
    title: str = ""
    undone: bool = False
    can_undo: bool = False
    channel: str = ""
    before: str = ""
    after: str = ""


def catalogue_page(memory: Holdfast, query: CatalogueQuery) -> CataloguePage:
    """One page of the records that match."""
    limit = _SCAN.first_factor * max(query.page, 1) * PAGE_SIZE
    while True:
        found = _list_section(memory, query.section, query.bank, limit, query.knowledge)
        items, more = _page([item for item in found if _matches(item, query)], query.page)
        if more or len(found) < limit or limit >= _SCAN.max_records:
            return CataloguePage(tuple(items), more)
        limit *= _SCAN.growth


def _page(items: Sequence[_T], page: int) -> tuple[Sequence[_T], bool]:
    """The items of a page, and whether another follows."""
    first = max(page - 1, 0) * PAGE_SIZE
    return items[first : first + PAGE_SIZE], len(items) > first + PAGE_SIZE


def current_items(memory: Holdfast, section: str, bank: str) -> list[CatalogueItem]:
    """Every record of a section that still holds, as far as a page could show it."""
    found = _list_section(memory, section, bank, _SCAN.max_records)
    return [item for item in found if not item.ended]


def _banks(memory: Holdfast, name: str) -> list[str]:
    return memory.context.bank_ids(name or ALL_BANKS)


def _matches(item: CatalogueItem, query: CatalogueQuery) -> bool:
    if query.file and item.kind != query.file:
        return False
    if query.status == CURRENT and item.ended:
        return False
    if query.status not in (CURRENT, ANY, "") and item.status != query.status:
        return False
    text = f"{item.title} {item.text} {item.id}".lower()
    return all(word in text for word in query.words.lower().split())


# Arguments: the bank, the most records to read, and the kind of what they say, "" for any.
_READ_SECTION: Mapping[str, Callable[[Reader, str, int, str], Iterable[CatalogueRecord]]] = {
    "rules": lambda reader, bank, limit, kind: reader.rules.all(bank),
    "facts": lambda reader, bank, limit, kind: [
        fact for fact in reader.facts.all(bank) if kind in ("", fact.kind.says)
    ],
    "concepts": lambda reader, bank, limit, kind: reader.concepts.latest(bank, limit),
    "memories": lambda reader, bank, limit, kind: (
        *(() if kind else reader.memories.remembered(bank, limit)),
        *reader.memories.retained(bank, limit=limit, kind=kind),
    ),
    "patterns": lambda reader, bank, limit, kind: reader.rules.patterns(bank),
    "shared": lambda reader, bank, limit, kind: reader.shares.all(bank),
    "imported": lambda reader, bank, limit, kind: reader.imports.all(bank),
}


def _list_section(
    memory: Holdfast, section: str, bank: str, limit: int, kind: str = ""
) -> list[CatalogueItem]:
    """The items of a section in their order: rules as in their files, opinions by how firm they
    are, patterns by confidence, the others the latest first."""
    banks = _banks(memory, bank)
    if section == "opinions":
        return [opinion_item(o) for id in banks for o in memory.opinions.opinions(id, all=True)]
    read = _READ_SECTION[section]
    endings = RecordEndings(memory.reader)
    found = [
        _with_ending(catalogue_item(one), endings.of(one))
        for id in banks
        for one in read(memory.reader, id, limit, kind)
    ]
    if section == "patterns":
        found.sort(key=lambda item: -(item.confidence or 0))
    elif section != "rules":
        found.sort(key=lambda item: item.time, reverse=True)
    return found


def _with_ending(item: CatalogueItem, ended: Sequence[EndedSentence]) -> CatalogueItem:
    """An item with a note on what of it does not hold any more, and its status if that is most."""
    if not ended or item.word == "fact":
        return item
    last = max(ended, key=lambda one: one.ended)
    status = last.reason.status.value if has_ended(item.text or item.title, ended) else item.status
    notes = (*item.notes, f"no longer valid: {last.label}")
    return item._replace(status=status, notes=notes)


def catalogue_item(record: CatalogueRecord) -> CatalogueItem:
    """A record as an item of the catalogue. Opinions have `opinion_item`."""
    match record:
        case Fact():
            return _fact_item(record)
        case Memory():
            return _memory_item(record)
        case Rule():
            return CatalogueItem(
                record.bank, "rule", record.id, record.text,
                " · ".join(filter(None, (record.path, record.heading))),
                record.domain, record.updated, trust=record.trust,
                notes=(f"for {', '.join(record.paths)}",) if record.paths else (),
            )  # fmt: skip
        case Concept():
            return CatalogueItem(
                record.bank, "concept", record.id, record.summary, record.name, "",
                record.updated, since=record.founded, trust=record.trust,
                speaks_for=len(record.members),
            )  # fmt: skip
        case Pattern():
            often = f"stated {record.occurrences} time{'s' if record.occurrences != 1 else ''}"
            by = f"by {', '.join(record.authors)}" if record.authors else ""
            return CatalogueItem(
                record.bank, "pattern", record.id, record.content, "", record.domain,
                record.last, confidence=record.confidence, trust=record.trust,
                speaks_for=len(record.evidence), against=len(record.against),
                notes=tuple(filter(None, (often, by))),
            )  # fmt: skip
        case ImportedRecord():
            return CatalogueItem(
                record.bank, "imported", record.id, record.text, record.title, record.kind,
                record.time, trust=record.trust, notes=(f"from {record.origin}",),
            )  # fmt: skip
        case SharedRecord():
            return CatalogueItem(
                record.bank, "shared", record.id, record.text, "", record.kind, record.time,
                trust=record.trust,
                notes=(f"from {record.author}", *filter(None, (record.note,))),
            )  # fmt: skip


def _fact_item(fact: Fact) -> CatalogueItem:
    tries = (f"{fact.attempts} attempts",) if fact.attempts else ()
    return CatalogueItem(
        fact.bank, "fact", fact.id, fact.content, fact.problem, fact.kind.value,
        fact.validity.learned, fact.status.value, fact.confidence, "",
        fact.validity.since or fact.validity.learned, fact.validity.until, fact.trust,
        len(fact.evidence), len(fact.against), tries, fact.kind.says.value,
    )  # fmt: skip


def _memory_item(memory: Memory) -> CatalogueItem:
    # `who` names the people involved if the memory was derived (it has evidence), else its author.
    notes = [f"{'on' if memory.evidence_for else 'by'} {memory.who}"] if memory.who else []
    notes += [f"met in {memory.seen} sessions"] if memory.seen > 1 else []
    is_from_agent = memory.by_agent and not memory.evidence_for
    notes += ["said by an agent, not by a person"] if is_from_agent else []
    return CatalogueItem(
        memory.bank, "memory", memory.id, memory.what, "", memory.network.value, memory.when,
        memory.status.value, memory.confidence, "", memory.validity.since or memory.when,
        memory.validity.until, memory.trust, len(memory.evidence_for),
        len(memory.evidence_against), tuple(notes), memory.kind.value if memory.kind else "",
    )  # fmt: skip


def opinion_item(opinion: Opinion) -> CatalogueItem:
    """An opinion as an item of the catalogue; its URI is that of a memory."""
    o = opinion
    notes = [f"in {o.sessions} sessions", f"formed by {o.author}"] if o.author else []
    until = o.updated if o.status is Status.RETRACTED else ""
    return CatalogueItem(
        o.bank, "memory", o.id, o.what, "", "opinion", o.updated, o.status.value, o.confidence,
        o.trend.value, o.formed, until, o.trust, len(o.evidence_for), len(o.evidence_against),
        tuple(notes),
    )  # fmt: skip


def hidden_records(memory: Holdfast, query: CatalogueQuery) -> tuple[list[HiddenRecord], bool]:
    """One page of the forgotten or merged records that can be restored, the latest first, and
    whether another follows."""
    store = memory.store
    found = [one for bank in _banks(memory, query.bank) for one in _hidden_in_bank(store, bank)]
    words = query.words.lower().split()
    if words:
        found = [one._replace(text=_hidden_text(store, one)) for one in found]
        found = [one for one in found if all(w in f"{one.text} {one.uri}".lower() for w in words)]
    found.sort(key=lambda one: one.time, reverse=True)
    page, more = _page(found, query.page)
    return [one._replace(text=_hidden_text(store, one)) for one in page], more


def _hidden_in_bank(store: Store, bank: str) -> Iterator[HiddenRecord]:
    last: dict[str, Curation] = {}
    for entry in in_effect(store.curation.log(bank)):
        if entry.action in (Action.FORGET, Action.MERGE, Action.PURGE, Action.RESTORE):
            last[entry.target] = entry
    for target, entry in last.items():
        named = parse_uri(target)
        if named is None or entry.action not in (Action.FORGET, Action.MERGE):
            continue
        known = store.curation.state(bank, named.kind, named.id)
        if known is not None and known.is_hidden:
            text = known.text or known.was
            yield HiddenRecord(bank, named.kind, named.id, text, entry.time, entry.who, known.into)


def _hidden_text(store: Store, one: HiddenRecord) -> str:
    """The text of a hidden record, "" where it is no longer known."""
    if one.text:
        return one.text
    match one.word:
        case "memory":
            remembered = {m.id: m.what for m in store.memories.remembered_uncurated(one.bank)}
            opinions = {o.id: o.what for o in store.opinions.all_uncurated(one.bank)}
            return remembered.get(one.id) or opinions.get(one.id, "")
        case "turn":
            turn = store.turns.get_uncurated(one.bank, one.id)
            return turn.text if turn else ""
        case "commit":
            commit = store.git.commit_uncurated(one.bank, one.id)
            return commit.subject if commit else ""
        case "session":
            turns = store.turns.stream_uncurated(one.bank, one.id)
            return next((turn.text for turn in turns if turn.text), "")
        case _:
            return ""


def logged_decisions(memory: Holdfast, query: CatalogueQuery) -> tuple[list[LoggedDecision], bool]:
    """One page of the log, the latest first, and whether another follows."""
    entries = read_logs(memory.reader, _banks(memory, query.bank))
    log = [one.curation for one in entries]
    undone = {entry.target for entry in log if entry.action is Action.UNDO}
    can_undo = {entry.seq for entry in independently_undoable(log)}
    words = query.words.lower().split()
    matching = [
        LoggedDecision(
            entry, "", str(entry.seq) in undone, entry.seq in can_undo, channel, before, after
        )
        for entry, channel, before, after in entries
        if all(w in f"{entry.action} {entry.target} {entry.text}".lower() for w in words)
    ]
    page, more = _page(matching, query.page)
    return [d._replace(title=_title(memory, d.entry)) for d in page], more


def _title(memory: Holdfast, entry: Curation) -> str:
    named = parse_uri(entry.target) if entry.target.startswith(SCHEME) else None
    if named is not None and named.kind == "bank":
        return f"the bank {memory.context.bank_name(named.id)}"
    record = find_by_uri(memory.reader, entry.bank, entry.target) if named else None
    if record is not None or named is None or entry.action is not Action.FORGET:
        return describe_record(record)[0] if record else ""
    known = memory.store.curation.state(entry.bank, named.kind, named.id)
    if known is None or not known.is_hidden:
        return ""
    text = known.text or known.was
    return _hidden_text(memory.store, HiddenRecord(entry.bank, *named, text, entry.time, entry.who))
