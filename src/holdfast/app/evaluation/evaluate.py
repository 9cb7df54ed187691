"""Asks every question of a set and adds up the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from holdfast.app.evaluation import engine, metrics
from holdfast.app.evaluation.engine import EngineModels, Latency, Progress, Ranking, Record
from holdfast.app.evaluation.metrics import Judged, Measures
from holdfast.app.evaluation.sets import Question
from holdfast.app.memory import Holdfast
from holdfast.language import counted
from holdfast.recall.core.plan import RecallPlan

# No limit: every session of a bank.
_ALL_SESSIONS = 1 << 40


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
    progress: Progress = engine.ignore,
    record: Record = lambda id, ranking: None,
    failed_lines: int = 0,
) -> Report:
    """Ask a memory into which the set was read, and report the measures."""
    rankings = engine.ask_all(memory, questions, plan, progress, record)
    known = {bank: sessions_by_turn(memory, bank) for bank in {q.bank for q in questions if q.gold}}
    judged = [
        judge_ranking(question, known.get(question.bank, {}), ranking)
        for question, ranking in zip(questions, rankings, strict=True)
    ]
    by_category: dict[str, list[Judged]] = {}
    for question, one in zip(questions, judged, strict=True):
        by_category.setdefault(question.category, []).append(one)
    categories = {name: _group(by_category[name]) for name in sorted(by_category)}
    overall, error = _group(judged), metrics.standard_errors(judged)
    unknown = sum(len(q.gold - known[q.bank].keys()) for q in questions if q.gold)
    return Report(
        overall=overall,
        categories=categories,
        mean_of_categories=metrics.mean_of_groups({n: g.measures for n, g in categories.items()}),
        standard_error=error,
        latency_ms=engine.latency_of(rankings),
        parts=engine.engine_models(memory, plan.budget),
        budget=plan.budget.value,
        unknown_gold=unknown,
        failed_lines=failed_lines,
        notes=engine.report_notes(rankings),
        cannot_claim=tuple(_limits(overall, error, unknown, failed_lines)),
    )


def _limits(overall: Group, error: Measures, unknown_gold: int, failed_lines: int) -> list[str]:
    """What the figures do not show."""
    found = ["Retrieval only: whether the right records come back, not whether an answer is right."]
    for name, count in (
        ("recall@10", overall.counts.answerable),
        ("session_hit@5", overall.counts.with_sessions),
    ):
        figure, spread = overall.measures[name], error[name]
        if figure is not None and spread is not None:
            found.append(
                f"{name} is {figure:.3f} ± {spread:.3f} (standard error over "
                f"{counted(count, 'question')}, taken as independent). A difference smaller than "
                "twice that may be chance."
            )
    if unknown_gold:
        found.append(
            f"{counted(unknown_gold, 'gold id')} of the set name no turn that was read; they count "
            "as not found."
        )
    if failed_lines:
        found.append(f"{counted(failed_lines, 'line')} of the set could not be read.")
    return found


def sessions_by_turn(memory: Holdfast, bank: str) -> dict[str, str]:
    """The host's id of the session of every turn of a bank, by the host's id of the turn."""
    reader, id = memory.reader, memory.context.bank_id(bank)
    return {
        turn.origin.ref: session.host
        for session in reader.sessions.latest(id, _ALL_SESSIONS)
        for turn in reader.turns.stream(session.bank, session.id)
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


def _group(questions: Sequence[Judged]) -> Group:
    counts = Counts(
        questions=len(questions),
        answerable=sum(map(metrics.has_gold, questions)),
        with_sessions=sum(map(metrics.has_sessions, questions)),
        unanswerable=sum(one.unanswerable for one in questions),
        abstained=sum(one.abstained for one in questions),
    )
    return Group(counts, metrics.measure(questions))
