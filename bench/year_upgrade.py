"""An upgrade in the middle of `bench.year`: all that is derived is derived again, while the memory
is asked.

The months before it run as a release whose stages, rules and prepared briefs have lower versions.
The rules themselves are the same, so that every record must be there again afterwards. A new
version of the schema, which a release may bring, is not part of it.
"""

from __future__ import annotations

import importlib
import json
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench import year_plants
from bench.year_measures import children_cpu
from holdfast.app.background.rebuild import rebuild_by_rules
from holdfast.app.background.worker import WorkerOptions, run_worker
from holdfast.app.ingest import stages
from holdfast.app.memory import Holdfast
from holdfast.settings import Settings

_STAGE_MODULES = (
    "holdfast.refine.facts.fact_stage",
    "holdfast.refine.rules.pattern_stage",
    "holdfast.refine.memories.memory_stage",
    "holdfast.learn.opinion_stage",
    "holdfast.refine.concepts.concept_stage",
    "holdfast.refine.entities.entity_stage",
    "holdfast.refine.git.commit_authorship",
)
# How long nobody asks between two questions.
_PAUSE_S = 1.0


def be_an_older_release() -> None:
    """Lower the versions of all that is derived, in this process."""
    names = [(module, "VERSION") for module in _STAGE_MODULES]
    names.append(("holdfast.refine.sessions.derive", "RULES_VERSION"))
    names.append(("holdfast.brief.prepared_files", "_FORMAT_VERSION"))
    for module, name in names:
        loaded = importlib.import_module(module)
        setattr(loaded, name, getattr(loaded, name) - 1)
    concepts = stages.CONCEPTS._replace(version=stages.CONCEPTS.version - 1)
    stages.STAGES = tuple(
        concepts if stage is stages.CONCEPTS else stage._replace(version=stage.version - 1)
        for stage in stages.STAGES
    )
    stages.CONCEPTS = concepts


def upgrade(settings: Settings, month: int, now: str) -> dict[str, Any]:
    """Let another process derive everything again, and ask meanwhile; returns what that took, what
    was answered, and which records are gone."""
    before = _ids(settings.database)
    place = str(settings.home.parent)
    began, cpu = time.monotonic(), children_cpu()
    asked = list[float]()
    right = 0
    known = [matter for matter in year_plants.MATTERS if matter.by(month)]
    with (
        Holdfast(settings, lambda: now, create=False) as memory,
        subprocess.Popen(
            [sys.executable, "-m", "bench.year", "derive", place, now],
            stdout=subprocess.PIPE,
            text=True,
        ) as deriving,
    ):
        memory.recall(known[0].question, "all")  # loads what is loaded once
        while deriving.poll() is None:
            matter = known[len(asked) % len(known)]
            asking = time.monotonic()
            hits = memory.recall(matter.question, "all").hits
            asked.append(time.monotonic() - asking)
            right += True in year_plants.verdicts(matter.by(month), [hit.text for hit in hits[:3]])
            time.sleep(_PAUSE_S)
        if deriving.returncode or deriving.stdout is None:
            raise SystemExit("year: deriving everything again has failed")
        steps = json.loads(deriving.stdout.read())
    after = _ids(settings.database)
    return {
        "wall_s": time.monotonic() - began,
        "cpu_s": children_cpu() - cpu,
        **steps,
        "recalls": len(asked),
        "recalls_right": right,
        "recall_median_s": statistics.median(asked),
        "recall_longest_s": max(asked),
        "records": sum(map(len, after.values())),
        "lost": {name: len(ids - after[name]) for name, ids in before.items() if ids - after[name]},
        "new": {name: len(ids - before[name]) for name, ids in after.items() if ids - before[name]},
    }


def derive_again(settings: Settings, now: Callable[[], str]) -> dict[str, Any]:
    """What happens after an upgrade: the next worker runs every stage; `holdfast refine --stale`
    derives the sessions. Returns processor times, and what is left to do."""
    options = WorkerOptions(start_delay_s=0, linger_s=0)
    times = [time.process_time()]
    passes = run_worker(settings, options, now=now).passes
    times.append(time.process_time())
    with Holdfast(settings, now) as memory:
        sessions = rebuild_by_rules(memory, lambda done, total: None)
    times.append(time.process_time())
    run_worker(settings, options, now=now)
    times.append(time.process_time())
    with Holdfast(settings, now) as memory:
        behind = stages.stages_behind(memory.store, settings)
    worker, refine, worker_again = (b - a for a, b in pairwise(times))
    return {
        "worker_s": worker, "passes": passes, "sessions": sessions, "refine_s": refine,
        "worker_again_s": worker_again, "behind": behind,
    }  # fmt: skip


def _ids(database: Path) -> dict[str, set[str]]:
    """The ids of all records, by table. Numbers, which a new row gets, are no ids of records."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        tables = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if ("id", "TEXT")
            in {row[1:3] for row in connection.execute(f'PRAGMA table_info("{name}")')}
        ]
        return {
            name: {str(id) for (id,) in connection.execute(f'SELECT id FROM "{name}"')}
            for name in tables
        }
