"""Passages for a goal by their meaning, for a process that has a model loaded anyway."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.brief.goal import Recall
from holdfast.model.query import Passage
from holdfast.recall.engine import rank
from holdfast.recall.meaning import Meaning
from holdfast.recall.plan import Budget, Plan
from holdfast.store.protocol import Store

_RANKED = 40


def by_meaning(store: Store, bank: str, now: Callable[[], str], meaning: Meaning) -> Recall:
    """What recall finds with a model."""

    def recalled(goal: str) -> list[tuple[Passage, float]]:
        ranked = rank(store, bank, goal, Plan(budget=Budget.MID), now, meaning)
        return [(one.passage, one.cosine) for one in ranked.candidates[:_RANKED]]

    return recalled
