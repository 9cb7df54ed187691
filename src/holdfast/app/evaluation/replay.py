"""Asks a person's own memory the requests of its history, with what was known at that time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.app.evaluation import engine
from holdfast.app.evaluation.engine import EngineModels
from holdfast.app.evaluation.evaluate import Latency, Progress, Record
from holdfast.app.evaluation.limits import limits_of_own
from holdfast.app.evaluation.metrics import hit_at, mean, percentile, reciprocal_rank
from holdfast.app.evaluation.own import OwnQuestion, mean_chance
from holdfast.app.memory import Holdfast
from holdfast.model.query import Hit
from holdfast.recall.core.plan import RecallPlan

# Hits that are newer than the request are removed from the ranking afterwards, so it must be longer
# than that of a set. A greater depth loses fewer old hits and takes longer.
DEPTH = 300


@dataclass(frozen=True, slots=True)
class OwnReport:
    """What was measured on a person's own history; `chance` is the result of a random order. The
    field names are JSON keys."""

    questions: int
    measures: dict[str, float | None]
    chance: dict[str, float | None]
    latency_ms: Latency
    parts: EngineModels
    budget: str
    notes: tuple[str, ...]
    cannot_claim: tuple[str, ...]


def replay(
    memory: Holdfast,
    questions: Sequence[OwnQuestion],
    plan: RecallPlan,
    progress: Progress = lambda done, total: None,
    record: Record = lambda id, ranking: None,
) -> OwnReport:
    """Ask each request, and count only what other sessions had said before it."""
    ranked: list[tuple[Sequence[str], frozenset[str]]] = []
    times_ms: list[float] = []
    absent: list[tuple[str, ...]] = []
    for done, question in enumerate(questions, start=1):
        ranking = engine.rank(
            memory, question.text, question.bank, plan, _known_before(question), DEPTH
        )
        record(question.id, ranking)
        ranked.append((ranking.sessions, question.gold_sessions))
        times_ms.append(ranking.ms)
        absent.append(ranking.absent)
        progress(done, len(questions))
    return OwnReport(
        questions=len(questions),
        measures={
            "session_hit@1": mean(hit_at(1, sessions, gold) for sessions, gold in ranked),
            "session_hit@5": mean(hit_at(5, sessions, gold) for sessions, gold in ranked),
            "session_mrr": mean(reciprocal_rank(sessions, gold) for sessions, gold in ranked),
        },
        chance={f"session_hit@{count}": mean_chance(questions, count) for count in (1, 5)},
        latency_ms=Latency(percentile(times_ms, 0.5), percentile(times_ms, 0.95)),
        parts=engine.engine_models(memory),
        budget=plan.budget.value,
        notes=engine.report_notes(absent, plan),
        cannot_claim=tuple(limits_of_own(len(questions), DEPTH)),
    )


def _known_before(question: OwnQuestion) -> Callable[[Hit], bool]:
    """A filter for hits from other sessions that are older than the request."""

    def keep(hit: Hit) -> bool:
        return "" < hit.time < question.time and hit.session != question.session

    return keep
