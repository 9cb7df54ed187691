"""Asks every question of a set and adds up what came back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from holdfast.app.evaluation import engine, metrics
from holdfast.app.evaluation.engine import NOTES, EngineModels, Ranking
from holdfast.app.evaluation.limits import limits_of_set
from holdfast.app.evaluation.metrics import Judged, Measures
from holdfast.app.evaluation.sets import Question
from holdfast.app.memory import Holdfast
from holdfast.recall.core.plan import Plan

# Called with the questions asked so far and the questions in all.
Progress = Callable[[int, int], None]
# Called with each question's id and its ranking, as they come.
Record = Callable[[str, Ranking], None]

_EVERY = 1 << 40


class Latency(NamedTuple):
    """How long a question took, in milliseconds."""

    p50: float | None
    p95: float | None


class Counts(NamedTuple):
    """How much the figures rest on: questions with gold turns, with gold sessions, and those
    where abstaining is right."""

    questions: int
    answerable: int
    with_sessions: int
    unanswerable: int
    abstained: int


class Group(NamedTuple):
    """Some questions and their measures."""

    counts: Counts
    measures: Measures


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was measured over a set."""

    overall: Group
    categories: dict[str, Group]
    mean_of_categories: Measures
    standard_error: Measures
    latency_ms: Latency
    parts: EngineModels
    budget: str
    unknown_gold: int
    failed_lines: int
    notes: tuple[str, ...]
    cannot_claim: tuple[str, ...]


def evaluate(
    memory: Holdfast,
    questions: Sequence[Question],
    plan: Plan,
    progress: Progress = lambda done, total: None,
    record: Record = lambda id, ranking: None,
    failed_lines: int = 0,
) -> Report:
    """Ask a prepared memory."""
    known = {bank: sessions_by_turn(memory, bank) for bank in {q.bank for q in questions if q.gold}}
    judged: list[tuple[str, Judged]] = []
    spent: list[float] = []
    absent: list[tuple[str, ...]] = []
    for done, question in enumerate(questions, start=1):
        ranking = engine.rank(memory, question.text, question.bank, plan)
        record(question.id, ranking)
        spent.append(ranking.ms)
        absent.append(ranking.absent)
        judged.append(
            (question.category, judge_ranking(question, known.get(question.bank, {}), ranking))
        )
        progress(done, len(questions))
    unknown = sum(len(q.gold - known[q.bank].keys()) for q in questions if q.gold)
    made = build_report(
        judged, spent, engine.engine_models(memory), plan.budget.value, unknown, failed_lines
    )
    return replace(made, notes=engine.report_notes(absent, plan))


def sessions_by_turn(memory: Holdfast, bank: str) -> dict[str, str]:
    """The host's id of the session of every turn of a bank, by the id that the host gave it."""
    reader, id = memory.reader, memory.context.bank_id(bank)
    return {
        turn.origin.ref: session.host
        for session in reader.sessions(id, _EVERY)
        for turn in reader.turns_from(session.bank, session.id)
        if turn.origin.ref
    }


def judge_ranking(question: Question, sessions: dict[str, str], ranking: Ranking) -> Judged:
    """A ranking beside what it should hold. The sessions are the given ones, or else those of
    the gold turns."""
    around = frozenset(sessions[id] for id in question.gold if id in sessions)
    return Judged(
        question.gold,
        question.gold_sessions or around,
        question.unanswerable,
        ranking.ids,
        ranking.sessions,
        ranking.abstained,
    )


def build_report(
    judged: Sequence[tuple[str, Judged]],
    spent: Sequence[float],
    used: EngineModels,
    budget: str,
    unknown_gold: int = 0,
    failed_lines: int = 0,
) -> Report:
    """Add up what was judged, each with its category."""
    names = sorted({category for category, _ in judged})
    categories = {name: _group(one for c, one in judged if c == name) for name in names}
    overall = _group(one for _, one in judged)
    error = metrics.standard_errors(one for _, one in judged)
    return Report(
        overall=overall,
        categories=categories,
        mean_of_categories=metrics.mean_of_groups({n: g.measures for n, g in categories.items()}),
        standard_error=error,
        latency_ms=Latency(metrics.percentile(spent, 0.5), metrics.percentile(spent, 0.95)),
        parts=used,
        budget=budget,
        unknown_gold=unknown_gold,
        failed_lines=failed_lines,
        notes=NOTES,
        cannot_claim=tuple(
            limits_of_set(
                overall.measures,
                error,
                {
                    "recall@10": overall.counts.answerable,
                    "session_hit@5": overall.counts.with_sessions,
                },
                {name: group.counts.questions for name, group in categories.items()},
                unknown_gold,
                failed_lines,
            )
        ),
    )


def _group(judged: Iterable[Judged]) -> Group:
    some = list(judged)
    counts = Counts(
        questions=len(some),
        answerable=sum(map(metrics.has_gold, some)),
        with_sessions=sum(map(metrics.has_sessions, some)),
        unanswerable=sum(one.unanswerable for one in some),
        abstained=sum(one.abstained for one in some),
    )
    return Group(counts, metrics.measure(some))
