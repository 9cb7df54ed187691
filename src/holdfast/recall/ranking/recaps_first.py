"""Puts the recap of a conversation before its fragments.

A question finds the complaint that opened a matter and the proposals that were rejected, for they
share its words. What the conversation came to is said in its recap: it goes before the turns and
exchanges of its conversation, if it is about as relevant, and before everything if a long question
is about the conversation as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.model.query import Passage
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.tuning import DEFAULT_WEIGHTS, RankingWeights
from holdfast.recall.retrievers.recaps import RecapMatch
from holdfast.store.protocol import Reader

# What is a part of a conversation.
_FRAGMENTS = ("turn", "exchange")
# The recaps that a long question is answered by.
_MAX_RECAPS = 3


def put_found_recaps_first(
    reader: Reader,
    ranked: Sequence[Candidate],
    found: Sequence[RecapMatch],
    accepts: Callable[[Passage], bool],
) -> list[Candidate]:
    """The ranking with the recaps that a question is about before everything else."""
    by_key = {candidate.key: candidate for candidate in ranked}
    best = ranked[0].score if ranked else 1.0
    first: list[Candidate] = []
    for match in found[:_MAX_RECAPS]:
        memory = match.recap.memory
        for passage in reader.passages.of_records(memory.bank, "memory", [memory.id]):
            if not accepts(passage):
                continue
            key = passage.bank, passage.kind, passage.id
            candidate = by_key.get(key) or Candidate(passage)
            candidate.notes["recap"] = round(match.score, 4)
            candidate.score = best
            first.append(candidate)
    return [*first, *(candidate for candidate in ranked if candidate not in first)]


def put_recaps_before_fragments(
    ranked: Sequence[Candidate],
    matters: Sequence[RecapMatch],
    measure: Callable[[Candidate], None],
    compared: int,
    weights: RankingWeights = DEFAULT_WEIGHTS,
) -> list[Candidate]:
    """The ranking with each recap before the turns and exchanges of its conversation that are
    hardly more relevant. `measure` notes the relevance of a candidate; the `compared` best are
    looked at."""
    matter_of = {match.recap.memory.id: match for match in matters}
    order = list(ranked[:compared])
    for recap in [c for c in order if c.passage.kind == "memory" and c.passage.id in matter_of]:
        recap.notes.setdefault("recap", 0.0)
        match = matter_of[recap.passage.id]
        measure(recap)
        for place, other in enumerate(order[: order.index(recap)]):
            p = other.passage
            if p.kind not in _FRAGMENTS or not match.is_of(p.session, p.seq):
                continue
            measure(other)
            needed = weights.authority_relevance * other.notes["relevance"]
            if recap.notes["relevance"] >= needed:
                recap.score = max(recap.score, other.score)
                order.remove(recap)
                order.insert(place, recap)
                break
    return [*order, *ranked[compared:]]
