"""Asks every question of a set and adds up the results."""

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
from holdfast.recall.core.plan import RecallPlan

# Called with the number of questions asked so far, and of all questions.
Progress = Callable[[int, int], None]
# Called with the id and the ranking of each question.
Record = Callable[[str, Ranking], None]

# No limit: every session of a bank.
_ALL_SESSIONS = 1 << 40


class Latency(NamedTuple):
    """How long a question took, in milliseconds."""

    p50: float | None
    p95: float | None


class Counts(NamedTuple):
    """How many questions the figures rest on: all, with gold turns, with gold sessions, those where
    abstaining is right, and those where recall abstained."""

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
    """Everything that was measured on a set. The field names are JSON keys."""

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
    plan: RecallPlan,
    progress: Progress = lambda done, total: None,
    record: Record = lambda id, ranking: None,
    failed_lines: int = 0,
) -> Report:
    """Ask a memory into which the set was read, and report the measures."""
    known = {bank: sessions_by_turn(memory, bank) for bank in {q.bank for q in questions if q.gold}}
    judged: list[tuple[str, Judged]] = []
    times_ms: list[float] = []
    absent: list[tuple[str, ...]] = []
    for done, question in enumerate(questions, start=1):
        ranking = engine.rank(memory, question.text, question.bank, plan)
        record(question.id, ranking)
        times_ms.append(ranking.ms)
        absent.append(ranking.absent)
        judged.append(
            (question.category, judge_ranking(question, known.get(question.bank, {}), ranking))
        )
        progress(done, len(questions))
    unknown = sum(len(q.gold - known[q.bank].keys()) for q in questions if q.gold)
    report = build_report(
        judged, times_ms, engine.engine_models(memory), plan.budget.value, unknown, failed_lines
    )
    return replace(report, notes=engine.report_notes(absent, plan))


def sessions_by_turn(memory: Holdfast, bank: str) -> dict[str, str]:
    """The host's id of the session of every turn of a bank, by the host's id of the turn."""
    reader, id = memory.reader, memory.context.bank_id(bank)
    return {
        turn.origin.ref: session.host
        for session in reader.sessions(id, _ALL_SESSIONS)
        for turn in reader.turns_from(session.bank, session.id)
        if turn.origin.ref
    }


def judge_ranking(question: Question, sessions: dict[str, str], ranking: Ranking) -> Judged:
    """The ranking together with what it should contain. Gold sessions are those of the question, or
    else those of its gold turns."""
    sessions_of_gold = frozenset(sessions[id] for id in question.gold if id in sessions)
    return Judged(
        question.gold,
        question.gold_sessions or sessions_of_gold,
        question.unanswerable,
        ranking.ids,
        ranking.sessions,
        ranking.abstained,
    )


def build_report(
    judged: Sequence[tuple[str, Judged]],
    times_ms: Sequence[float],
    models: EngineModels,
    budget: str,
    unknown_gold: int = 0,
    failed_lines: int = 0,
) -> Report:
    """Add up the judged questions, each given with its category."""
    names = sorted({category for category, _ in judged})
    categories = {name: _group(one for c, one in judged if c == name) for name in names}
    overall = _group(one for _, one in judged)
    error = metrics.standard_errors(one for _, one in judged)
    return Report(
        overall=overall,
        categories=categories,
        mean_of_categories=metrics.mean_of_groups({n: g.measures for n, g in categories.items()}),
        standard_error=error,
        latency_ms=Latency(metrics.percentile(times_ms, 0.5), metrics.percentile(times_ms, 0.95)),
        parts=models,
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
    questions = list(judged)
    counts = Counts(
        questions=len(questions),
        answerable=sum(map(metrics.has_gold, questions)),
        with_sessions=sum(map(metrics.has_sessions, questions)),
        unanswerable=sum(one.unanswerable for one in questions),
        abstained=sum(one.abstained for one in questions),
    )
    return Group(counts, metrics.measure(questions))
