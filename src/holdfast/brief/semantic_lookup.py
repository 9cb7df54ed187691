"""Passages for a goal by their meaning as well, for a process that has a model loaded anyway."""

from __future__ import annotations

from holdfast.brief.goal_brief import PassageSearch, search_by_words
from holdfast.model.query import Passage
from holdfast.recall.core.candidates import passage_key
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.recall.query.terms import Terms
from holdfast.store.protocol import Reader

_NEAREST = 24
_MOST = 32


def search_by_meaning(reader: Reader, bank: str, meaning: SemanticSearch) -> PassageSearch:
    """What words find, and what means about the same, each with the cosine of its meaning. The
    engine would rank them; a brief only wants to meet them, and somebody waits for it."""

    def recalled(goal: str, terms: Terms) -> list[tuple[Passage, float]]:
        nearest = meaning.nearest(reader, bank, goal, _NEAREST)
        found = {find.passage: find.score for find in nearest.passages}
        others = [p for p, _ in search_by_words(reader, bank, terms) if p not in found]
        near = meaning.similarities(reader, goal, others)
        met = [*found.items(), *((p, near.get(passage_key(p), 0.0)) for p in others)]
        return sorted(met, key=lambda one: (-one[1], one[0].time, one[0].id))[:_MOST]

    return recalled
