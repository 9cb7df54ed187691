"""Links between records, computed from what both mention and from their times.

Two records are linked if each is among the best twenty of its kind for the other. So links are
symmetric and bounded. They are not stored (only mentions are), so none outlives a record; see
`docs/decisions/0012`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from holdfast.model.graph import EntityKind, Link, LinkKind, MentionRole
from holdfast.model.uris import uri
from holdfast.recall.retrievers.graph import MAX_COUNTED, entity_weight
from holdfast.store.knowledge.graph import GraphEntity, GraphRecord
from holdfast.store.protocol import Reader

# Links of one kind that a record has at most.
MAX_LINKS = 20
# An entity that more records mention links none of them.
MAX_SHARED_RECORDS = 60
# How many records before and after one are linked to it by time.
NEIGHBOURS_IN_TIME = 3
# The weight of a link is at least this; weaker ones rest on a name that many records mention.
_MIN_WEIGHT = 0.35


class LinkRule(NamedTuple):
    """Records are linked if an entity has the one role here and the other role there. `order` is -1
    if the other record must be earlier, 1 if later, 0 if it does not matter; `same_session` tells
    that both must be of one session."""

    here: MentionRole
    there: MentionRole
    strength: float
    order: int = 0
    same_session: bool = False


class Edge(NamedTuple):
    """A link as seen from one of its records: the other record, the weight, and the entity."""

    other: GraphRecord
    weight: float
    via: str


NearestLookup = Callable[[GraphRecord], list[Edge]]

_CAUSED_BY = (
    LinkRule(MentionRole.CAUSE, MentionRole.EFFECT, 1.0, -1),
    LinkRule(MentionRole.CAUSE, MentionRole.EFFECT, 0.6),
    LinkRule(MentionRole.CAUSE, MentionRole.PROBLEM, 0.6, -1),
    LinkRule(MentionRole.MENDED, MentionRole.PROBLEM, 0.7, -1, same_session=True),
)
# A thing named as a purpose is often mentioned everywhere, so across sessions the rule is weaker
# and only a rare entity passes `_MIN_WEIGHT`.
_ENABLES = (
    LinkRule(MentionRole.PURPOSE, MentionRole.ABOUT, 0.6, 1, same_session=True),
    LinkRule(MentionRole.PURPOSE, MentionRole.ABOUT, 0.5, 1),
)
_PREVENTS = (LinkRule(MentionRole.AVERTED, MentionRole.PROBLEM, 0.55, -1),)
_ENTITY = (LinkRule(MentionRole.MENTIONED, MentionRole.MENTIONED, 1.0),)


def _no_links(record: GraphRecord) -> list[Edge]:
    return []


def _reversed(rules: Sequence[LinkRule]) -> tuple[LinkRule, ...]:
    return tuple(r._replace(here=r.there, there=r.here, order=-r.order) for r in rules)


# The rules of each kind of link, and the same rules as seen from the other record.
_RULES = {
    LinkKind.CAUSED_BY: (_CAUSED_BY, _reversed(_CAUSED_BY)),
    LinkKind.CAUSES: (_reversed(_CAUSED_BY), _CAUSED_BY),
    LinkKind.ENABLES: (_ENABLES, _reversed(_ENABLES)),
    LinkKind.PREVENTS: (_PREVENTS, _reversed(_PREVENTS)),
    LinkKind.ENTITY: (_ENTITY, _ENTITY),
}


class Links:
    """The links of a bank. Caches what it computed, so make one per request."""

    def __init__(self, reader: Reader, bank: str, nearest: NearestLookup | None = None) -> None:
        """Without `nearest` there are no semantic links."""
        self._reader = reader
        self._nearest: NearestLookup = cache(nearest or _no_links)
        self._bank = bank
        self._size = reader.graph.size(bank, MAX_COUNTED)
        self._best_cached = cache(self._best_links)

    def of(self, record: GraphRecord, kind: LinkKind, most: int = MAX_LINKS) -> list[Edge]:
        """The links of one kind that a record has, the strongest first."""
        if kind is LinkKind.TEMPORAL:
            return self._temporal_links(record)
        if kind is LinkKind.SEMANTIC:
            return self._semantic_links(record, most)
        own, others = _RULES[kind]
        edges: list[Edge] = []
        for edge in self._best_cached(record, own):
            back = self._best_cached(edge.other, others)
            if any(other.other.node == record.node for other in back):
                edges.append(edge)
            if len(edges) == most:
                break
        return edges

    def all(
        self, record: GraphRecord, kinds: Sequence[LinkKind] = tuple(LinkKind)
    ) -> Iterator[Link]:
        """Every link of a record, of some kinds."""
        source = uri(record.kind, record.id)
        for kind in kinds:
            for edge in self.of(record, kind):
                target = uri(edge.other.kind, edge.other.id)
                yield Link(self._bank, source, target, kind, round(edge.weight, 4), edge.via)

    def _semantic_links(self, record: GraphRecord, most: int) -> list[Edge]:
        mutual = [
            edge
            for edge in self._nearest(record)
            if any(back.other.node == record.node for back in self._nearest(edge.other))
        ]
        return mutual[:most]

    def _temporal_links(self, record: GraphRecord) -> list[Edge]:
        """The next records in time on both sides; always symmetric."""
        if not record.time:
            return []
        around = self._reader.graph.records_around(self._bank, record, NEIGHBOURS_IN_TIME)
        return [Edge(other, 1.0, "") for other in around]

    def _best_links(self, record: GraphRecord, rules: tuple[LinkRule, ...]) -> list[Edge]:
        """The best links of a record by some rules; none for a digest, which only repeats its
        exchanges."""
        if record.kind == "digest":
            return []
        mentions = self._reader.graph.mentions_in(self._bank, [record.node])
        fit = {
            b.entity: b.roles for b in mentions if any(_has_role(b.roles, r.here) for r in rules)
        }
        shared = [
            (entity, mention)
            for entity in self._reader.graph.entities_by_number(self._bank, list(fit))
            if 1 < entity.records <= MAX_SHARED_RECORDS
            and (rules == _ENTITY or not _is_product_name(entity))
            for mention in self._reader.graph.mentions_of(
                self._bank, entity.number, MAX_SHARED_RECORDS
            )
            if mention.node != record.node
        ]
        nodes = list({mention.node for _, mention in shared})
        others = {
            p.node: p for p in self._reader.graph.records(self._bank, nodes) if p.kind != "digest"
        }
        by_record: dict[int, list[tuple[float, str]]] = {}
        for entity, mention in shared:
            if mention.node not in others:
                continue
            strength = _strength(
                fit[entity.number], mention.roles, record, others[mention.node], rules
            )
            weight = strength * entity_weight(entity.records, self._size)
            if weight >= _MIN_WEIGHT:
                by_record.setdefault(mention.node, []).append((weight, entity.name))
        edges = [
            Edge(others[node], math.fsum(weight for weight, _ in by), max(by)[1])
            for node, by in by_record.items()
        ]
        return sorted(edges, key=_rank)[:MAX_LINKS]


def _is_product_name(entity: GraphEntity) -> bool:
    """Whether an entity is a single capitalised word, such as "Windows": these are named as causes
    of many unrelated things."""
    return (
        entity.kind == EntityKind.CONCEPT and entity.name[:1].isupper() and " " not in entity.name
    )


def _rank(edge: Edge) -> tuple[float, str, str, str]:
    other = edge.other
    return -round(edge.weight, 9), other.time, other.kind, other.id


def _order(record: GraphRecord, other: GraphRecord) -> int | None:
    """1 if the other is later, -1 if earlier, 0 if both have the same time; None if one has
    none."""
    if not record.time or not other.time:
        return None
    return (other.time > record.time) - (other.time < record.time)


def _has_role(parts: MentionRole, wanted: MentionRole) -> bool:
    return not wanted or bool(parts & wanted)


def _strength(
    here: MentionRole,
    there: MentionRole,
    record: GraphRecord,
    other: GraphRecord,
    rules: Sequence[LinkRule],
) -> float:
    """The strength of the best rule that an entity's roles in two records match; 0 for none."""
    after = _order(record, other)
    near = bool(record.session) and record.session == other.session
    passed = [
        rule.strength
        for rule in rules
        if _has_role(here, rule.here)
        and _has_role(there, rule.there)
        and (not rule.order or (after is not None and after * rule.order >= 0))
        and (near or not rule.same_session)
    ]
    return max(passed, default=0.0)
