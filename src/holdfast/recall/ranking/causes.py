"""Questions about causes: from the record that speaks of what was asked, along what it is put down
to, to an answer that neither text alone contains. A circle of causes is walked once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from holdfast.model.graph import LinkKind, MentionRole
from holdfast.model.query import Passage
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.links.links import Edge, Links
from holdfast.recall.retrievers.graph import entities_named_in
from holdfast.regex import regex
from holdfast.store.protocol import Reader
from holdfast.store.protocol.graph import GraphRecord

_READ = 2000
_FORTH = regex(
    r"\b(?:what (?:did|does|do|has|have|will|would) .{2,80}?\b(?:lead to|led to|cause|caused|break|"
    r"broken|trigger|triggered|result(?:ed)? in|enable|enabled|prevent|prevented)\b|"
    r"what (?:happened|broke|changed|failed|came) (?:because of|due to|of|as a result of)|"
    r"(?:consequences?|effects?|results?) of)",
    re.IGNORECASE,
)
_BACK = regex(
    r"\b(?:why|how come|reasons?|what (?:caused|causes|led to|made|broke|triggered)|"
    r"(?:root )?causes? (?:of|for)|because of what)\b",
    re.IGNORECASE,
)
_STARTS = 10
_NEXT = 3
_SPEAKS = (
    MentionRole.EFFECT
    | MentionRole.ABOUT
    | MentionRole.TOUCHED
    | MentionRole.MENDED
    | MentionRole.PROBLEM
)
_BLAMED = MentionRole.CAUSE | MentionRole.ABOUT | MentionRole.TOUCHED | MentionRole.PROBLEM


class CauseDirection(StrEnum):
    """Which way a question looks."""

    BACK = "caused_by"
    FORTH = "causes"


class Step(NamedTuple):
    """A record on the way: how many links from where it began, and the last one's name."""

    bank: str
    place: GraphRecord
    hop: int
    weight: float
    passage: Passage


def cause_direction(question: str) -> CauseDirection | None:
    """Whether a question asks for causes, or for what came of something."""
    asked = question[:_READ]
    if _FORTH.search(asked):
        return CauseDirection.FORTH
    return CauseDirection.BACK if _BACK.search(asked) else None


def follow_causes(
    reader: Reader, ranked: Sequence[Candidate], question: str, way: CauseDirection, hops: int
) -> tuple[Candidate | None, list[Step]]:
    """The way from the best candidate that leads anywhere: that candidate, and the records on it,
    from the one that it stands in on."""
    named: dict[str, set[int]] = {}
    tried: set[tuple[str, int]] = set()
    for candidate in ranked[:_STARTS]:
        bank = candidate.passage.bank
        if bank not in named:
            named[bank] = {one.entity.number for one in entities_named_in(reader, bank, question)}
        place = _place(reader, candidate.passage)
        if place is None or (bank, place.node) in tried:
            continue
        tried.add((bank, place.node))
        if not _speaks_of(reader, bank, place, named[bank], way):
            continue
        steps = _walk(reader, bank, place, way, hops)
        shown = dict(reader.node_passages(bank, [place.node])) if steps else {}
        if place.node in shown:
            return candidate, [Step(bank, place, 0, 1.0, shown[place.node]), *steps]
    return None, []


def _place(reader: Reader, passage: Passage) -> GraphRecord | None:
    """Where a passage is in the graph: a turn by the exchange it stands in."""
    if passage.kind != "turn":
        return reader.graph_record(passage.bank, passage.kind, passage.id)
    for exchange in reader.exchanges(passage.bank, passage.session):
        if exchange.first_seq <= passage.seq <= exchange.last_seq:
            return reader.graph_record(passage.bank, "exchange", exchange.id)
    return None


def _speaks_of(
    reader: Reader, bank: str, place: GraphRecord, named: set[int], way: CauseDirection
) -> bool:
    """Whether a record tells what came of a thing that the question names, or what it did."""
    wanted = _SPEAKS if way is CauseDirection.BACK else _BLAMED
    bonds = reader.mentions_in(bank, [place.node])
    return any(bond.entity in named and bond.parts & wanted for bond in bonds)


def _walk(
    reader: Reader, bank: str, start: GraphRecord, way: CauseDirection, hops: int
) -> list[Step]:
    """One way, the firmest link first; never twice over the same record, nor back into the same
    words."""
    links = Links(reader, bank)
    seen = {start.node}
    steps: list[Step] = []
    at = start
    for hop in range(1, hops + 1):
        edges = [e for e in links.of(at, LinkKind(way.value), _NEXT) if e.other.node not in seen]
        found = _shown(reader, bank, edges)
        if found is None:
            break
        edge, passage = found
        seen.add(edge.other.node)
        steps.append(Step(bank, edge.other, hop, edge.weight, passage))
        at = edge.other
    return steps


def _shown(reader: Reader, bank: str, edges: Sequence[Edge]) -> tuple[Edge, Passage] | None:
    passages = dict(reader.node_passages(bank, [edge.other.node for edge in edges]))
    for edge in edges:
        if edge.other.node in passages:
            return edge, passages[edge.other.node]
    return None
