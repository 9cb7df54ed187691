"""Concepts of a large bank: 20,000 exchanges told anew, against deriving so many once.

Synthetic exchanges of 400 topics, each with its own files and words, and words that all share. The
control, in the same process: making the searchable passage and the labels' stems of every one of
them, which any bank pays for each exchange it derives. Also told: what it adds to the memory of the
process, and what a second run writes where nothing changed.
"""

from __future__ import annotations

import os
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from holdfast.model.bank import Bank
from holdfast.model.records import Exchange, ExchangeType, Outcome, Session
from holdfast.model.trust import Trust
from holdfast.refine.concepts.concept_stage import build_concepts, update_bank_concepts
from holdfast.refine.core.passages import exchange_passage
from holdfast.store.sqlite.store import SqliteStore

COUNT = int(os.environ.get("HOLDFAST_BENCH_EXCHANGES", "20000"))
TOPICS = 400
NOW = "2026-11-15T00:00:00.000Z"
BANK = "benchbank"


def folder_name(topic: int) -> str:
    """A name for a topic, of letters only: concepts are named after folders that titles name."""
    return "quay" + "".join(chr(ord("a") + int(digit)) for digit in str(topic))


def exchanges(count: int) -> Iterator[Exchange]:
    """So many exchanges, ten to a session, a session about one or two topics."""
    chance = random.Random(7)
    shared = [f"common{n}" for n in range(300)]
    topics = [[f"topic{t}word{w}" for w in range(12)] for t in range(TOPICS)]
    for n in range(count):
        topic = (n // 10) % TOPICS if n % 10 < 7 else (n // 10 + 1) % TOPICS
        told = chance.sample(topics[topic], 5) + chance.sample(shared, 3)
        folder = f"src/{folder_name(topic)}"
        files = [f"{folder}/part{chance.randrange(9)}.py" for _ in range(3)] + ["README.md"]
        day = f"2026-{1 + n * 10 // count:02}-{1 + n % 28:02}"
        time_ = f"{day}T{n % 24:02}:{n % 60:02}:00.000Z"
        yield Exchange(
            BANK, f"{n:016x}", f"s{n // 10}", n % 10 * 8 + 1, n % 10 * 8 + 8, time_, time_,
            ExchangeType.CHANGE,
            f"Change {folder_name(topic)}: {told[0]} for {told[2]} of {told[5]}",
            f"The {told[3]} now follows {told[4]}, and {told[6]} is as it was.", "", Outcome.DONE,
            Trust.TOOL, (), tuple(told), (), tuple(dict.fromkeys(files)),
        )  # fmt: skip


def run() -> Iterator[str]:
    """The measurement."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "memory.db")
        made = list(exchanges(COUNT))
        with store.transaction():
            store.banks.add(Bank(BANK, "bench", NOW))
            for number in range(0, COUNT, 10):
                store.sessions.add(Session(BANK, f"s{number // 10}", f"h{number}", "claude-code"))
                store.derived.put(BANK, f"s{number // 10}", made[number : number + 10])
        control = time.process_time()
        passages = [exchange_passage(exchange) for exchange in store.sessions.bank_exchanges(BANK)]
        control = time.process_time() - control
        del made, passages
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        spent = time.process_time()
        concepts = build_concepts(store, BANK)
        spent = time.process_time() - spent
        added = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        update_bank_concepts(store, BANK)
        with store.transaction():
            store.progress.mark_changed(BANK, "")
        again = update_bank_concepts(store, BANK)
        largest = max(len(one.concept.members) for one in concepts)
        store.close()
    yield (
        f"concepts: {COUNT} exchanges in {spent:.1f} s of the processor, {spent / control:.1f} x "
        f"making their passages; {len(concepts)} concepts, the largest of {largest}; "
        f"{added:.0f} MB more; {again} written when nothing changed"
    )


if __name__ == "__main__":
    for line in run():
        print(line)
