"""Passages for a goal by their semantic as well, for a process that has a model loaded anyway."""

from __future__ import annotations

from holdfast.brief.goal_brief import PassageSearch, search_by_words
from holdfast.model.query import Passage
from holdfast.recall.core.candidates import passage_key
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.recall.query.terms import Terms
from holdfast.store.protocol import Reader

_MAX_NEAREST = 24
_MAX_PASSAGES = 32


def search_by_meaning(reader: Reader, bank: str, semantic: SemanticSearch) -> PassageSearch:
    """What words find, and what means about the same, each with the cosine of its semantic. The
    engine would rank them; a brief only wants to meet them, and somebody waits for it."""

    def search(goal: str, terms: Terms) -> list[tuple[Passage, float]]:
        nearest = semantic.nearest(reader, bank, goal, _MAX_NEAREST)
        found = {find.passage: find.score for find in nearest.passages}
        others = [p for p, _ in search_by_words(reader, bank, terms) if p not in found]
        cosines = semantic.similarities(reader, goal, others)
        passages = [*found.items(), *((p, cosines.get(passage_key(p), 0.0)) for p in others)]
        return sorted(passages, key=lambda one: (-one[1], one[0].time, one[0].id))[:_MAX_PASSAGES]

    return search
