"""Passages for a goal by their meaning as well, for a process that has a model loaded anyway."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.brief.goal import SUMMING_UP, Recall, by_words
from holdfast.model.query import Layer, Passage
from holdfast.recall.candidates import key_of
from holdfast.recall.meaning import Meaning
from holdfast.recall.terms import Terms
from holdfast.store.protocol import Reader

_NEAREST = 16
_MOST = 32
_EVERYTHING: Sequence[Layer] = ()


def by_meaning(reader: Reader, bank: str, meaning: Meaning) -> Recall:
    """What words find, and what means about the same, each with the cosine of its meaning. The
    engine would rank them; a brief only wants to meet them, and somebody waits for it."""

    def recalled(goal: str, terms: Terms) -> list[tuple[Passage, float]]:
        found: dict[Passage, float] = {}
        for layers in (_EVERYTHING, SUMMING_UP):
            for find in meaning.nearest(reader, bank, goal, _NEAREST, layers).finds:
                found[find.passage] = find.score
        others = [p for p, _ in by_words(reader, bank, terms) if p not in found]
        near = meaning.similarities(reader, goal, others)
        met = [*found.items(), *((p, near.get(key_of(p), 0.0)) for p in others)]
        return sorted(met, key=lambda one: (-one[1], one[0].time, one[0].id))[:_MOST]

    return recalled
