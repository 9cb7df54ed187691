"""The only module that calls what is measured: reads a set into a memory of its own, and asks for
rankings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple, Protocol, TypeVar

from holdfast.app.evaluation.metrics import percentile
from holdfast.app.evaluation.sets import TRANSCRIPTS, EvaluationSet
from holdfast.app.memory import Holdfast, open_memory
from holdfast.inference import packaged
from holdfast.model.query import Hit, RetrieverReport
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.ranking.hits import make_hit
from holdfast.settings import NO_MODEL, SHIPPED, Settings

BUDGETS = ("low", "mid", "high")
# Hits of a ranking that are kept. The measures look at the first 20; the rest shows in the file of
# ranks how far down a missed record is.
DEPTH = 50


class Asked(Protocol):
    """A question that a bank is asked."""

    @property
    def id(self) -> str: ...
    @property
    def bank(self) -> str: ...
    @property
    def text(self) -> str: ...


_Q = TypeVar("_Q", bound=Asked)


class Ranking(NamedTuple):
    """The result for a question, best first: the host's ids of turns and sessions, each once."""

    ids: tuple[str, ...]
    sessions: tuple[str, ...]
    abstained: bool
    ms: float
    # The retrievers that failed or timed out, each with the reason.
    absent: tuple[str, ...] = ()


# Called with how much is done, and how much there is.
Progress = Callable[[int, int], None]
# Makes the progress of a step: of "reading" (bytes), "deriving" (steps), "embedding" (passages).
Watch = Callable[[str], AbstractContextManager[Progress]]
# Called with the id and the ranking of each question.
Record = Callable[[str, Ranking], None]


def ignore(done: int, total: int) -> None:
    """A progress that nobody watches."""


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


def report_notes(rankings: Sequence[Ranking]) -> tuple[str, ...]:
    """What a reader must know about the figures."""
    counts = Counter(reason for ranking in rankings for reason in ranking.absent)
    return (
        "Rank measures are taken without recall's floor; the floor counts for abstention alone.",
        *(
            f"Ranked without {reason}: {count:,} of {len(rankings):,} questions."
            for reason, count in sorted(counts.items())
        ),
    )


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
        rankings.append(_rank(memory, question, plan, partial(keep, question), depth))
        record(question.id, rankings[-1])
        progress(done, len(questions))
    return rankings


def _rank(
    memory: Holdfast,
    question: Asked,
    plan: RecallPlan,
    keep: Callable[[Hit], bool],
    depth: int,
) -> Ranking:
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


@contextmanager
def open_home(settings: Settings) -> Generator[Holdfast]:
    """A memory for a set in a temporary folder; `settings` are the person's own."""
    with (
        TemporaryDirectory(prefix="holdfast-eval-") as folder,
        open_memory(neutral_settings(settings, Path(folder))) as memory,
    ):
        yield memory


def load_set(
    memory: Holdfast,
    wanted: EvaluationSet,
    with_vectors: bool = False,
    watch: Watch = lambda step: nullcontext(ignore),
) -> int:
    """Read a set into a memory, derive all that follows, and embed all passages if wanted; returns
    how many lines could not be read."""
    with watch("reading") as progress:
        failed = _read_files(memory, wanted, progress)
    with watch("deriving") as progress:
        # The stages of patterns and memories report each session, the other ones few steps.
        expected, done = 2 * memory.inventory.counts().sessions, 0

        def step() -> None:
            nonlocal done
            done += 1
            progress(done, max(done, expected))

        memory.ingestion.update(step)
        progress(done, done)
    if with_vectors:
        with watch("embedding") as progress:
            memory.ingestion.embed(on_progress=progress)
    return failed


def _read_files(memory: Holdfast, wanted: EvaluationSet, progress: Progress) -> int:
    inputs = [
        item
        for bank in wanted.transcripts
        for item in memory.ingestion.find([wanted.folder / TRANSCRIPTS / bank], bank)
    ]
    sizes = {path: path.stat().st_size for path in wanted.conversations.values()}
    total = sum(size for _, size in memory.ingestion.estimate(inputs)) + sum(sizes.values())
    done = failed = 0
    for bank, path in wanted.conversations.items():
        failed += memory.imports.import_conversation(path, bank).failed
        done += sizes[path]
        progress(done, total)
    report = memory.ingestion.ingest(
        inputs,
        os.cpu_count() or 1,
        lambda read, _: progress(sum(sizes.values()) + read, total),
        then_know=False,
    )
    return failed + report.failed


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
