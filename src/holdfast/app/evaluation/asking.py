"""Asks questions of a memory, and measures the rankings.

A measure is `None`, not zero, if no question allows it to be computed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from functools import partial
from time import perf_counter
from typing import NamedTuple, Protocol, TypeVar

from holdfast.app.evaluation.sets import Progress, Question, ignore
from holdfast.app.memory import Holdfast
from holdfast.inference import packaged
from holdfast.language import counted
from holdfast.model.query import Hit
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.ranking.hits import make_hit
from holdfast.settings import NO_MODEL, SHIPPED
from holdfast.version import __version__

# Hits of a ranking that are kept. The measures look at the first 20; the rest shows in the file of
# ranks how far down a missed record is.
DEPTH = 50
# No limit: every session of a bank.
_ALL = 1 << 40
Measures = dict[str, float | None]


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
    """The result for a question, best first: the host's ids of turns and sessions, each once; and
    the retrievers that failed or timed out, each with the reason."""

    ids: tuple[str, ...]
    sessions: tuple[str, ...]
    abstained: bool
    ms: float
    absent: tuple[str, ...] = ()


# Called with the id and the ranking of each question.
Record = Callable[[str, Ranking], None]


class Circumstances(NamedTuple):
    """With what was measured (`settings`: version, models, budget), how long a question took, and
    what the figures do not show."""

    settings: dict[str, str | None]
    latency_ms: dict[str, float | None]
    notes: tuple[str, ...]
    cannot_claim: tuple[str, ...]


def ask_all(
    memory: Holdfast,
    questions: Sequence[_Q],
    plan: RecallPlan,
    progress: Progress = ignore,
    record: Record = lambda id, ranking: None,
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
    memory: Holdfast, question: Asked, plan: RecallPlan, keep: Callable[[Hit], bool], depth: int
) -> Ranking:
    started = perf_counter()
    found = memory.search.rank(question.text, question.bank, plan._replace(limit=depth))
    ms = (perf_counter() - started) * 1000
    hits = [make_hit(memory.reader, item) for item in found.candidates[:depth]]
    kept = [item for item in hits if keep(item)]
    return Ranking(
        tuple(dict.fromkeys(i.source.id for i in kept if i.kind == "turn" and i.source.id)),
        tuple(dict.fromkeys(item.session for item in kept if item.session)),
        found.abstains,
        ms,
        tuple(
            f"{one.name}, which {'was too slow' if one.timed_out else f'failed ({one.problem})'}"
            for one in found.reports
            if one.timed_out or (one.problem and not one.found)
        ),
    )


def circumstances(
    memory: Holdfast, rankings: Sequence[Ranking], budget: Budget, *cannot_claim: str
) -> Circumstances:
    """What a reader must know about the figures of these rankings."""
    models, reranker = memory.reader.vectors.models(), memory.settings.rerank_model
    if reranker == SHIPPED or (not reranker and models and budget is Budget.HIGH):
        reranker = packaged.RERANKER_NAME
    times_ms = [ranking.ms for ranking in rankings]
    absent = Counter(reason for ranking in rankings for reason in ranking.absent)
    return Circumstances(
        {
            "version": __version__,
            "embedding": models[-1][0] if models else None,
            "reranker": reranker if reranker not in ("", NO_MODEL) else None,
            "budget": budget.value,
        },
        {"p50": percentile(times_ms, 0.5), "p95": percentile(times_ms, 0.95)},
        (
            "Rank measures are taken without recall's floor; the floor counts for abstention "
            "alone.",
            *(
                f"Ranked without {reason}: {count:,} of {len(rankings):,} questions."
                for reason, count in sorted(absent.items())
            ),
        ),
        cannot_claim,
    )


def recall_at(count: int, ranked: Sequence[str], gold: Set[str]) -> float:
    """The share of the gold that is among the first distinct entries."""
    return len(gold & set(_first(ranked, count))) / len(gold)


def hit_at(count: int, ranked: Sequence[str], gold: Set[str]) -> float:
    """1 if any of the gold is among the first distinct entries, else 0."""
    return float(not gold.isdisjoint(_first(ranked, count)))


def reciprocal_rank(ranked: Sequence[str], gold: Set[str]) -> float:
    """One over the rank of the first gold entry; 0 if there is none."""
    ranks = enumerate(dict.fromkeys(ranked), start=1)
    return next((1 / rank for rank, entry in ranks if entry in gold), 0.0)


def _first(ranked: Iterable[str], count: int) -> list[str]:
    return list(dict.fromkeys(ranked))[:count]


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are not None."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def standard_error(values: Sequence[float]) -> float | None:
    """The standard error of the mean, with the values taken as independent."""
    average = mean(values)
    if average is None or len(values) < 2:
        return None
    variance = math.fsum((value - average) ** 2 for value in values) / (len(values) - 1)
    return math.sqrt(variance / len(values))


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of all values does not exceed."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


class Judged(NamedTuple):
    """One question: what should have been found, and the ranking, best first."""

    gold: frozenset[str]
    gold_sessions: frozenset[str]
    unanswerable: bool
    ids: Sequence[str]
    sessions: Sequence[str]
    abstained: bool


class Counts(NamedTuple):
    """How many questions the figures rest on: all, with gold turns, with gold sessions, those where
    abstaining is right, and those where recall abstained."""

    questions: int
    answerable: int
    with_sessions: int
    unanswerable: int
    abstained: int


class Group(NamedTuple):
    """Some questions, their measures, and the standard errors of the two main ones."""

    counts: Counts
    measures: Measures
    standard_error: Measures


class Report(NamedTuple):
    """Everything that was measured on a set. `unknown_gold` counts the gold ids that name no turn
    that was read."""

    overall: Group
    categories: dict[str, Group]
    mean_of_categories: Measures
    unknown_gold: int
    about: Circumstances


def evaluate(
    memory: Holdfast,
    questions: Sequence[Question],
    plan: RecallPlan,
    progress: Progress = ignore,
    record: Record = lambda id, ranking: None,
    failed_lines: int = 0,
) -> Report:
    """Ask a memory into which the set was read, and report the measures."""
    rankings = ask_all(memory, questions, plan, progress, record)
    known = {bank: _sessions_by_turn(memory, bank) for bank in {q.bank for q in questions}}
    groups: dict[str, list[Judged]] = {}
    for question, ranking in zip(questions, rankings, strict=True):
        groups.setdefault(question.category, []).append(
            judge(question, known[question.bank], ranking)
        )
    overall = measure([one for group in groups.values() for one in group])
    categories = {name: measure(groups[name]) for name in sorted(groups)}
    unknown = sum(len(q.gold - known[q.bank].keys()) for q in questions)
    claims = [
        "Retrieval only: whether the right records come back, not whether an answer is right."
    ]
    for name, count in (
        ("recall@10", overall.counts.answerable),
        ("session_hit@5", overall.counts.with_sessions),
    ):
        figure, spread = overall.measures[name], overall.standard_error[name]
        if figure is not None and spread is not None:
            claims.append(
                f"{name} is {figure:.3f} ± {spread:.3f} (standard error over "
                f"{counted(count, 'question')}, taken as independent). A difference smaller than "
                "twice that may be chance."
            )
    if unknown:
        claims.append(
            f"{counted(unknown, 'gold id')} of the set name no turn that was read; they count as "
            "not found."
        )
    if failed_lines:
        claims.append(f"{counted(failed_lines, 'line')} of the set could not be read.")
    return Report(
        overall,
        categories,
        {m: mean(g.measures[m] for g in categories.values()) for m in overall.measures},
        unknown,
        circumstances(memory, rankings, plan.budget, *claims),
    )


def _sessions_by_turn(memory: Holdfast, bank: str) -> dict[str, str]:
    """The host's id of the session of every turn of a bank, by the host's id of the turn."""
    reader, id = memory.reader, memory.context.bank_id(bank)
    return {
        turn.origin.ref: session.host
        for session in reader.sessions.latest(id, _ALL)
        for turn in reader.turns.stream(session.bank, session.id)
        if turn.origin.ref
    }


def judge(question: Question, sessions: dict[str, str], ranking: Ranking) -> Judged:
    """The ranking together with what it should contain. Gold sessions are those of the question, or
    else those of its gold turns."""
    of_gold = frozenset(sessions[id] for id in question.gold if id in sessions)
    return Judged(
        question.gold,
        question.gold_sessions or of_gold,
        question.unanswerable,
        ranking.ids,
        ranking.sessions,
        ranking.abstained,
    )


def measure(judged: Sequence[Judged]) -> Group:
    """All measures over the questions."""
    turns = [one for one in judged if one.gold and not one.unanswerable]
    sessions = [one for one in judged if one.gold_sessions and not one.unanswerable]
    at_10 = [recall_at(10, one.ids, one.gold) for one in turns]
    in_5 = [hit_at(5, one.sessions, one.gold_sessions) for one in sessions]
    abstained = [float(one.unanswerable) for one in judged if one.abstained]
    unanswerable = [float(one.abstained) for one in judged if one.unanswerable]
    return Group(
        Counts(len(judged), len(turns), len(sessions), len(unanswerable), len(abstained)),
        {
            "recall@5": mean(recall_at(5, one.ids, one.gold) for one in turns),
            "recall@10": mean(at_10),
            "recall@20": mean(recall_at(20, one.ids, one.gold) for one in turns),
            "all@10": mean(float(share == 1) for share in at_10),
            "mrr": mean(reciprocal_rank(one.ids, one.gold) for one in turns),
            "session_hit@1": mean(hit_at(1, one.sessions, one.gold_sessions) for one in sessions),
            "session_hit@5": mean(in_5),
            "session_mrr": mean(
                reciprocal_rank(one.sessions, one.gold_sessions) for one in sessions
            ),
            "abstention_precision": mean(abstained),
            "abstention_recall": mean(unanswerable),
        },
        {"recall@10": standard_error(at_10), "session_hit@5": standard_error(in_5)},
    )
