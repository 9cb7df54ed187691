"""The graph arm in a large bank: 100,000 memories that mention 20,000 entities, two hops.

Synthetic records, each with five names drawn as names are drawn (few often, many seldom), written
straight into the store. The control, in the same process and taking turns with the subject: one
full-text query of the same names over the same records.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from holdfast.model.bank import Bank
from holdfast.model.graph import Entity, EntityKind, Mention, MentionRole, Node, SpellingSource
from holdfast.model.query import Passage
from holdfast.model.trust import Trust
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.query.query import CauseDirection
from holdfast.recall.ranking.causes import follow_causes
from holdfast.recall.retrievers.graph import graph_retriever
from holdfast.store.index.passages import Match
from holdfast.store.knowledge.graph import ResolvedEntity
from holdfast.store.sqlite.store import SqliteStore

NOW = "2026-11-15T00:00:00.000Z"
BANK = "one"
RECORDS = int(os.environ.get("HOLDFAST_BENCH_RECORDS", "100000"))
ENTITIES = int(os.environ.get("HOLDFAST_BENCH_ENTITIES", "20000"))
EACH = 5
QUESTIONS = 30
LIMIT_MS = 20
_PARTS = (
    MentionRole.MENTIONED,
    MentionRole.ABOUT,
    MentionRole.CAUSE,
    MentionRole.EFFECT,
    MentionRole.PROBLEM,
    MentionRole.TOUCHED,
)


def name(number: int) -> str:
    """The name of an entity."""
    return f"Part{number}Maker"


def draw(chance: random.Random) -> int:
    """An entity, the lower its number the more frequent."""
    return int(ENTITIES ** chance.random()) % ENTITIES


def fill(store: SqliteStore) -> None:
    """A bank of so many memories."""
    chance = random.Random(5)
    with store.transaction():
        store.banks.add(Bank(BANK, BANK, NOW))
        passages: list[Passage] = []
        for n in range(RECORDS):
            drawn = {draw(chance) for _ in range(EACH - 2)} | {n % ENTITIES, (n * 7) % ENTITIES}
            time_of = f"2026-{n % 12 + 1:02}-{n % 28 + 1:02}T00:00:{n % 60:02}.000Z"
            mentions = tuple(
                Mention(
                    SpellingSource.NAME, name(e), name(e).lower(), chance.choice(_PARTS), name(e)
                )
                for e in drawn
            )
            store.graph.put_nodes(BANK, [Node("memory", f"{n:08x}", "", time_of, "h", mentions)])
            said = " ".join(name(e) for e in sorted(drawn))
            passages.append(
                Passage(BANK, "memory", f"{n:08x}", "", time_of, said, trust=Trust.USER)
            )
        store.passages.add(passages)
        spellings = store.graph.spellings(BANK)
        store.graph.put_entities(
            BANK,
            [
                ResolvedEntity(Entity(BANK, s.id, EntityKind.COMPONENT, s.text), (s.number,))
                for s in spellings
            ],
        )


def timed(ask: Callable[[str], object], question: str) -> float:
    """How long a question takes."""
    started = time.perf_counter()
    ask(question)
    return time.perf_counter() - started


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "memory.db")
        fill(store)
        chance = random.Random(9)
        drawn = [(draw(chance), chance.randrange(ENTITIES)) for _ in range(QUESTIONS)]
        questions = [f"why was {name(a)} moved to {name(b)}?" for a, b in drawn]

        def control(question: str) -> list[Match]:
            return store.passages.search(
                BANK, [w for w in question.split() if "Part" in w], (), 300
            )

        def chain(question: str) -> object:
            ranked = [Candidate(match.passage) for match in control(question)[:10]]
            return follow_causes(store, ranked, question, CauseDirection.TO_CAUSES, 3)

        cases: dict[str, Callable[[str], object]] = {
            "control": control,
            "1 hop": lambda q: graph_retriever(BANK, q, (), 1, 300).run(store),
            "2 hops": lambda q: graph_retriever(BANK, q, (), 2, 300).run(store),
            "causes, 3 links": chain,
        }
        taken: dict[str, list[float]] = {label: [] for label in cases}
        for question in questions:
            for label, ask in cases.items():
                taken[label].append(timed(ask, question))
        store.close()
    base = statistics.median(taken["control"])
    report: list[str] = []
    for label, times in taken.items():
        middle, worst = statistics.median(times), sorted(times)[int(0.95 * len(times))]
        limit = f" (limit {LIMIT_MS} ms)" if label == "2 hops" else ""
        report.append(
            f"graph: {RECORDS:,} memories, {ENTITIES:,} entities, {label}: {middle * 1000:.1f} ms, "
            f"p95 {worst * 1000:.1f} ms{limit}, {middle / base:.1f} x one full-text query"
        )
    return report
