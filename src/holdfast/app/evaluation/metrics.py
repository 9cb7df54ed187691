"""The measures, as pure functions of a ranking and the expected (gold) records.

A measure is `None`, not zero, if no question allows it to be computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

MEASURES = (
    "recall@5",
    "recall@10",
    "recall@20",
    "all@10",
    "mrr",
    "session_hit@1",
    "session_hit@5",
    "session_mrr",
    "abstention_precision",
    "abstention_recall",
)

Measures = dict[str, float | None]


class Judged(NamedTuple):
    """One question: what should have been found, and the ranking, best first."""

    gold: frozenset[str]
    gold_sessions: frozenset[str]
    unanswerable: bool
    ids: Sequence[str]
    sessions: Sequence[str]
    abstained: bool


def first(ranked: Iterable[str], count: int) -> list[str]:
    """The first `count` distinct entries."""
    return list(dict.fromkeys(ranked))[:count]


def recall_at(count: int, ranked: Sequence[str], gold: Set[str]) -> float:
    """The share of the gold that is among the first distinct entries."""
    return len(gold & set(first(ranked, count))) / len(gold)


def all_at(count: int, ranked: Sequence[str], gold: Set[str]) -> float:
    """1 if the whole gold is among the first distinct entries, else 0."""
    return float(gold <= set(first(ranked, count)))


def hit_at(count: int, ranked: Sequence[str], gold: Set[str]) -> float:
    """1 if any of the gold is among the first distinct entries, else 0."""
    return float(not gold.isdisjoint(first(ranked, count)))


def reciprocal_rank(ranked: Sequence[str], gold: Set[str]) -> float:
    """One over the rank of the first gold entry; 0 if there is none."""
    ranks = enumerate(dict.fromkeys(ranked), start=1)
    return next((1 / rank for rank, entry in ranks if entry in gold), 0.0)


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are not None."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def standard_error(values: Sequence[float]) -> float | None:
    """The standard error of the mean, with the values taken as independent."""
    average = mean(values)
    if average is None or len(values) < 2:
        return None
    variance = math.fsum((value - average) ** 2 for value in values) / (len(values) - 1)
    return math.sqrt(variance / len(values))


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of all values does not exceed."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def standard_errors(judged: Iterable[Judged]) -> Measures:
    """The standard errors of the two main measures."""
    questions = list(judged)
    turns = [recall_at(10, one.ids, one.gold) for one in questions if has_gold(one)]
    sessions = [
        hit_at(5, one.sessions, one.gold_sessions) for one in questions if has_sessions(one)
    ]
    return {"recall@10": standard_error(turns), "session_hit@5": standard_error(sessions)}


def has_gold(one: Judged) -> bool:
    """Whether the ranking of turns can be measured for this question."""
    return bool(one.gold) and not one.unanswerable


def has_sessions(one: Judged) -> bool:
    """Whether the ranking of sessions can be measured for this question."""
    return bool(one.gold_sessions) and not one.unanswerable


def measure(judged: Sequence[Judged]) -> Measures:
    """All measures over the questions."""
    turns = [one for one in judged if has_gold(one)]
    sessions = [one for one in judged if has_sessions(one)]
    return {
        "recall@5": mean(recall_at(5, one.ids, one.gold) for one in turns),
        "recall@10": mean(recall_at(10, one.ids, one.gold) for one in turns),
        "recall@20": mean(recall_at(20, one.ids, one.gold) for one in turns),
        "all@10": mean(all_at(10, one.ids, one.gold) for one in turns),
        "mrr": mean(reciprocal_rank(one.ids, one.gold) for one in turns),
        "session_hit@1": mean(hit_at(1, one.sessions, one.gold_sessions) for one in sessions),
        "session_hit@5": mean(hit_at(5, one.sessions, one.gold_sessions) for one in sessions),
        "session_mrr": mean(reciprocal_rank(one.sessions, one.gold_sessions) for one in sessions),
        "abstention_precision": mean(float(one.unanswerable) for one in judged if one.abstained),
        "abstention_recall": mean(float(one.abstained) for one in judged if one.unanswerable),
    }


def mean_of_groups(groups: Mapping[str, Measures]) -> Measures:
    """The mean of each measure over the groups that have it; every group has the same weight."""
    return {name: mean(group[name] for group in groups.values()) for name in MEASURES}
