"""The records that a record is linked to, of every kind of link, with their titles.

Needs NumPy for links by meaning, so it is loaded only where links are shown."""

from __future__ import annotations

from pathlib import Path

from holdfast.language import collapse_spaces, truncate
from holdfast.model.graph import Link, LinkedRecord, LinkKind
from holdfast.model.kinds import record_kind
from holdfast.model.uris import parse_uri
from holdfast.recall.links.record_links import Links
from holdfast.recall.links.similar_records import SimilarRecords
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

_MAX_TITLE = 120
# Causes and what follows from them tell most; that two records are of one day tells least.
BY_WORTH = (
    LinkKind.CAUSED_BY,
    LinkKind.CAUSES,
    LinkKind.ENABLES,
    LinkKind.PREVENTS,
    LinkKind.SEMANTIC,
    LinkKind.ENTITY,
    LinkKind.TEMPORAL,
)


def linked_records(reader: Reader, record: Record, vectors: Path) -> list[LinkedRecord]:
    """What a record is linked to, by kind and the strongest first; `vectors` is the folder of the
    stored vectors. Records that mention nothing, such as turns and facts, have no links."""
    place = reader.graph.record(record.bank, record_kind(record), record.id)
    if place is None:
        return []
    links = Links(reader, record.bank, SimilarRecords(reader, record.bank, vectors))
    return [_linked(reader, link) for link in links.all(place, BY_WORTH)]


def _linked(reader: Reader, link: Link) -> LinkedRecord:
    named = parse_uri(link.target)
    place = reader.graph.record(link.bank, *named) if named else None
    passages = reader.graph.node_passages(link.bank, [place.node]) if place else []
    title = collapse_spaces(passages[0][1].body) if passages else ""
    time = place.time if place else ""
    return LinkedRecord(
        link.kind, link.target, truncate(title, _MAX_TITLE), time, link.weight, link.via
    )
