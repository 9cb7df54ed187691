"""Recall: the records that speak of a question, best first, or an honest nothing."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

from holdfast.model.query import LAYER_OF, Hit, Layer, Passage, Place, Recalled, Strategy
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.uris import uri
from holdfast.recall.relevance import FLOOR, coverage, weigh
from holdfast.recall.terms import Terms, read_terms
from holdfast.store.protocol import Match, Reader

POOL = 80
MISSES = 3

# A tool call names its words without saying anything about them.
_TOOL_PENALTY = 0.85


class _Ranked(NamedTuple):
    """A candidate: how much of the question it covers with its context, and by itself."""

    passage: Passage
    score: float
    covered: float
    alone: float
    rank: int


def recall(
    reader: Reader,
    bank: str | None,
    query: str,
    layers: Sequence[Layer] = (),
    limit: int = 10,
) -> Recalled:
    """Search a bank; `None` searches them all."""
    terms = read_terms(query)
    started = perf_counter()
    matches = reader.search(bank, terms.all, layers, max(POOL, limit * 2))
    ranked = _rank(reader, bank, terms, matches)
    spent = Strategy("direct_fts", round((perf_counter() - started) * 1000, 2), len(matches))
    good = [item for item in ranked if item.covered >= FLOOR]
    shown = good[:limit] if good else ranked[:MISSES]
    hits = tuple(_hit(reader, item) for item in shown)
    return Recalled(
        query=query,
        bank=bank or "all",
        abstained=not good,
        hits=hits if good else (),
        strategies=(spent,),
        misses=() if good else hits,
    )


def _rank(
    reader: Reader, bank: str | None, terms: Terms, matches: Sequence[Match]
) -> list[_Ranked]:
    if not matches:
        return []
    weight = weigh(reader, bank, terms.words)
    top = matches[0].score or 1.0
    ranked: list[_Ranked] = []
    seen: set[str] = set()
    for rank, (passage, score) in enumerate(matches, start=1):
        key = passage.body[:500]
        if key in seen:
            continue
        seen.add(key)
        alone = coverage(weight, passage.body)
        covered = coverage(weight, f"{passage.body} {passage.context}")
        total = 0.5 * max(score, 0.0) / top + 0.5 * covered
        if passage.kind == "turn" and "\n→ " in passage.body:
            total *= _TOOL_PENALTY
        ranked.append(_Ranked(passage, total, covered, alone, rank))
    return sorted(ranked, key=lambda item: -item.score)


def _hit(reader: Reader, item: _Ranked) -> Hit:
    passage = item.passage
    session = reader.session(passage.bank, passage.session) if passage.session else None
    return Hit(
        uri=uri(passage.kind, passage.id),
        kind=passage.kind,
        layer=LAYER_OF[passage.kind],
        score=round(item.score, 4),
        text=passage.body,
        time=passage.time,
        session=session.host if session else passage.session,
        bank=passage.bank,
        source=place_of(reader, passage),
        status=passage.status,
        trust=passage.trust,
        why={
            "direct_fts": item.rank,
            "coverage": round(item.covered, 3),
            "coverage_alone": round(item.alone, 3),
        },
    )


def place_of(reader: Reader, passage: Passage) -> Place:
    """Where a passage's raw words lie: its own line, or the first line of what it sums up."""
    if passage.kind == "commit":
        return Place(id=passage.id)
    turn = first_turn(reader, passage)
    if turn is None:
        return Place()
    source = reader.source(turn.origin.source)
    return Place(source.path if source else "", turn.origin.line, turn.origin.ref)


def first_turn(reader: Reader, passage: Passage) -> Turn | None:
    """The turn that a passage is, or starts with."""
    found = reader.find(passage.bank, passage.kind, passage.id, limit=1)
    record = found[0] if found else None
    if isinstance(record, Turn):
        return record
    first = record.first_seq if isinstance(record, Exchange) else 1
    if not isinstance(record, Exchange | Digest):
        return None
    turns = reader.turns(record.bank, record.session, first, first)
    return turns[0] if turns else None
