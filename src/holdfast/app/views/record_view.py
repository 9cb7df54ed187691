"""One record of a shelf, opened: what speaks for and against it, what came before and after it,
what became of its code, what was decided about it, and what can be done with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.app.search.code_freshness import confirmations, whole_anchor
from holdfast.app.views.catalogue import KIND_BY_SECTION, CatalogueItem, CatalogueQuery, catalogue_item, opinion_item, catalogue_page
from holdfast.language import truncate
from holdfast.learn.curation import CORRECTABLE_KINDS, MERGEABLE_KINDS, Target
from holdfast.model.anchors import CodeAnchor
from holdfast.model.curation import Curation
from holdfast.model.forge import Issue, Pull
from holdfast.model.imports import ImportedRecord
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import Concept, Fact, Memory, Network, Pattern, Rule
from holdfast.model.opinions import Opinion
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.team import Commit, SharedRecord
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.trace import Trace, find_record
from holdfast.refine.core.passages import digest_passage
from holdfast.research.answering.answer import page_url
from holdfast.store.protocol import Reader, Record

_TITLE = 240
_MOST_EVIDENCE = 40
_MOST_LINKS = 20
_ALIKE = 8
_ALL = 1_000_000
_ON_SHELVES = Fact | Memory | Concept | Rule | Pattern | SharedRecord | ImportedRecord


class RecordRef(NamedTuple):
    """Another record as it is named in one that rests on it; `how` it bears on it. One that is
    not there any more has no title."""

    uri: str
    kind: str
    title: str = ""
    time: str = ""
    how: str = ""
    status: str = ""
    here: bool = False


class RecordView(NamedTuple):
    """A record with all that is to be told of it. `words` are those that a correction replaces
    and `seen` is what tells them from others; `can` are the names of what may be done, and `held`
    is when somebody last said that it still holds."""

    item: CatalogueItem
    trace: Trace
    speaks_for: tuple[RecordRef, ...] = ()
    against: tuple[RecordRef, ...] = ()
    more: int = 0
    chain: tuple[RecordRef, ...] = ()
    anchor: CodeAnchor | None = None
    alike: tuple[CatalogueItem, ...] = ()
    words: str = ""
    seen: str = ""
    can: frozenset[str] = frozenset()
    place: str = ""
    held: Curation | None = None


def fingerprint(words: str) -> str:
    """What tells some words from others, however a browser sends line ends."""
    plain = "\n".join(words.split("\n")).replace("\r", "")
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:24]


def correctable_text(record: Record) -> str:
    """What a correction of a record replaces."""
    match record:
        case Turn():
            return record.tool.result if record.tool else record.text
        case Exchange():
            whole = record.summary.startswith(record.title.rstrip("…"))
            parts = ("" if whole else record.title, record.summary, record.details, *record.facts)
            return "\n".join(part for part in parts if part)
        case Digest():
            return digest_passage(record).body
        case Commit():
            return f"{record.subject}\n\n{record.body}".strip()
        case Pull() | Issue():
            return f"{record.title}\n\n{record.body}".strip()
        case Rule():
            return record.text
        case _:
            return describe_record(record)[0]


def open_record(memory: Holdfast, trace: Trace) -> RecordView | None:
    """A record of a shelf; None of what lies on none."""
    record = trace.record
    if not isinstance(record, _ON_SHELVES):
        return None
    reader = memory.reader
    opinion = _opinion(memory, record)
    item = opinion_item(opinion) if opinion else catalogue_item(record)
    good, bad = _evidence(reader, trace)
    words = correctable_text(record)
    return RecordView(
        item,
        trace,
        tuple(describe_refs(reader, record.bank, good[:_MOST_EVIDENCE])),
        tuple(describe_refs(reader, record.bank, bad[:_MOST_EVIDENCE])),
        max(len(good) - _MOST_EVIDENCE, 0) + max(len(bad) - _MOST_EVIDENCE, 0),
        tuple(_chain(reader, record)),
        _anchor(reader, record),
        _alike(memory, item),
        words,
        fingerprint(words),
        _can(memory, record),
        f"{record.file}, line {record.line}" if isinstance(record, Rule) else "",
        confirmations(reader, record.bank).get(uri(trace.kind, record.id)),
    )


def current_text(memory: Holdfast, target: Target) -> str:
    """What a record says now."""
    return correctable_text(find_record(memory.reader, target.bank, target.uri))


def page_address(reader: Reader, name: str) -> str:
    """The page that shows a record: the place of its own, or that in its session."""
    named = parse_uri(name)
    if named is not None and named.kind == "bank":
        return f"/banks/{named.id}"
    record = find_record(reader, None, name)
    word, session = record_kind(record), getattr(record, "session", "")
    if word == "session":
        return f"/sessions/{record.id}"
    if word in KIND_BY_SECTION.values():
        return f"/record/{word}/{record.id}"
    if word == "entity":
        return f"/graph?focus={record.id}"
    if word == "claim":
        return page_address(reader, uri("exchange", getattr(record, "exchange", "")))
    found = page_url(reader, record.bank, uri(word, record.id), session)
    return found if found.startswith("/") else "/repos"


def _opinion(memory: Holdfast, record: Record) -> Opinion | None:
    if not isinstance(record, Memory) or record.network is not Network.OPINION:
        return None
    known = memory.opinions.opinions(record.bank, all=True)
    return next((opinion for opinion in known if opinion.id == record.id), None)


def _evidence(reader: Reader, trace: Trace) -> tuple[list[RecordRef], list[RecordRef]]:
    """What speaks for a record and what against it, the latest first."""
    match trace.record:
        case Fact():
            told = [RecordRef(b.uri, "", "", b.time, b.how.value) for b in reversed(trace.bearings)]
            bad = {b.uri for b in trace.bearings if b.against}
            own = uri("fact", trace.record.id)  # what people said of it is in the log
            good = [r for r in told if r.uri not in bad and r.uri != own]
            return good, [r for r in told if r.uri in bad]
        case Memory(evidence_for=good, evidence_against=bad):
            return _named(good), _named(bad)
        case Pattern(evidence=good, against=bad):
            return _named(good), _named(bad)
        case Concept(members=members):
            return _named(members), []
        case _:
            return [], []


def _named(names: Iterable[str]) -> list[RecordRef]:
    return [RecordRef(name, "") for name in reversed(list(names))]


def describe_refs(reader: Reader, bank: str, names: Iterable[RecordRef]) -> Iterable[RecordRef]:
    """The same with what each record is called, where it is still there."""
    for ref in names:
        named = parse_uri(ref.uri)
        found = reader.find(bank, named.kind, named.id, 1) if named else []
        kind = named.kind if named else ""
        if not found:
            yield ref._replace(kind=kind)
            continue
        title, time = describe_record(found[0])
        status = getattr(found[0], "status", "")
        yield ref._replace(
            kind=kind, title=truncate(title, _TITLE), time=ref.time or time, status=str(status)
        )


def _chain(reader: Reader, record: Record) -> list[RecordRef]:
    """What a record took the place of, and what took its own, the oldest first."""
    if not isinstance(record, Fact | Memory):
        return []
    own = uri(record_kind(record), record.id)
    met = {own}
    older = _walk(reader, record, met, back=True)
    newer = _walk(reader, record, met, back=False)
    if not older and not newer:
        return []
    return [*reversed(older), _as_ref(record)._replace(here=True), *newer]


def _walk(reader: Reader, record: Record, met: set[str], back: bool) -> list[RecordRef]:
    told: list[RecordRef] = []
    left = [record]
    while left and len(told) < _MOST_LINKS:
        one = left.pop(0)
        before: tuple[str, ...] = getattr(one, "supersedes", ())
        names = before if back else (getattr(one, "superseded_by", ""),)
        for name in names:
            named = parse_uri(name) if name else None
            if named is None or name in met:
                continue
            met.add(name)
            found = reader.find(record.bank, named.kind, named.id, 1)
            told += [_as_ref(found[0])] if found else [RecordRef(name, named.kind)]
            left += found[:1]
    return told


def _as_ref(record: Record) -> RecordRef:
    title, time = describe_record(record)
    word = record_kind(record)
    status = str(getattr(record, "status", ""))
    return RecordRef(uri(word, record.id), word, truncate(title, _TITLE), time, "", status)


def _anchor(reader: Reader, record: Record) -> CodeAnchor | None:
    if not reader.repositories(record.bank):
        return None
    found = whole_anchor(reader, record)
    return found if found.files else None


def _alike(memory: Holdfast, item: CatalogueItem) -> tuple[CatalogueItem, ...]:
    """Others on the same shelf that have most words in common with a record."""
    if item.word not in MERGEABLE_KINDS:
        return ()
    name = {"fact": "facts", "concept": "concepts"}.get(item.word, "memories")
    own = _content(item)
    others = [one for one in catalogue_page(memory, CatalogueQuery(name, item.bank)).items if one.id != item.id]
    ranked = sorted(others, key=lambda one: -len(own & _content(one)))
    return tuple(one for one in ranked if own & _content(one))[:_ALIKE]


def _content(item: CatalogueItem) -> set[str]:
    return {word for word in f"{item.title} {item.text}".lower().split() if len(word) > 3}


def _can(memory: Holdfast, record: Record) -> frozenset[str]:
    if isinstance(record, Rule | Pattern):
        return frozenset()
    word = record_kind(record)
    can = {"forget"}
    if word in CORRECTABLE_KINDS:
        can.add("correct")
    if word in MERGEABLE_KINDS:
        can.add("merge")
    given = isinstance(record, Memory) and any(
        one.id == record.id for one in memory.reader.remembered(record.bank, _ALL)
    )
    if given or isinstance(record, SharedRecord | ImportedRecord):
        can.add("purge")
    return frozenset(can)
