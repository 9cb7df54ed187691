"""The entities around one of them, or the foremost of all, and what holds them together.

Two entities are bound by the records that mention both. Who is nearest is asked of the store, hop
by hop; how firmly those that are shown hang together is counted over the latest records of each,
so that a page stays a page however large a bank is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from holdfast.model.graph import Entity
from holdfast.recall.lookup.entities import entities_named
from holdfast.store.protocol import Reader
from holdfast.store.protocol.graph import GraphEntity

MOST = 300
HOPS = 3
# How many of each one's companions are followed, by how far it is from the focus.
_FANS = (40, 14, 8)
_RECORDS = 120
# A record that mentions everything holds nothing together.
_CROWD = 40
_TIES = 3


class Neighbour(NamedTuple):
    """An entity so many hops from the focus; `via` is the place in the list of the one by which
    it was come to, its own for the first."""

    bank: str
    id: str
    name: str
    kind: str
    records: int
    hops: int
    via: int


class Cooccurrence(NamedTuple):
    """Two entities by their places in the list, and in how many records they occur together."""

    one: int
    other: int
    records: int


class Neighbourhood(NamedTuple):
    """What is shown; `left` tells that more would have come."""

    entities: tuple[Neighbour, ...] = ()
    ties: tuple[Cooccurrence, ...] = ()
    left: bool = False


def entities_matching(reader: Reader, bank: str | None, name: str) -> list[Entity]:
    """The entities that a URI, an id or a spelling may mean, those in most records first."""
    banks = [bank] if bank is not None else [known.id for known in reader.banks()]
    found = [
        entity
        for one in banks
        for known in entities_named(reader, one, name)
        for entity in reader.find(one, "entity", known.id, 1)
        if isinstance(entity, Entity)
    ]
    return sorted(found, key=lambda entity: (-entity.mentions, entity.name, entity.bank))


def neighbourhood_of(
    reader: Reader, focus: Entity, hops: int = 2, kinds: Sequence[str] = (), most: int = MOST
) -> Neighbourhood:
    """A focus and what is around it, of some kinds; the focus is of any."""
    known = reader.entity(focus.bank, focus.id)
    if known is None:
        return Neighbourhood()
    places = {known.number: 0}
    met = [_neighbour(focus.bank, known, 0, 0)]
    edge, left = [known], False
    for hop in range(1, min(hops, HOPS) + 1):
        fan, further = _FANS[hop - 1], list[GraphEntity]()
        for one in edge:
            # Of some kinds only, more must be asked for to find as many.
            asked = fan * 4 if kinds else fan
            beside = [k for k, _ in reader.cooccurring_entities(focus.bank, one.number, asked)]
            beside = [k for k in beside if not kinds or k.kind in kinds][:fan]
            for other in beside:
                if other.number in places:
                    continue
                if len(met) >= most:
                    left = True
                    break
                places[other.number] = len(met)
                met.append(_neighbour(focus.bank, other, hop, places[one.number]))
                further.append(other)
        edge = further
    return Neighbourhood(tuple(met), _ties(reader, focus.bank, places), left)


def most_mentioned(
    reader: Reader, bank: str | None, kinds: Sequence[str] = (), most: int = 120
) -> Neighbourhood:
    """The entities of most records, with no focus."""
    asked = most * 4 + 1 if kinds else most + 1
    found = [e for e in reader.entities(bank, asked) if not kinds or e.kind in kinds]
    met: list[Neighbour] = []
    places: dict[str, dict[int, int]] = {}
    for entity in found[:most]:
        known = reader.entity(entity.bank, entity.id)
        if known is not None:
            places.setdefault(entity.bank, {})[known.number] = len(met)
            met.append(_neighbour(entity.bank, known, 0, len(met)))
    ties = [tie for one, held in places.items() for tie in _ties(reader, one, held)]
    return Neighbourhood(tuple(met), tuple(ties), len(found) > most)


def _neighbour(bank: str, known: GraphEntity, hops: int, via: int) -> Neighbour:
    return Neighbour(bank, known.id, known.name, known.kind, known.records, hops, via)


def _ties(reader: Reader, bank: str, places: dict[int, int]) -> tuple[Cooccurrence, ...]:
    """What binds those shown: of each, its firmest few."""
    mentioned: dict[int, list[int]] = {}
    for number, place in places.items():
        for bond in reader.mentions_of(bank, number, _RECORDS):
            mentioned.setdefault(bond.node, []).append(place)
    counted = Counter(
        pair
        for held in mentioned.values()
        if len(held) <= _CROWD
        for pair in combinations(sorted(held), 2)
    )
    return tuple(
        Cooccurrence(one, other, n) for (one, other), n in sorted(_firmest(counted.items()))
    )


def _firmest(
    counted: Iterable[tuple[tuple[int, int], int]],
) -> list[tuple[tuple[int, int], int]]:
    """Those among the firmest few of either end; all of them would be a felt, not a net."""
    had: Counter[int] = Counter()
    kept: list[tuple[tuple[int, int], int]] = []
    for pair, n in sorted(counted, key=lambda item: (-item[1], item[0])):
        if min(had[pair[0]], had[pair[1]]) < _TIES:
            had.update(pair)
            kept.append((pair, n))
    return kept
