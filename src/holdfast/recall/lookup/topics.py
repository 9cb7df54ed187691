"""Concepts by name, and records by keyword."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.errors import NotFoundError
from holdfast.language import stem, words
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import Concept
from holdfast.model.uris import SCHEME, parse_uri, uri
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.trace import find_record
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

# In the order in which they are shown: permanent knowledge first.
KINDS = ("fact", "memory", "concept", "exchange")
_MAX_RECORDS = 10_000


class KeywordHit(NamedTuple):
    """A record with a keyword."""

    uri: str
    kind: str
    title: str
    time: str
    bank: str


class KeywordHits(NamedTuple):
    """The records with some keywords, the latest of each kind first; `counts` is how many there are
    of each kind."""

    words: str
    leads: tuple[KeywordHit, ...]
    counts: dict[str, int]


def find_by_keywords(reader: Reader, bank: str | None, text: str, limit: int = 20) -> KeywordHits:
    """The facts, memories, concepts and exchanges with some keywords, up to `limit` of each."""
    tagged = reader.concepts.records_with_keywords(bank, text, _MAX_RECORDS)
    found: list[KeywordHit] = []
    counts: dict[str, int] = {}
    for kind in KINDS:
        own = [b for b in tagged if b.kind == kind]
        if own:
            counts[kind] = len(own)
        for one in own[:limit]:
            records = reader.records.find(one.bank, kind, one.id, 1)
            found += [_keyword_hit(record) for record in records if record.id == one.id]
    return KeywordHits(text, tuple(found), counts)


def _keyword_hit(record: Record) -> KeywordHit:
    kind = record_kind(record)
    title, time = describe_record(record)
    return KeywordHit(uri(kind, record.id), kind, title, time, record.bank)


def find_concept(reader: Reader, bank: str | None, text: str) -> Concept:
    """The concept that a name, an id or the start of an id means. The words of a name may be
    inflected or incomplete; of several that match, the one that was updated last."""
    named = parse_uri(text)
    if text.startswith((SCHEME, "concept/")):
        record = find_record(reader, bank, text)
        if isinstance(record, Concept):
            return record
    concepts = reader.concepts.latest(bank, _MAX_RECORDS)
    by_name = [c for c in concepts if c.name.casefold() == text.strip().casefold()]
    if by_name:
        return by_name[0]
    by_id = (
        [r for r in reader.records.find(bank, "concept", named.id) if isinstance(r, Concept)]
        if named
        else []
    )
    if len(by_id) == 1:
        return by_id[0]
    wanted = _stems(text)
    close = [c for c in concepts if wanted and wanted <= _stems(c.name)]
    if close:
        return close[0]
    raise NotFoundError(
        f"There is no concept {text!r}.", _advice([c.name for c in concepts], wanted)
    )


def _stems(text: str) -> set[str]:
    return {stem(word) for word in words(text)}


def _advice(names: Sequence[str], wanted: set[str]) -> str:
    near = [name for name in names if wanted & _stems(name)][:3]
    if near:
        return f"There is {', '.join(repr(name) for name in near)}."
    return "`holdfast concepts` lists them, with `--bank all` those of every bank."
