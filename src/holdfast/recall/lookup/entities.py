"""Entities by any of their names, the records that mention them, and the entities that occur with
them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.errors import NotFoundError
from holdfast.language import file_word, fold_name, truncate
from holdfast.model.graph import Entity, Link, LinkKind
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.links.record_links import Links, NearestLookup
from holdfast.store.knowledge.graph import GraphEntity
from holdfast.store.protocol import Reader

# The latest records of an entity that are looked at; a page shows fewer.
_MAX_RECORDS = 200
_MAX_TITLE = 100


class MentioningRecord(NamedTuple):
    """A record that mentions an entity."""

    uri: str
    kind: str
    time: str
    title: str


class CooccurringEntity(NamedTuple):
    """An entity that occurs with another, and the number of records that mention both."""

    uri: str
    name: str
    records: int


class EntityDetails(NamedTuple):
    """An entity with its records, the entities beside it, and the `links` of the records listed."""

    entity: Entity
    records: tuple[MentioningRecord, ...]
    together: tuple[CooccurringEntity, ...]
    links: tuple[Link, ...]


def find_entity(reader: Reader, bank: str | None, name: str) -> Entity:
    """The one entity that a URI, an id or a spelling names."""
    banks = [bank] if bank is not None else [known.id for known in reader.banks.all()]
    found = [(one, known) for one in banks for known in entities_named(reader, one, name)]
    if not found:
        raise NotFoundError(
            f"There is no entity {name!r}.",
            "`holdfast entities` lists them, with `--bank all` those of every bank.",
        )
    if len(found) > 1:
        names = ", ".join(f"{k.name} ({uri('entity', k.id)})" for _, k in found[:8])
        raise NotFoundError(f"Several are called {name!r}.", f"One of: {names}.")
    one, known = found[0]
    entity = next(
        e for e in reader.records.find(one, "entity", known.id, 1) if isinstance(e, Entity)
    )
    return entity


def entities_named(reader: Reader, bank: str, name: str) -> list[GraphEntity]:
    """The entities of a bank that a URI, an id or a spelling names."""
    named = parse_uri(name)
    by_id = reader.graph.entity(bank, named.id) if named and named.kind in ("", "entity") else None
    if by_id is not None:
        return [by_id]
    keys = dict.fromkeys((fold_name(name), file_word(name), name.lower()))
    found = {
        known.number: known for _, known in reader.graph.entities_by_spelling(bank, list(keys))
    }
    spelled = [
        k for k in found.values() if reader.graph.spelling_id(bank, k.id, name) or k.name == name
    ]
    return spelled or list(found.values())


def describe_entity(
    reader: Reader,
    entity: Entity,
    limit: int,
    nearest: NearestLookup | None = None,
    kinds: Sequence[LinkKind] = tuple(LinkKind),
) -> EntityDetails:
    """An entity with its latest records, the entities that occur with it, and the records' links of
    some kinds."""
    known = reader.graph.entity(entity.bank, entity.id)
    if known is None:
        return EntityDetails(entity, (), (), ())
    mentions = reader.graph.mentions_of(entity.bank, known.number, _MAX_RECORDS)
    parts = {mention.node: mention.roles for mention in mentions}
    passages = dict(reader.graph.node_passages(entity.bank, list(parts)))
    latest = sorted(passages.items(), key=lambda item: (item[1].time, item[1].id), reverse=True)
    shown = latest[:limit]
    records = tuple(
        MentioningRecord(uri(p.kind, p.id), p.kind, p.time, truncate(p.body, _MAX_TITLE))
        for _, p in shown
    )
    together = tuple(
        CooccurringEntity(uri("entity", other.id), other.name, count)
        for other, count in reader.graph.cooccurring(entity.bank, known.number, limit)
    )
    links = Links(reader, entity.bank, nearest)
    places = {
        place.node: place for place in reader.graph.records(entity.bank, [n for n, _ in shown])
    }
    record_links = [link for node, _ in shown for link in links.all(places[node], kinds)]
    return EntityDetails(entity, records, together, tuple(record_links))


def entities_matching(reader: Reader, bank: str | None, name: str) -> list[Entity]:
    """The entities that a URI, an id or a spelling may mean, the most mentioned first."""
    banks = [bank] if bank is not None else [known.id for known in reader.banks.all()]
    found = [
        entity
        for one in banks
        for known in entities_named(reader, one, name)
        for entity in reader.records.find(one, "entity", known.id, 1)
        if isinstance(entity, Entity)
    ]
    return sorted(found, key=lambda entity: (-entity.mentions, entity.name, entity.bank))
