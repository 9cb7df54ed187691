"""The only contact with what is measured: preparing a memory, and asking it for a ranking.

A better engine changes this file and nothing else of the evaluation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from holdfast.app.evaluation.overrides import changed_numbers, tunable_numbers
from holdfast.app.evaluation.sets import TRANSCRIPTS, find_files
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.model.query import Hit, Strategy
from holdfast.recall.core.plan import Plan
from holdfast.recall.ranking.hits import make_hit
from holdfast.refine.ingest.ingest import Progress
from holdfast.settings import NO_MODEL, Settings

BUDGETS = ("low", "mid", "high")
DEPTH = 50

# What a reader of the figures must know of the engine.
NOTES = ("Rank measures are taken without recall's floor; the floor counts for abstention alone.",)


class Ranking(NamedTuple):
    """What came back, best first: the host's ids of turns and of sessions, each once."""

    ids: tuple[str, ...]
    sessions: tuple[str, ...]
    abstained: bool
    ms: float
    # What took no part, each with the reason.
    absent: tuple[str, ...] = ()


class EngineModels(NamedTuple):
    """What an engine is made of; None is a part that it does without."""

    embedding: str | None
    reranker: str | None


def engine_models(memory: Holdfast) -> EngineModels:
    """What ranks in this memory."""
    models = memory.reader.vector_models()
    reranker = memory.settings.rerank_model
    return EngineModels(
        embedding=models[-1][0] if models else None,
        reranker=reranker if reranker != NO_MODEL else None,
    )


def report_notes(rankings: Sequence[tuple[str, ...]], plan: Plan) -> tuple[str, ...]:
    """What a reader must know of the figures, given what was absent from each ranking."""
    counted = Counter(told for absent in rankings for told in absent)
    more = [
        f"Ranked without {told}: {count:,} of {len(rankings):,} questions."
        for told, count in sorted(counted.items())
    ]
    usual = tunable_numbers(Plan())
    changed = [
        f"Ranked with {name} = {value}, which is {usual[name]} by default."
        for name, value in changed_numbers(plan).items()
    ]
    return (*NOTES, *changed, *more)


def rank(
    memory: Holdfast,
    question: str,
    bank: str,
    plan: Plan,
    keep: Callable[[Hit], bool] = lambda hit: True,
    depth: int = DEPTH,
) -> Ranking:
    """Ask for a ranking, and whether recall would have answered at all."""
    started = perf_counter()
    found = memory.search.rank(question, bank, plan._replace(limit=depth))
    spent = (perf_counter() - started) * 1000
    hits = [make_hit(memory.reader, item) for item in found.candidates[:depth]]
    kept = [item for item in hits if keep(item)]
    ids = [item.source.id for item in kept if item.kind == "turn" and item.source.id]
    sessions = [item.session for item in kept if item.session]
    return Ranking(
        tuple(dict.fromkeys(ids)),
        tuple(dict.fromkeys(sessions)),
        found.abstains,
        spent,
        tuple(_absence(arm) for arm in found.strategies if _is_absent(arm)),
    )


def _is_absent(arm: Strategy) -> bool:
    return arm.timed_out or (bool(arm.problem) and not arm.found)


def _absence(arm: Strategy) -> str:
    return f"{arm.name}, which {'was too slow' if arm.timed_out else f'failed ({arm.problem})'}"


def load_set(
    memory: Holdfast,
    folder: Path,
    progress: Progress = lambda done, total: None,
    workers: int = 1,
    embedding: Progress | None = None,
) -> int:
    """Read the files of a set into a memory, and embed all of it if `embedding` is to be told
    how far that is; returns how many lines could not be read."""
    folder = folder.resolve()
    files = find_files(folder)
    inputs = [
        item
        for bank in files.transcripts
        for item in memory.ingestion.find([folder / TRANSCRIPTS / bank], bank)
    ]
    talks = {str(path.resolve()) for path in files.conversations.values()}
    _refuse_others(memory, talks | {str(item.path) for item in inputs})
    new = sum(size for _, size in memory.ingestion.estimate(inputs))
    total = new + sum(path.stat().st_size for path in files.conversations.values())
    done = failed = 0
    for bank, path in files.conversations.items():
        failed += memory.imports.import_conversation(path, bank).failed
        done += path.stat().st_size
        progress(done, total)
    before = done
    account = memory.ingestion.ingest(
        inputs, workers, lambda read, _: progress(before + read, total)
    )
    memory.ingestion.update()
    if embedding is not None:
        memory.ingestion.embed(on_progress=embedding)
    return failed + account.failed


def _refuse_others(memory: Holdfast, wanted: set[str]) -> None:
    """What is asked must be the set and nothing else."""
    for source in memory.reader.sources():
        if source.path not in wanted:
            raise InputError(
                f"{memory.settings.home} also holds {source.path}, which is not of this set.",
                "Give --keep another folder, or delete this one.",
            )


def neutral_settings(settings: Settings, home: Path) -> Settings:
    """A person's settings, for another home, and without what chooses or leaves out: the same
    set must give the same memory everywhere."""
    return replace(
        settings,
        home=home,
        claude_dir=home / "claude",
        bank="",
        store="",
        banks=(),
        redact_patterns=(),
        exclude_tools=(),
        exclude_paths=(),
        exclude_projects=(),
    )
