from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.evaluation.asking import (
    Judged,
    Measures,
    mean,
    measure,
    percentile,
    recall_at,
    standard_error,
)

IDS = st.lists(st.sampled_from([f"t{n}" for n in range(40)]), max_size=40)
GOLD = st.frozensets(st.sampled_from([f"t{n}" for n in range(40)]), min_size=1, max_size=6)


def judged(
    ids: str = "", gold: str = "", sessions: str = "", gold_sessions: str = "", **more: bool
) -> Judged:
    return Judged(
        frozenset(gold.split()),
        frozenset(gold_sessions.split()),
        more.get("unanswerable", False),
        ids.split(),
        sessions.split(),
        more.get("abstained", False),
    )


def measures(*questions: Judged) -> Measures:
    return measure(questions).measures


def test_recall_is_the_fraction_of_the_gold_among_the_first_distinct_ids() -> None:
    ranked = "a b b c d e f".split()
    assert recall_at(5, ranked, {"b", "e", "f"}) == pytest.approx(2 / 3)
    assert recall_at(6, ranked, {"b", "e", "f"}) == 1


def test_measures_match_a_calculation_by_hand() -> None:
    found = measures(
        judged("a x b", "a b", "s t", "s"),
        judged("x y a", "a", "t s", "s"),
        judged("x", "a q", "t", "s", abstained=True),
        judged(unanswerable=True, abstained=True),
        judged("x", unanswerable=True),
    )
    assert found["recall@5"] == pytest.approx((1 + 1 + 0) / 3)
    assert found["all@10"] == pytest.approx(2 / 3)
    assert found["mrr"] == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert found["session_hit@1"] == pytest.approx(1 / 3)
    assert found["session_hit@5"] == pytest.approx(2 / 3)
    assert found["session_mrr"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found["abstention_precision"] == 1 / 2
    assert found["abstention_recall"] == 1 / 2


def test_a_measure_that_no_question_allows_is_none_and_not_zero() -> None:
    assert set(measures().values()) == {None}
    only_sessions = measures(judged(sessions="s", gold_sessions="s"))
    assert (only_sessions["recall@10"], only_sessions["session_hit@1"]) == (None, 1)


def test_means_errors_and_percentiles_match_a_calculation_by_hand() -> None:
    assert mean([1.0, None, 0.0]) == 1 / 2 and mean([]) is None
    assert standard_error([0.0, 1.0, 1.0, 0.0]) == pytest.approx((1 / 3 / 4) ** 0.5)
    assert standard_error([1.0]) is None
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2
    assert percentile([float(n) for n in range(1, 101)], 0.95) == 95
    assert percentile([7.0], 0.95) == 7 and percentile([], 0.5) is None
    errors = measure([judged("a", "a", "s", "s"), judged("x", "a", "s", "s")])
    assert errors.standard_error == {"recall@10": pytest.approx(0.5), "session_hit@5": 0}


@pytest.mark.slow
@given(IDS, GOLD)
def test_a_larger_cutoff_never_lowers_recall(ranked: list[str], gold: frozenset[str]) -> None:
    found = [recall_at(count, ranked, gold) for count in range(1, 45)]
    assert found == sorted(found)


@pytest.mark.slow
@given(GOLD, IDS)
def test_a_perfect_ranking_gives_one(gold: frozenset[str], rest: list[str]) -> None:
    ranked = [*sorted(gold), *rest]
    found = measures(Judged(gold, gold, False, ranked, ranked, False))
    assert [found[name] for name in ("recall@10", "recall@20", "all@10", "mrr")] == [1] * 4
    assert [found[name] for name in ("session_hit@1", "session_mrr")] == [1] * 2
