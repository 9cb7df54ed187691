"""Recall in large banks: 100,000 passages in one, and many banks in one memory.

Synthetic passages of words drawn as words are drawn (few often, many seldom) and random vectors
of the shipped model's size, written straight into the store. The control, in the same process
and taking turns with the subject: one exact NumPy product over the same vectors plus one
full-text query of the same words. The second comparison: the same recall in one bank of 20,000
alone and in one of fifty banks of 20,000 each. Where `HOLDFAST_RERANKER` names a cross-encoder, the
same with it: that takes a quiet machine, for the limits are milliseconds.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from holdfast.app.core.models import load_semantic_search
from holdfast.inference.packaged import EMBEDDER_DIMENSION, EMBEDDER_NAME
from holdfast.model.bank import Bank
from holdfast.model.query import Passage
from holdfast.model.records import Session
from holdfast.model.trust import Trust
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.engine import rank
from holdfast.recall.retrievers.vector_matrix import VectorMatrix
from holdfast.settings import Settings
from holdfast.store.sqlite.store import SqliteStore

NOW = "2026-11-15T00:00:00.000Z"
ONE = int(os.environ.get("HOLDFAST_BENCH_ONE", "100000"))
BANKS = int(os.environ.get("HOLDFAST_BENCH_BANKS", "50"))
EACH = int(os.environ.get("HOLDFAST_BENCH_EACH", "20000"))
ROUNDS = 25
VOCABULARY = 30_000
QUESTIONS = 25
READ = 60


def words(chance: random.Random, count: int, rarest: int = 1) -> str:
    """So many words, the lower its number the more frequent; questions leave out the most
    frequent, as they leave out "the" and "of"."""
    numbers = (int(rarest * (VOCABULARY / rarest) ** chance.random()) for _ in range(count))
    return " ".join(f"w{number}x" for number in numbers)


def passages(bank: str, count: int, chance: random.Random) -> Iterator[Passage]:
    """Turns of forty words, twenty to a session."""
    for n in range(count):
        session = f"{bank}-{n // 20}"
        body = words(chance, 40)
        yield Passage(
            bank, "turn", f"{bank}{n:08x}", session, NOW, body, words(chance, 15), Trust.USER,
            role="user", seq=n % 20 + 1, hash=f"h{bank}{n:08x}",
        )  # fmt: skip


def fill(store: SqliteStore, bank: str, count: int, folder: Path) -> None:
    """A bank of so many passages, each with a vector."""
    chance = random.Random(bank)
    generator = np.random.default_rng(len(bank) + count)
    made = list(passages(bank, count, chance))
    with store.transaction():
        store.banks.add(Bank(bank, bank, NOW))
        for session in dict.fromkeys(p.session for p in made):
            store.sessions.add(Session(bank, session, session, "bench"))
        for start in range(0, len(made), 5000):
            some = made[start : start + 5000]
            store.derived.put(bank, "", some)
            vectors = generator.standard_normal((len(some), EMBEDDER_DIMENSION)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            rows = [(p.hash, 0, v.tobytes()) for p, v in zip(some, vectors, strict=True)]
            store.vectors.put(bank, EMBEDDER_NAME, rows)
    VectorMatrix(folder, bank, EMBEDDER_NAME, EMBEDDER_DIMENSION).refresh(store)


def median(ask: Callable[[str], object], questions: list[str]) -> list[float]:
    """The times of a way to ask, over all questions."""
    taken: list[float] = []
    for question in questions:
        started = time.perf_counter()
        ask(question)
        taken.append(time.perf_counter() - started)
    return taken


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    report: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        report += _one_large(Path(folder) / "one")
    with tempfile.TemporaryDirectory() as folder:
        report += _many(Path(folder) / "many")
    return report


def _ways(home: Path, store: SqliteStore) -> tuple[Callable[[str, str], object], ...]:
    meaning = load_semantic_search(Settings(home=home, claude_dir=home))
    plan = RecallPlan(budget=Budget.MID)

    def by_all(bank: str, question: str) -> object:
        return rank(store, bank, question, plan, lambda: NOW, meaning)

    def by_words(bank: str, question: str) -> object:
        return rank(store, bank, question, plan._replace(budget=Budget.LOW), lambda: NOW)

    return by_all, by_words


def _one_large(home: Path) -> list[str]:
    store = SqliteStore(home / "memory.db")
    fill(store, "one", ONE, home / "vectors")
    chance = random.Random(7)
    questions = [words(chance, 6, 100) for _ in range(QUESTIONS)]
    by_all, by_words = _ways(home, store)
    held = np.concatenate(
        [
            np.frombuffer(v.data, np.float32)[None]
            for v in store.vectors.after("one", EMBEDDER_NAME, 0, ONE)
        ]
    )
    query = held[0]

    def control(question: str) -> object:
        return (held @ query).argmax(), store.passages.search("one", question.split(), (), 50)

    cases: dict[str, Callable[[str], object]] = {
        "control": control,
        "words": lambda question: by_words("one", question),
        "words and meaning": lambda question: by_all("one", question),
    }
    for ask in cases.values():
        ask(questions[0])
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for question in questions:
        for name, ask in cases.items():
            taken[name] += median(ask, [question])
    read = _read_across(home, store)
    store.close()
    base = statistics.median(taken["control"])
    return [
        f"scale: {ONE:,} passages in one bank, {name}: {statistics.median(times) * 1000:.0f} ms, "
        f"{statistics.median(times) / base:.1f} x one scan and one full-text query (limit 3)"
        for name, times in taken.items()
    ] + read


def _read_across(home: Path, store: SqliteStore) -> list[str]:
    model = os.environ.get("HOLDFAST_RERANKER", "")
    if not model:
        return ["scale: no cross-encoder is named by HOLDFAST_RERANKER; recall with one not timed"]
    meaning = load_semantic_search(Settings(home=home, claude_dir=home, rerank_model=model))
    chance = random.Random(8)
    questions = [words(chance, 6, 100) for _ in range(READ)]
    told: list[str] = []
    for budget, limit in ((Budget.MID, 300), (Budget.HIGH, 600)):
        plan = RecallPlan(budget=budget)

        def ask(question: str, plan: RecallPlan = plan) -> object:
            return rank(store, "one", question, plan, lambda: NOW, meaning)

        ask(questions[0])
        cuts = statistics.quantiles(median(ask, questions), n=20)
        told.append(
            f"scale: {ONE:,} passages in one bank, a cross-encoder over "
            f"{plan.limits.rerank_depth}: {cuts[9] * 1000:.0f} ms, "
            f"p95 {cuts[18] * 1000:.0f} ms (limit {limit})"
        )
    return told


def _many(home: Path) -> list[str]:
    alone = SqliteStore(home / "alone" / "memory.db")
    fill(alone, "b0", EACH, home / "alone" / "vectors")
    many = SqliteStore(home / "many" / "memory.db")
    for n in range(BANKS):
        fill(many, f"b{n}", EACH, home / "many" / "vectors")
    chance = random.Random(7)
    questions = [words(chance, 6, 100) for _ in range(QUESTIONS)]
    single, _ = _ways(home / "alone", alone)
    crowd, _ = _ways(home / "many", many)
    single("b0", questions[0])
    crowd("b0", questions[0])
    one: list[float] = []
    other: list[float] = []
    for question in questions:
        one += median(lambda q: single("b0", q), [question])
        other += median(lambda q: crowd("b0", q), [question])
    alone.close()
    many.close()
    return [
        f"scale: {BANKS} banks of {EACH:,}: {statistics.median(other) * 1000:.0f} ms, "
        f"{statistics.median(other) / statistics.median(one):.2f} x one such bank alone (limit 2)"
    ]


if __name__ == "__main__":
    print("\n".join(run()))
