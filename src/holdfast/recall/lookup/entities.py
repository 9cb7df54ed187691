"""Entities by any of their names, the records that mention them, and the entities around them.

Two entities are connected by the records that mention both. The store finds the nearest ones, hop
by hop; how often those shown occur together is counted over the latest records of each, so the cost
does not grow with the bank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
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


# What one page shows at most, around a focus and without one.
MAX_ENTITIES = 300
_MOST_MENTIONED = 120
MAX_HOPS = 3
# How many companions of each entity are followed, by the distance from the focus: fewer further
# out, so that the nearest take most of the page.
_COMPANIONS_PER_HOP = (40, 14, 8)
# Where only some kinds are wanted, so many times more are asked for.
_OVERSAMPLING = 4
# The latest records of each entity over which connections are counted.
_MAX_RECORDS_COUNTED = 120
# A record that mentions more entities than this connects none of them.
_MAX_ENTITIES_OF_RECORD = 40
# Connections drawn for each entity: more make the graph unreadable.
_CONNECTIONS_PER_ENTITY = 3


class Neighbour(NamedTuple):
    """An entity at a distance from the focus; `via` is the index in the list of the one through
    which it was reached, its own for the first."""

    bank: str
    id: str
    name: str
    kind: str
    records: int
    hops: int
    via: int


class Cooccurrence(NamedTuple):
    """Two entities by their index in the list, and the number of records that mention both."""

    one: int
    other: int
    records: int


class Neighbourhood(NamedTuple):
    """The entities and connections to show; `left` tells that there are more."""

    entities: tuple[Neighbour, ...] = ()
    ties: tuple[Cooccurrence, ...] = ()
    left: bool = False


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


def neighbourhood_of(
    reader: Reader, focus: Entity, hops: int, kinds: Sequence[str]
) -> Neighbourhood:
    """A focus, and the entities around it of some kinds."""
    known = reader.graph.entity(focus.bank, focus.id)
    if known is None:
        return Neighbourhood()
    index_of = {known.number: 0}
    found = [_neighbour(focus.bank, known, 0, 0)]
    frontier, left = [known], False
    for hop in range(1, min(hops, MAX_HOPS) + 1):
        fan, further = _COMPANIONS_PER_HOP[hop - 1], list[GraphEntity]()
        for one in frontier:
            # Where only some kinds are wanted, more are asked for to find enough.
            asked = fan * _OVERSAMPLING if kinds else fan
            beside = [k for k, _ in reader.graph.cooccurring(focus.bank, one.number, asked)]
            beside = [k for k in beside if not kinds or k.kind in kinds][:fan]
            for other in beside:
                if other.number in index_of:
                    continue
                if len(found) >= MAX_ENTITIES:
                    left = True
                    break
                index_of[other.number] = len(found)
                found.append(_neighbour(focus.bank, other, hop, index_of[one.number]))
                further.append(other)
        frontier = further
    return Neighbourhood(tuple(found), _connections(reader, focus.bank, index_of), left)


def most_mentioned(reader: Reader, bank: str | None, kinds: Sequence[str]) -> Neighbourhood:
    """The most mentioned entities, without a focus."""
    asked = _MOST_MENTIONED * _OVERSAMPLING + 1 if kinds else _MOST_MENTIONED + 1
    entities = [e for e in reader.graph.entities(bank, asked) if not kinds or e.kind in kinds]
    found: list[Neighbour] = []
    index_of: dict[str, dict[int, int]] = {}
    for entity in entities[:_MOST_MENTIONED]:
        known = reader.graph.entity(entity.bank, entity.id)
        if known is not None:
            index_of.setdefault(entity.bank, {})[known.number] = len(found)
            found.append(_neighbour(entity.bank, known, 0, len(found)))
    ties = [tie for one, held in index_of.items() for tie in _connections(reader, one, held)]
    return Neighbourhood(tuple(found), tuple(ties), len(entities) > _MOST_MENTIONED)


def _neighbour(bank: str, known: GraphEntity, hops: int, via: int) -> Neighbour:
    return Neighbour(bank, known.id, known.name, known.kind, known.records, hops, via)


def _connections(reader: Reader, bank: str, index_of: dict[int, int]) -> tuple[Cooccurrence, ...]:
    """The strongest connections of each entity shown."""
    mentioned: dict[int, list[int]] = {}
    for number, place in index_of.items():
        for bond in reader.graph.mentions_of(bank, number, _MAX_RECORDS_COUNTED):
            mentioned.setdefault(bond.node, []).append(place)
    counted = Counter(
        pair
        for held in mentioned.values()
        if len(held) <= _MAX_ENTITIES_OF_RECORD
        for pair in combinations(sorted(held), 2)
    )
    return tuple(
        Cooccurrence(one, other, n) for (one, other), n in sorted(_strongest(counted.items()))
    )


def _strongest(
    counted: Iterable[tuple[tuple[int, int], int]],
) -> list[tuple[tuple[int, int], int]]:
    """Those that are among the strongest few of one of their ends: all would be unreadable."""
    counts: Counter[int] = Counter()
    kept: list[tuple[tuple[int, int], int]] = []
    for pair, n in sorted(counted, key=lambda item: (-item[1], item[0])):
        if min(counts[pair[0]], counts[pair[1]]) < _CONNECTIONS_PER_ENTITY:
            counts.update(pair)
            kept.append((pair, n))
    return kept
