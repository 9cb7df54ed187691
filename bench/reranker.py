"""What the shipped cross-encoder is worth, and what it takes.

Whole recalls through the product on the three dev sets, at budget mid (the best 20 are read) and
high (50), without it and with it: recall@10 and MRR, of turns where the set names turns, else of
sessions, and the time of a recall. Wants the sets in $HOLDFAST_BENCH_DATA. A set takes its time to
embed, so not every question is asked: $HOLDFAST_BENCH_QUESTIONS of each set (100 unless told; 0
for all), evenly over the file; and $HOLDFAST_BENCH_HOMES, a folder, keeps what was embedded.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.corpus import data_folder, unpacked
from holdfast.app.evaluation.asking import Ranking, ask_all, percentile, recall_at, reciprocal_rank
from holdfast.app.evaluation.sets import (
    Question,
    load_set,
    neutral_settings,
    read_set,
    sample_evenly,
)
from holdfast.app.memory import open_memory
from holdfast.recall.core.plan import BUDGET_LIMITS, Budget, RecallPlan
from holdfast.settings import NO_MODEL, SHIPPED, load_settings

SETS = ("locomo", "beam-100k", "archaeology")
QUESTIONS = 100
LIMITS_MS = {Budget.MID: 300, Budget.HIGH: 600}


class Figures(NamedTuple):
    """Of one set at one budget."""

    recall: float
    mrr: float
    p50: float
    p95: float
    # Recalls in which the cross-encoder failed or was too slow.
    absent: int


def run() -> Iterator[str]:
    """Measure; gives the lines of a report as they are known."""
    for name in SETS:
        archive = f"eval/{name}.tar.xz"
        with unpacked(archive) as folder:
            if folder is None:
                yield f"reranker: {name}: skipped, {archive} is not in {data_folder()}"
                continue
            kept = os.environ.get("HOLDFAST_BENCH_HOMES")
            with TemporaryDirectory(prefix="holdfast-bench-") as temporary:
                yield from _measure(name, folder, Path(kept or temporary) / name)


def _measure(name: str, folder: Path, home: Path) -> Iterator[str]:
    count = int(os.environ.get("HOLDFAST_BENCH_QUESTIONS", QUESTIONS)) or None
    wanted = read_set(folder)
    questions = [q for q in sample_evenly(wanted.questions, count) if not q.unanswerable]
    settings = neutral_settings(load_settings(), home)
    if not home.is_dir():
        with open_memory(settings) as memory:
            load_set(memory, wanted, with_vectors=True)
    for budget, limit in LIMITS_MS.items():
        plan = RecallPlan(budget=budget)
        found: dict[str, Figures] = {}
        for model in (NO_MODEL, SHIPPED):
            with open_memory(replace(settings, rerank_model=model)) as memory:
                # The first search loads the models.
                memory.search.rank(questions[0].text, questions[0].bank, plan)
                rankings = ask_all(
                    memory, questions, plan, lambda done, total: None, lambda name, ranking: None
                )
            found[model] = _figures(questions, rankings)
        plain, read = found[NO_MODEL], found[SHIPPED]
        yield (
            f"reranker: {name}: {len(questions)} questions, budget {budget}, the best "
            f"{BUDGET_LIMITS[budget].rerank_depth} read: recall@10 {plain.recall:.3f} -> "
            f"{read.recall:.3f}, MRR {plain.mrr:.3f} -> {read.mrr:.3f}; a recall p50 "
            f"{plain.p50:.0f} -> {read.p50:.0f} ms, p95 {plain.p95:.0f} -> {read.p95:.0f} "
            f"(limit {limit}); {read.absent} too late"
        )


def _figures(questions: Sequence[Question], rankings: Sequence[Ranking]) -> Figures:
    recalls, ranks = zip(*map(_scores, questions, rankings), strict=True)
    times_ms = [ranking.ms for ranking in rankings]
    p50, p95 = percentile(times_ms, 0.5), percentile(times_ms, 0.95)
    assert p50 is not None and p95 is not None
    absent = sum(bool(ranking.absent) for ranking in rankings)
    return Figures(statistics.fmean(recalls), statistics.fmean(ranks), p50, p95, absent)


def _scores(question: Question, ranking: Ranking) -> tuple[float, float]:
    gold = question.gold or question.gold_sessions
    ranked = ranking.ids if question.gold else ranking.sessions
    return recall_at(10, ranked, gold), reciprocal_rank(ranked, gold)


if __name__ == "__main__":
    for line in run():
        print(line, flush=True)
