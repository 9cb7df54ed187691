"""What the cross-encoder of the settings is worth, and what it takes.

Its own recipe (`bench.recipe`) on the three dev sets, first stage alone and with the cross-encoder
over the best 50: recall@10 and MRR, of turns where the set names turns, else of sessions. Then its
time over 20 and over 50 texts, cut as the product cuts them. Wants $HOLDFAST_RERANKER and the sets
in $HOLDFAST_BENCH_DATA. A set takes its time to embed, so not every question is asked:
$HOLDFAST_BENCH_QUESTIONS of each set (100 unless told; 0 for all), evenly over the file.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.corpus import data_folder, unpacked
from bench.recipe import DEPTH, Units, in_order, units_of
from holdfast.app.evaluation.engine import load_set
from holdfast.app.evaluation.home import open_home
from holdfast.app.evaluation.metrics import percentile, recall_at, reciprocal_rank
from holdfast.app.evaluation.sets import Question, read_set, sample_evenly
from holdfast.errors import HoldfastError
from holdfast.inference.embedder import Embedder
from holdfast.inference.model_choice import choose_embedder, choose_reranker
from holdfast.inference.reranker import Reranker
from holdfast.settings import Settings, load_settings

SETS = ("locomo", "beam-100k", "archaeology")
QUESTIONS = 100
LIMITS_MS = {20: 300, 50: 600}
_READ = 800
_TIMED = 36


class Figures(NamedTuple):
    """Of each question: recall@10 and one over the first place, before and after."""

    before: list[tuple[float, float]]
    after: list[tuple[float, float]]
    ms: dict[int, list[float]]


def run() -> Iterator[str]:
    """Measure; gives the lines of a report as they are known."""
    settings = load_settings()
    try:
        reranker = choose_reranker(settings)
    except HoldfastError as error:
        yield f"reranker: skipped: {error.message}"
        return
    if reranker is None:
        yield "reranker: skipped, no cross-encoder is chosen (HOLDFAST_RERANKER)"
        return
    embedder = choose_embedder(Settings(settings.home, settings.claude_dir), os.cpu_count() or 1)
    assert embedder is not None
    for name in SETS:
        archive = f"eval/{name}.tar.xz"
        with unpacked(archive) as folder:
            if folder is None:
                yield f"reranker: {name}: skipped, {archive} is not in {data_folder()}"
                continue
            found = measure(folder, settings, embedder, reranker)
        yield from _lines(name, found)


def measure(folder: Path, settings: Settings, embedder: Embedder, reranker: Reranker) -> Figures:
    """Ask one set."""
    wanted = read_set(folder)
    count = int(os.environ.get("HOLDFAST_BENCH_QUESTIONS", QUESTIONS)) or None
    asked = [q for q in sample_evenly(wanted.questions, count) if not q.unanswerable]
    found = Figures([], [], {depth: [] for depth in LIMITS_MS})
    with open_home(settings, folder, None) as memory:
        load_set(memory, folder)
        for bank in sorted({question.bank for question in asked}):
            units = Units(units_of(memory, bank), embedder)
            for question in [q for q in asked if q.bank == bank]:
                _ask(units, question, reranker, found)
    return found


def _ask(units: Units, question: Question, reranker: Reranker, found: Figures) -> None:
    first = units.first_stage(question.text)
    found.before.append(_figures(question, *units.ranked(first)))
    second = units.reranked(question.text, first, reranker)
    found.after.append(_figures(question, *units.ranked(second)))
    texts = [units.units[n].placed[:_READ] for n in in_order(first)[:DEPTH]]
    for depth, times in found.ms.items():
        if len(times) >= _TIMED:
            continue
        started = time.perf_counter()
        reranker.score(question.text, texts[:depth])
        times.append((time.perf_counter() - started) * 1000)


def _figures(
    question: Question, turns: Sequence[str], sessions: Sequence[str]
) -> tuple[float, float]:
    gold = question.gold or question.gold_sessions
    ranked = turns if question.gold else sessions
    return recall_at(10, ranked, gold), reciprocal_rank(ranked, gold)


def _lines(name: str, found: Figures) -> Iterator[str]:
    for label, figures in (("first stage", found.before), (f"over {DEPTH}", found.after)):
        recall, mrr = (statistics.fmean(column) for column in zip(*figures, strict=True))
        yield (
            f"reranker: {name}: {len(figures)} questions, {label}: "
            f"recall@10 {recall:.3f}, MRR {mrr:.3f}"
        )
    for depth, times in found.ms.items():
        p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
        yield (
            f"reranker: {name}: {depth} texts: p50 {p50:.0f} ms, p95 {p95:.0f} ms "
            f"(limit {LIMITS_MS[depth]} on a quiet machine, the whole recall)"
        )


if __name__ == "__main__":
    for line in run():
        print(line, flush=True)
