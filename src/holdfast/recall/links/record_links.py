"""Links between records: they follow from what both mention, and from when they were.

A link is there where each of two records is among the best twenty of its kind for the other. So
links are symmetric and bounded, whatever came first, and none outlives a record: nothing is kept
but mentions. What one causes, the other is caused by.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from holdfast.model.graph import EntityKind, Link, LinkKind, MentionRole
from holdfast.model.uris import uri
from holdfast.recall.retrievers.graph import entity_weight
from holdfast.store.protocol import Reader
from holdfast.store.protocol.graph import GraphEntity, GraphRecord

MAX_LINKS = 20
# An entity that more records share holds none of them together.
MAX_SHARED_RECORDS = 60
NEIGHBOURS_IN_TIME = 3
_COUNTED = 20_000
# What a link must weigh: less is held together by a name that is everywhere.
_FIRM = 0.35


class LinkRule(NamedTuple):
    """Records are linked where an entity plays the one part here and the other part there; `order`
    is -1 if the other must be the earlier, 1 if the later, 0 if it does not matter; `beside` if
    both must be of one session."""

    here: MentionRole
    there: MentionRole
    strength: float
    order: int = 0
    beside: bool = False


class Edge(NamedTuple):
    """A link as seen from one of its records: to which other, how firm, by which entity."""

    other: GraphRecord
    weight: float
    via: str


NearestLookup = Callable[[GraphRecord], list[Edge]]

_CAUSED_BY = (
    LinkRule(MentionRole.CAUSE, MentionRole.EFFECT, 1.0, -1),
    LinkRule(MentionRole.CAUSE, MentionRole.EFFECT, 0.6),
    LinkRule(MentionRole.CAUSE, MentionRole.PROBLEM, 0.6, -1),
    LinkRule(MentionRole.MENDED, MentionRole.PROBLEM, 0.7, -1, beside=True),
)
# What is named as a purpose is often a part of everything: far apart it must be rare.
_ENABLES = (
    LinkRule(MentionRole.PURPOSE, MentionRole.ABOUT, 0.6, 1, beside=True),
    LinkRule(MentionRole.PURPOSE, MentionRole.ABOUT, 0.5, 1),
)
_PREVENTS = (LinkRule(MentionRole.AVERTED, MentionRole.PROBLEM, 0.55, -1),)
_ENTITY = (LinkRule(MentionRole.MENTIONED, MentionRole.MENTIONED, 1.0),)


def _turned(rules: Sequence[LinkRule]) -> tuple[LinkRule, ...]:
    return tuple(r._replace(here=r.there, there=r.here, order=-r.order) for r in rules)


# The rules of each kind, and those by which the other side sees the same link.
_RULES = {
    LinkKind.CAUSED_BY: (_CAUSED_BY, _turned(_CAUSED_BY)),
    LinkKind.CAUSES: (_turned(_CAUSED_BY), _CAUSED_BY),
    LinkKind.ENABLES: (_ENABLES, _turned(_ENABLES)),
    LinkKind.PREVENTS: (_PREVENTS, _turned(_PREVENTS)),
    LinkKind.ENTITY: (_ENTITY, _ENTITY),
}


class Links:
    """The links of a bank, for as long as one question lasts."""

    def __init__(self, reader: Reader, bank: str, nearest: NearestLookup | None = None) -> None:
        """Without `nearest` there are no links by meaning."""
        self._reader = reader
        self._nearest = nearest
        self._near: dict[int, list[Edge]] = {}
        self._bank = bank
        self._size = reader.graph_size(bank, _COUNTED)
        self._chosen: dict[tuple[int, tuple[LinkRule, ...]], list[Edge]] = {}

    def of(self, place: GraphRecord, kind: LinkKind, most: int = MAX_LINKS) -> list[Edge]:
        """The links of a kind that a record has, the firmest first."""
        if kind is LinkKind.TEMPORAL:
            return self._beside(place)
        if kind is LinkKind.SEMANTIC:
            return self._alike(place, most)
        own, others = _RULES[kind]
        edges: list[Edge] = []
        for edge in self._choose(place, own):
            back = self._choose(edge.other, others)
            if any(other.other.node == place.node for other in back):
                edges.append(edge)
            if len(edges) == most:
                break
        return edges

    def all(
        self, place: GraphRecord, kinds: Sequence[LinkKind] = tuple(LinkKind)
    ) -> Iterator[Link]:
        """Every link of a record, of some kinds."""
        source = uri(place.kind, place.id)
        for kind in kinds:
            for edge in self.of(place, kind):
                target = uri(edge.other.kind, edge.other.id)
                yield Link(self._bank, source, target, kind, round(edge.weight, 4), edge.via)

    def _alike(self, place: GraphRecord, most: int) -> list[Edge]:
        edges = self._nearest_of(place)
        mutual = [
            edge
            for edge in edges
            if any(back.other.node == place.node for back in self._nearest_of(edge.other))
        ]
        return mutual[:most]

    def _nearest_of(self, place: GraphRecord) -> list[Edge]:
        if place.node not in self._near:
            self._near[place.node] = self._nearest(place) if self._nearest is not None else []
        return self._near[place.node]

    def _beside(self, place: GraphRecord) -> list[Edge]:
        """The next in time on both sides: so near is always so near from there too."""
        if not place.time:
            return []
        around = self._reader.graph_records_around(self._bank, place, NEIGHBOURS_IN_TIME)
        return [Edge(other, 1.0, "") for other in around]

    def _choose(self, place: GraphRecord, rules: tuple[LinkRule, ...]) -> list[Edge]:
        """The best others for a record, by rules; a digest only repeats what its exchanges say."""
        known = self._chosen.get((place.node, rules))
        if known is None:
            known = list(self._best(place, rules)) if place.kind != "digest" else []
            self._chosen[place.node, rules] = known
        return known

    def _best(self, place: GraphRecord, rules: tuple[LinkRule, ...]) -> list[Edge]:
        bonds = self._reader.mentions_in(self._bank, [place.node])
        fit = {b.entity: b.parts for b in bonds if any(_has(b.parts, r.here) for r in rules)}
        shared = [
            (entity, bond)
            for entity in self._reader.entities_by_number(self._bank, list(fit))
            if 1 < entity.records <= MAX_SHARED_RECORDS
            and (rules == _ENTITY or not _is_product(entity))
            for bond in self._reader.mentions_of(self._bank, entity.number, MAX_SHARED_RECORDS)
            if bond.node != place.node
        ]
        nodes = list({bond.node for _, bond in shared})
        others = {
            p.node: p for p in self._reader.graph_records(self._bank, nodes) if p.kind != "digest"
        }
        held: dict[int, list[tuple[float, str]]] = {}
        for entity, bond in shared:
            if bond.node not in others:
                continue
            strength = _strength(fit[entity.number], bond.parts, place, others[bond.node], rules)
            weight = strength * entity_weight(entity.records, self._size)
            if weight >= _FIRM:
                held.setdefault(bond.node, []).append((weight, entity.name))
        edges = [
            Edge(others[node], math.fsum(weight for weight, _ in by), max(by)[1])
            for node, by in held.items()
        ]
        return sorted(edges, key=_rank)[:MAX_LINKS]


def _is_product(entity: GraphEntity) -> bool:
    """Whether an entity is only ever a word in capitals: "Windows" is blamed for many things that
    have nothing to do with each other."""
    return (
        entity.kind == EntityKind.CONCEPT and entity.name[:1].isupper() and " " not in entity.name
    )


def _rank(edge: Edge) -> tuple[float, str, str, str]:
    other = edge.other
    return -round(edge.weight, 9), other.time, other.kind, other.id


def _order(place: GraphRecord, other: GraphRecord) -> int | None:
    """1 if the other is the later, -1 if the earlier, 0 if both are of one time; None if that
    cannot be told."""
    if not place.time or not other.time:
        return None
    return (other.time > place.time) - (other.time < place.time)


def _has(parts: MentionRole, wanted: MentionRole) -> bool:
    return not wanted or bool(parts & wanted)


def _strength(
    here: MentionRole,
    there: MentionRole,
    place: GraphRecord,
    other: GraphRecord,
    rules: Sequence[LinkRule],
) -> float:
    """The strongest rule that two parts of one entity pass."""
    after = _order(place, other)
    near = bool(place.session) and place.session == other.session
    passed = [
        rule.strength
        for rule in rules
        if _has(here, rule.here)
        and _has(there, rule.there)
        and (not rule.order or (after is not None and after * rule.order >= 0))
        and (near or not rule.beside)
    ]
    return max(passed, default=0.0)
