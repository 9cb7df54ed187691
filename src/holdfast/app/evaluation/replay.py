"""Asks a person's own memory the requests of its history, with what was known at that time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.app.evaluation import engine
from holdfast.app.evaluation.engine import EngineModels, Latency, Progress, Record
from holdfast.app.evaluation.limits import limits_of_own
from holdfast.app.evaluation.metrics import hit_at, mean, reciprocal_rank
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
    rankings = engine.ask_all(memory, questions, plan, progress, record, _was_known, DEPTH)
    ranked = [
        (ranking.sessions, question.gold_sessions)
        for question, ranking in zip(questions, rankings, strict=True)
    ]
    return OwnReport(
        questions=len(questions),
        measures={
            "session_hit@1": mean(hit_at(1, sessions, gold) for sessions, gold in ranked),
            "session_hit@5": mean(hit_at(5, sessions, gold) for sessions, gold in ranked),
            "session_mrr": mean(reciprocal_rank(sessions, gold) for sessions, gold in ranked),
        },
        chance={f"session_hit@{count}": mean_chance(questions, count) for count in (1, 5)},
        latency_ms=engine.latency_of(rankings),
        parts=engine.engine_models(memory, plan.budget),
        budget=plan.budget.value,
        notes=engine.report_notes(rankings, plan),
        cannot_claim=tuple(limits_of_own(len(questions), DEPTH)),
    )


def _was_known(question: OwnQuestion, hit: Hit) -> bool:
    """Whether a hit is of another session and older than the request."""
    return "" < hit.time < question.time and hit.session != question.session
