"""Passages for a goal brief by meaning as well, for a process that has a model loaded anyway."""

from __future__ import annotations

from holdfast.brief.goal_brief import PassageSearch, search_by_words
from holdfast.model.query import Passage
from holdfast.recall.core.candidates import passage_key
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.recall.query.terms import Terms
from holdfast.store.protocol import Reader

# Nearest passages that are asked for, and passages returned with those found by words. A hook waits
# for the brief, and each passage must be read.
_MAX_NEAREST = 24
_MAX_PASSAGES = 32


def search_by_meaning(reader: Reader, bank: str, semantic: SemanticSearch) -> PassageSearch:
    """A search by words and by meaning that returns each passage with its cosine. The engine is not
    used: a brief needs no ranking, and a hook waits for it."""

    def search(goal: str, terms: Terms) -> list[tuple[Passage, float]]:
        nearest = semantic.nearest(reader, bank, goal, _MAX_NEAREST)
        found = {scored.passage: scored.score for scored in nearest.passages}
        others = [p for p, _ in search_by_words(reader, bank, terms) if p not in found]
        cosines = semantic.similarities(reader, goal, others)
        passages = [*found.items(), *((p, cosines.get(passage_key(p), 0.0)) for p in others)]
        return sorted(passages, key=lambda one: (-one[1], one[0].time, one[0].id))[:_MAX_PASSAGES]

    return search
