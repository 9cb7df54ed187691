"""Retaining without a model: exchanges a second, and what share of the time reading turns takes.

CPU time of one process over real sessions, from exchanges and turns in the store to memories that
can be found; the control only reads the same turns.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from bench.corpus import real_transcripts
from holdfast.app.memory import Holdfast
from holdfast.refine.memories.memory_stage import update_memories
from holdfast.settings import Settings

LEAST = 300


def control(memory: Holdfast) -> tuple[float, int]:
    """Only read every exchange with its turns; the time, and how many exchanges there are."""
    started = time.process_time()
    count = 0
    for session in memory.store.sessions.latest(None, 1_000_000):
        for x in memory.store.sessions.exchanges(session.bank, session.id):
            memory.store.turns.of_session(x.bank, x.session, x.first_seq, x.last_seq)
            count += 1
    return time.process_time() - started, count


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    with real_transcripts() as files, tempfile.TemporaryDirectory() as place:
        if files is None:
            return ["retain: skipped, eval/archaeology.tar.xz is not here"]
        home = Path(place)
        with Holdfast(Settings(home=home, claude_dir=home, embed_model="none")) as memory:
            memory.ingestion.ingest(memory.ingestion.find(files), then_know=False)
            reading, count = control(memory)
            started = time.process_time()
            update_memories(memory.store)
            spent = time.process_time() - started
            kept = memory.inventory.counts().retained
    return [
        f"retain: {count} exchanges, {kept} memories in {spent:.2f} s: {count / spent:.0f}/s "
        f"(limit {LEAST}); reading the turns alone {reading:.2f} s; load {os.getloadavg()[0]:.1f}"
    ]


if __name__ == "__main__":
    print("\n".join(run()))
