"""Recall in large banks: 100,000 passages in one, and many banks in one memory.

Synthetic passages of words drawn as words are drawn (few often, many seldom) and random vectors
of the shipped model's size, written straight into the store. Processor time. The control, in the
same process and taking turns with the subject: one exact NumPy product over the same vectors plus
one full-text query of the same words within the bank, as plain SQL, so that what the product does
to its own query changes the subject and not the control. The second
comparison: the same recall in one bank of 20,000 alone and in one of fifty banks of 20,000 each.
Where `HOLDFAST_RERANKER` names a cross-encoder, the same with it: that takes a quiet machine, for
the limits are milliseconds.
"""

from __future__ import annotations

import os
import random
import sqlite3
import statistics
import tempfile
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import numpy as np

from bench.figures import Case, Figure, Subject, clock_of_call, cpu_of_call, measure
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
from holdfast.store.sql.rows import bank_word
from holdfast.store.sqlite.store import SqliteStore

NOW = "2026-11-15T00:00:00.000Z"
ONE = int(os.environ.get("HOLDFAST_BENCH_ONE", "100000"))
BANKS = int(os.environ.get("HOLDFAST_BENCH_BANKS", "50"))
EACH = int(os.environ.get("HOLDFAST_BENCH_EACH", "20000"))
VOCABULARY = 30_000
QUESTIONS = 25
READ = 60
_FULL_TEXT = (
    "SELECT passage.* FROM (SELECT rowid, rank FROM passage_fts WHERE passage_fts MATCH ? "
    "AND rank MATCH 'bm25(0.0, 1.0, 0.4)' ORDER BY rank LIMIT 50) AS found "
    "JOIN passage ON passage.number = found.rowid"
)


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


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    report: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        make_large(home)
        store = SqliteStore(home / "memory.db")
        report += [str(figure) for figure in _one_large(home, store)]
        report += _read_across(home, store)
        store.close()
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


def make_large(home: Path) -> None:
    """A home with one bank of many passages."""
    store = SqliteStore(home / "memory.db")
    fill(store, "one", ONE, home / "vectors")
    store.close()


def figures() -> list[Figure]:
    """Recall in one large bank."""
    with tempfile.TemporaryDirectory() as folder:
        make_large(Path(folder))
        store = SqliteStore(Path(folder) / "memory.db")
        found = _one_large(Path(folder), store)
        store.close()
    return found


def _one_large(home: Path, store: SqliteStore) -> list[Figure]:
    by_all, by_words = _ways(home, store)
    held = np.concatenate(
        [
            np.frombuffer(v.data, np.float32)[None]
            for v in store.vectors.after("one", EMBEDDER_NAME, 0, ONE)
        ]
    )
    query = held[0]

    connection = sqlite3.connect(home / "memory.db")

    def control(question: str) -> object:
        words = " OR ".join(f'"{word}"' for word in question.split())
        within = f"scope : {bank_word('one')} AND {{body context}} : ({words})"
        return (held @ query).argmax(), connection.execute(_FULL_TEXT, (within,)).fetchall()

    def ask(way: Callable[[str], object]) -> Case:
        asked = questions(QUESTIONS + 10)
        return lambda: cpu_of_call(lambda: way(next(asked)))

    return measure(
        "Recall",
        "scale",
        Subject("one exact scan and one full-text query", ask(control)),
        [
            Subject(f"by words, {ONE:,} passages", ask(lambda q: by_words("one", q)), 3),
            Subject(f"by words and meaning, {ONE:,} passages", ask(lambda q: by_all("one", q)), 3),
        ],
        QUESTIONS,
    )


def questions(count: int) -> Iterator[str]:
    """So many questions, over and over."""
    chance = random.Random(7)
    return cycle([words(chance, 6, 100) for _ in range(count)])


def _read_across(home: Path, store: SqliteStore) -> list[str]:
    model = os.environ.get("HOLDFAST_RERANKER", "")
    if not model:
        return ["scale: no cross-encoder is named by HOLDFAST_RERANKER; recall with one not timed"]
    meaning = load_semantic_search(Settings(home=home, claude_dir=home, rerank_model=model))
    chance = random.Random(8)
    asked = [words(chance, 6, 100) for _ in range(READ)]
    told: list[str] = []
    for budget, limit in ((Budget.MID, 300), (Budget.HIGH, 600)):
        plan = RecallPlan(budget=budget)

        def ask(question: str, plan: RecallPlan = plan) -> object:
            return rank(store, "one", question, plan, lambda: NOW, meaning)

        ask(asked[0])
        taken = [clock_of_call(lambda q=one, ask=ask: ask(q)) for one in asked]
        cuts = statistics.quantiles(taken, n=20)
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
    asked, others = questions(QUESTIONS + 10), questions(QUESTIONS + 10)
    single, _ = _ways(home / "alone", alone)
    crowd, _ = _ways(home / "many", many)
    found = measure(
        "Recall",
        "scale",
        Subject("one such bank alone", lambda: cpu_of_call(lambda: single("b0", next(asked)))),
        [
            Subject(
                f"one of {BANKS} banks of {EACH:,}",
                lambda: cpu_of_call(lambda: crowd("b0", next(others))),
                2,
            )
        ],
        QUESTIONS,
    )
    alone.close()
    many.close()
    return [str(figure) for figure in found]


if __name__ == "__main__":
    print("\n".join(run()))
