"""One record of the catalogue in full: evidence for and against it, what it replaced and what
replaced it, what became of its code, and which actions a person may take on it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.app.search.code_freshness import confirmations, whole_anchor
from holdfast.app.views.catalogue import (
    KIND_BY_SECTION,
    CatalogueItem,
    CatalogueRecord,
    catalogue_item,
    current_items,
    opinion_item,
)
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
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.page_url import page_url
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.trace import Trace, find_record
from holdfast.refine.core.passages import digest_passage
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader


class _ViewLimits(NamedTuple):
    """How much of a record's surroundings its page shows. More makes the page longer and slower:
    every reference costs one lookup."""

    # Characters of the title of a referenced record.
    title_chars: int = 240
    # Records for, and the same number against; the page says how many more there are.
    evidence: int = 40
    # Older versions, and the same number of newer ones.
    versions: int = 20
    # Similar records offered for merging.
    similar: int = 8
    # Shorter words ("the", "and") say nothing about similarity.
    min_word_chars: int = 4


_LIMITS = _ViewLimits()
# Larger than any bank: asks the store for all records.
_NO_LIMIT = 1_000_000


class RecordRef(NamedTuple):
    """A reference to another record; `how` it is evidence, `here` if it is the record shown. A
    record that no longer exists has no title."""

    uri: str
    kind: str
    title: str = ""
    time: str = ""
    how: str = ""
    status: str = ""
    here: bool = False


class RecordView(NamedTuple):
    """A record with everything its page shows. `more` counts the evidence left out; `chain` is the
    line of records that replaced each other; `alike` are similar records. `words` is the text that
    a correction replaces and `seen` its fingerprint; `can` names the allowed actions; `held` is the
    last confirmation that it still holds."""

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
    """A short hash of a text that is the same however a browser sends line ends."""
    return hashlib.sha256(words.replace("\r", "").encode("utf-8", "replace")).hexdigest()[:24]


def correctable_text(record: Record) -> str:
    """The text that a correction of a record replaces."""
    match record:
        case Turn():
            return record.tool.result if record.tool else record.text
        case Exchange():
            repeats_title = record.summary.startswith(record.title.rstrip("…"))
            parts = (
                "" if repeats_title else record.title,
                record.summary,
                record.details,
                *record.facts,
            )
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
    """The view of a record; None if its kind is not in the catalogue."""
    record = trace.record
    if not isinstance(record, CatalogueRecord):
        return None
    reader = memory.reader
    opinion = _find_opinion(memory, record)
    item = opinion_item(opinion) if opinion else catalogue_item(record)
    supporting, opposing = _evidence(trace)
    words = correctable_text(record)
    return RecordView(
        item,
        trace,
        tuple(describe_refs(reader, record.bank, supporting[: _LIMITS.evidence])),
        tuple(describe_refs(reader, record.bank, opposing[: _LIMITS.evidence])),
        sum(max(len(refs) - _LIMITS.evidence, 0) for refs in (supporting, opposing)),
        tuple(_versions(reader, record)),
        _anchor(reader, record),
        _similar_items(memory, item),
        words,
        fingerprint(words),
        _allowed_actions(memory, record),
        f"{record.file}, line {record.line}" if isinstance(record, Rule) else "",
        confirmations(reader, record.bank).get(uri(trace.kind, record.id)),
    )


def current_text(memory: Holdfast, target: Target) -> str:
    """The text of a record as it is now."""
    return correctable_text(find_record(memory.reader, target.bank, target.uri))


def page_address(reader: Reader, name: str) -> str:
    """The path of the page that shows a record: its own page, or its place in its session."""
    named = parse_uri(name)
    if named is not None and named.kind == "bank":
        return f"/banks/{named.id}"
    record = find_record(reader, None, name)
    kind, session = record_kind(record), getattr(record, "session", "")
    if kind == "session":
        return f"/sessions/{record.id}"
    if kind in KIND_BY_SECTION.values():
        return f"/record/{kind}/{record.id}"
    if kind == "entity":
        return f"/entities?focus={record.id}"
    if kind == "claim":
        return page_address(reader, uri("exchange", getattr(record, "exchange", "")))
    found = page_url(reader, record.bank, uri(kind, record.id), session)
    return found if found.startswith("/") else "/repos"


def _find_opinion(memory: Holdfast, record: Record) -> Opinion | None:
    if not isinstance(record, Memory) or record.network is not Network.OPINION:
        return None
    known = memory.opinions.opinions(record.bank, all=True)
    return next((opinion for opinion in known if opinion.id == record.id), None)


def _evidence(trace: Trace) -> tuple[list[RecordRef], list[RecordRef]]:
    """The records for and against a record, the latest first."""
    match trace.record:
        case Fact():
            refs = [RecordRef(b.uri, "", "", b.time, b.how.value) for b in reversed(trace.bearings)]
            bad = {b.uri for b in trace.bearings if b.against}
            own = uri("fact", trace.record.id)  # decisions of people: the log shows them
            good = [r for r in refs if r.uri not in bad and r.uri != own]
            return good, [r for r in refs if r.uri in bad]
        case Memory(evidence_for=good, evidence_against=bad):
            return _refs(good), _refs(bad)
        case Pattern(evidence=good, against=bad):
            return _refs(good), _refs(bad)
        case Concept(members=members):
            return _refs(members), []
        case _:
            return [], []


def _refs(names: Iterable[str]) -> list[RecordRef]:
    return [RecordRef(name, "") for name in reversed(list(names))]


def describe_refs(reader: Reader, bank: str, refs: Iterable[RecordRef]) -> Iterable[RecordRef]:
    """The same references with kind, title, time and status of records that still exist."""
    for ref in refs:
        record = find_by_uri(reader, bank, ref.uri)
        if record is None:
            named = parse_uri(ref.uri)
            yield ref._replace(kind=named.kind if named else "")
        else:
            known = _as_ref(record)
            yield known._replace(uri=ref.uri, time=ref.time or known.time, how=ref.how)


def _versions(reader: Reader, record: Record) -> list[RecordRef]:
    """The records that a record replaced, itself, and those that replaced it, oldest first. Empty
    if there are no others."""
    if not isinstance(record, Fact | Memory):
        return []
    seen = {uri(record_kind(record), record.id)}
    older = _follow(reader, record, seen, back=True)
    newer = _follow(reader, record, seen, back=False)
    if not older and not newer:
        return []
    return [*reversed(older), _as_ref(record)._replace(here=True), *newer]


def _follow(reader: Reader, record: Record, seen: set[str], back: bool) -> list[RecordRef]:
    refs: list[RecordRef] = []
    left = [record]
    while left and len(refs) < _LIMITS.versions:
        one = left.pop(0)
        before: tuple[str, ...] = getattr(one, "supersedes", ())
        names = before if back else (getattr(one, "superseded_by", ""),)
        for name in names:
            named = parse_uri(name) if name else None
            if named is None or name in seen:
                continue
            seen.add(name)
            found = find_by_uri(reader, record.bank, name)
            refs.append(_as_ref(found) if found else RecordRef(name, named.kind))
            left += [found] if found else []
    return refs


def _as_ref(record: Record) -> RecordRef:
    title, time = describe_record(record)
    kind = record_kind(record)
    status = str(getattr(record, "status", ""))
    return RecordRef(
        uri(kind, record.id), kind, truncate(title, _LIMITS.title_chars), time, "", status
    )


def _anchor(reader: Reader, record: Record) -> CodeAnchor | None:
    if not reader.git.repositories(record.bank):
        return None
    found = whole_anchor(reader, record)
    return found if found.files else None


def _similar_items(memory: Holdfast, item: CatalogueItem) -> tuple[CatalogueItem, ...]:
    """The records of the same section that have most words in common with an item."""
    if item.word not in MERGEABLE_KINDS:
        return ()
    section = {"fact": "facts", "concept": "concepts"}.get(item.word, "memories")
    own = _long_words(item)
    shared = [
        (len(own & _long_words(one)), one)
        for one in current_items(memory, section, item.bank)
        if one.id != item.id
    ]
    ranked = sorted(shared, key=lambda pair: -pair[0])
    return tuple(one for words, one in ranked[: _LIMITS.similar] if words)


def _long_words(item: CatalogueItem) -> set[str]:
    return {
        word
        for word in f"{item.title} {item.text}".lower().split()
        if len(word) >= _LIMITS.min_word_chars
    }


def _allowed_actions(memory: Holdfast, record: Record) -> frozenset[str]:
    if isinstance(record, Rule | Pattern):
        return frozenset()
    kind = record_kind(record)
    actions = {"forget"}
    if kind in CORRECTABLE_KINDS:
        actions.add("correct")
    if kind in MERGEABLE_KINDS:
        actions.add("merge")
    is_remembered = isinstance(record, Memory) and any(
        one.id == record.id for one in memory.reader.memories.remembered(record.bank, _NO_LIMIT)
    )
    if is_remembered or isinstance(record, SharedRecord | ImportedRecord):
        actions.add("purge")
    return frozenset(actions)
