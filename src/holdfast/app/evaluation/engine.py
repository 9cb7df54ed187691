"""The only module that calls what is measured: reads a set into a memory, and asks for rankings.

Another engine can be measured by changing this file alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import NamedTuple, TypeVar

from holdfast.app.evaluation.metrics import percentile
from holdfast.app.evaluation.overrides import changed_numbers, tunable_numbers
from holdfast.app.evaluation.own import OwnQuestion
from holdfast.app.evaluation.sets import TRANSCRIPTS, Question, find_files
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.inference import packaged
from holdfast.model.query import Hit, RetrieverReport
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.ranking.hits import make_hit
from holdfast.settings import NO_MODEL, SHIPPED, Settings

_Q = TypeVar("_Q", Question, OwnQuestion)

BUDGETS = ("low", "mid", "high")
# Hits of a ranking that are kept. The measures look at the first 20; the rest shows in the file of
# ranks how far down a missed record is.
DEPTH = 50
# The stages of patterns and memories report each session, the other ones few steps for a bank.
_STEPS_PER_SESSION = 2

# What a reader of the figures must know about every run.
NOTES = ("Rank measures are taken without recall's floor; the floor counts for abstention alone.",)


class Ranking(NamedTuple):
    """The result for a question, best first: the host's ids of turns and sessions, each once."""

    ids: tuple[str, ...]
    sessions: tuple[str, ...]
    abstained: bool
    ms: float
    # The retrievers that failed or timed out, each with the reason.
    absent: tuple[str, ...] = ()


# Called with the number of questions asked so far, and of all questions.
Progress = Callable[[int, int], None]
# Called with the id and the ranking of each question.
Record = Callable[[str, Ranking], None]


class Latency(NamedTuple):
    """How long a question took, in milliseconds."""

    p50: float | None
    p95: float | None


class EngineModels(NamedTuple):
    """The names of the models that rank; None if there is none. The field names are JSON keys."""

    embedding: str | None
    reranker: str | None


def engine_models(memory: Holdfast, budget: Budget) -> EngineModels:
    models = memory.reader.vectors.models()
    reranker = memory.settings.rerank_model
    if reranker == SHIPPED or (not reranker and models and budget is Budget.HIGH):
        reranker = packaged.RERANKER_NAME
    return EngineModels(
        embedding=models[-1][0] if models else None,
        reranker=reranker if reranker not in ("", NO_MODEL) else None,
    )


def report_notes(rankings: Sequence[Ranking], plan: RecallPlan) -> tuple[str, ...]:
    """What a reader must know about the figures."""
    counts = Counter(reason for ranking in rankings for reason in ranking.absent)
    absences = [
        f"Ranked without {reason}: {count:,} of {len(rankings):,} questions."
        for reason, count in sorted(counts.items())
    ]
    defaults = tunable_numbers(RecallPlan())
    changed = [
        f"Ranked with {name} = {value}, which is {defaults[name]} by default."
        for name, value in changed_numbers(plan).items()
    ]
    return (*NOTES, *changed, *absences)


def latency_of(rankings: Sequence[Ranking]) -> Latency:
    times_ms = [ranking.ms for ranking in rankings]
    return Latency(percentile(times_ms, 0.5), percentile(times_ms, 0.95))


def ask_all(
    memory: Holdfast,
    questions: Sequence[_Q],
    plan: RecallPlan,
    progress: Progress,
    record: Record,
    keep: Callable[[_Q, Hit], bool] = lambda question, hit: True,
    depth: int = DEPTH,
) -> list[Ranking]:
    """The ranking for each question, without the hits that `keep` rejects."""
    rankings: list[Ranking] = []
    for done, question in enumerate(questions, start=1):
        rankings.append(rank(memory, question, plan, partial(keep, question), depth))
        record(question.id, rankings[-1])
        progress(done, len(questions))
    return rankings


def rank(
    memory: Holdfast,
    question: Question | OwnQuestion,
    plan: RecallPlan,
    keep: Callable[[Hit], bool],
    depth: int,
) -> Ranking:
    """The ranking for a question, without the hits that `keep` rejects, and whether recall would
    abstain."""
    started = perf_counter()
    found = memory.search.rank(question.text, question.bank, plan._replace(limit=depth))
    ms = (perf_counter() - started) * 1000
    hits = [make_hit(memory.reader, item) for item in found.candidates[:depth]]
    kept = [item for item in hits if keep(item)]
    ids = [item.source.id for item in kept if item.kind == "turn" and item.source.id]
    sessions = [item.session for item in kept if item.session]
    return Ranking(
        tuple(dict.fromkeys(ids)),
        tuple(dict.fromkeys(sessions)),
        found.abstains,
        ms,
        tuple(_absence(retriever) for retriever in found.reports if _is_absent(retriever)),
    )


def _is_absent(retriever: RetrieverReport) -> bool:
    return retriever.timed_out or (bool(retriever.problem) and not retriever.found)


def _absence(retriever: RetrieverReport) -> str:
    why = "was too slow" if retriever.timed_out else f"failed ({retriever.problem})"
    return f"{retriever.name}, which {why}"


def load_set(memory: Holdfast, folder: Path, with_vectors: bool = False) -> int:
    """Read a set into a memory, derive all that follows, and embed all passages if wanted; returns
    how many lines could not be read."""
    failed = read_files(memory, folder)
    derive_all(memory)
    if with_vectors:
        memory.ingestion.embed()
    return failed


def read_files(
    memory: Holdfast,
    folder: Path,
    progress: Progress = lambda done, total: None,
    workers: int = 1,
) -> int:
    """Read the files of a set into a memory; returns how many lines could not be read. `progress`
    gets the bytes read, and of all."""
    folder = folder.resolve()
    files = find_files(folder)
    inputs = [
        item
        for bank in files.transcripts
        for item in memory.ingestion.find([folder / TRANSCRIPTS / bank], bank)
    ]
    conversations = {str(path.resolve()) for path in files.conversations.values()}
    _refuse_others(memory, conversations | {str(item.path) for item in inputs})
    new = sum(size for _, size in memory.ingestion.estimate(inputs))
    total = new + sum(path.stat().st_size for path in files.conversations.values())
    done = failed = 0
    for bank, path in files.conversations.items():
        failed += memory.imports.import_conversation(path, bank).failed
        done += path.stat().st_size
        progress(done, total)
    conversation_bytes = done
    report = memory.ingestion.ingest(
        inputs,
        workers,
        lambda read, _: progress(conversation_bytes + read, total),
        then_know=False,
    )
    return failed + report.failed


def derive_all(memory: Holdfast, progress: Progress = lambda done, total: None) -> None:
    """Run the stages above the session. `progress` gets the steps done, and about how many there
    are."""
    expected = _STEPS_PER_SESSION * memory.inventory.counts().sessions
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        progress(done, max(done, expected))

    memory.ingestion.update(step)
    progress(done, done)


def _refuse_others(memory: Holdfast, wanted: set[str]) -> None:
    """Raise an error if the memory holds files that are not part of the set."""
    for source in memory.reader.sources.all():
        if source.path not in wanted:
            raise InputError(
                f"{memory.settings.home} also holds {source.path}, which is not of this set.",
                "Give --keep another folder, or delete this one.",
            )


def neutral_settings(settings: Settings, home: Path) -> Settings:
    """The settings for another home, without banks, exclusions and redactions of the person: a set
    must give the same memory everywhere."""
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
