"""Queries about causes ("why did X break", "what did Y lead to"): from the best candidate along
causal links to records whose text does not match the query. Cycles are walked once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.model.graph import LinkKind, MentionRole
from holdfast.model.query import Passage
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.links.record_links import Edge, Links
from holdfast.recall.query.query import CauseDirection
from holdfast.recall.retrievers.graph import entities_named_in
from holdfast.store.knowledge.graph import GraphRecord
from holdfast.store.protocol import Reader

# How many of the best candidates are tried as a start, and how many links of each step.
_MAX_STARTS = 10
_MAX_EDGES = 3
# The roles in which a record must mention an entity of the query to be a start.
_ROLES_WITH_CAUSES = (
    MentionRole.EFFECT
    | MentionRole.ABOUT
    | MentionRole.TOUCHED
    | MentionRole.MENDED
    | MentionRole.PROBLEM
)
_ROLES_WITH_EFFECTS = (
    MentionRole.CAUSE | MentionRole.ABOUT | MentionRole.TOUCHED | MentionRole.PROBLEM
)


class Step(NamedTuple):
    """A record on a chain of causes: how many links from its start, and the weight of the last."""

    passage: Passage
    hop: int
    weight: float


def follow_causes(
    reader: Reader, ranked: Sequence[Candidate], query: str, direction: CauseDirection, hops: int
) -> tuple[Candidate | None, list[Step]]:
    """The chain from the best candidate that has one: that candidate, and the records of the chain,
    the candidate's own first."""
    named: dict[str, set[int]] = {}
    tried: set[tuple[str, int]] = set()
    for candidate in ranked[:_MAX_STARTS]:
        bank = candidate.passage.bank
        if bank not in named:
            named[bank] = {one.entity.number for one in entities_named_in(reader, bank, query)}
        start = _graph_record(reader, candidate.passage)
        if start is None or (bank, start.node) in tried:
            continue
        tried.add((bank, start.node))
        if not _mentions(reader, bank, start, named[bank], direction):
            continue
        steps = _walk(reader, bank, start, direction, hops)
        own = dict(reader.graph.node_passages(bank, [start.node])) if steps else {}
        if start.node in own:
            return candidate, [Step(own[start.node], 0, 1.0), *steps]
    return None, []


def _graph_record(reader: Reader, passage: Passage) -> GraphRecord | None:
    """The graph record of a passage; for a turn, that of its exchange."""
    if passage.kind != "turn":
        return reader.graph.record(passage.bank, passage.kind, passage.id)
    for exchange in reader.sessions.exchanges(passage.bank, passage.session):
        if exchange.first_seq <= passage.seq <= exchange.last_seq:
            return reader.graph.record(passage.bank, "exchange", exchange.id)
    return None


def _mentions(
    reader: Reader, bank: str, record: GraphRecord, named: set[int], direction: CauseDirection
) -> bool:
    """Whether a record mentions an entity of the query in a role that has causes, or effects."""
    to_causes = direction is CauseDirection.TO_CAUSES
    wanted = _ROLES_WITH_CAUSES if to_causes else _ROLES_WITH_EFFECTS
    mentions = reader.graph.mentions_in(bank, [record.node])
    return any(m.entity in named and m.roles & wanted for m in mentions)


def _walk(
    reader: Reader, bank: str, start: GraphRecord, direction: CauseDirection, hops: int
) -> list[Step]:
    """Follow the strongest link at each step, never to the same record twice."""
    links = Links(reader, bank)
    kind = LinkKind(direction.value)
    seen = {start.node}
    steps: list[Step] = []
    at = start
    for hop in range(1, hops + 1):
        edges = [e for e in links.of(at, kind, _MAX_EDGES) if e.other.node not in seen]
        found = _first_with_passage(reader, bank, edges)
        if found is None:
            break
        edge, passage = found
        seen.add(edge.other.node)
        steps.append(Step(passage, hop, edge.weight))
        at = edge.other
    return steps


def _first_with_passage(
    reader: Reader, bank: str, edges: Sequence[Edge]
) -> tuple[Edge, Passage] | None:
    passages = dict(reader.graph.node_passages(bank, [edge.other.node for edge in edges]))
    for edge in edges:
        if edge.other.node in passages:
            return edge, passages[edge.other.node]
    return None
