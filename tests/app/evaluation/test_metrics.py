from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.evaluation.metrics import (
    Judged,
    all_at,
    first,
    hit_at,
    mean,
    mean_of_groups,
    measure,
    percentile,
    recall_at,
    reciprocal_rank,
    standard_error,
    standard_errors,
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


def test_recall_is_the_fraction_of_the_gold_among_the_first_distinct_ids() -> None:
    ranked = "a b b c d e f".split()
    assert first(ranked, 3) == ["a", "b", "c"]
    assert recall_at(5, ranked, {"b", "e", "f"}) == pytest.approx(2 / 3)
    assert recall_at(6, ranked, {"b", "e", "f"}) == 1
    assert all_at(5, ranked, {"b", "e", "f"}) == 0
    assert all_at(6, ranked, {"b", "e", "f"}) == 1


def test_the_reciprocal_rank_is_that_of_the_first_gold_id() -> None:
    assert reciprocal_rank("a a b c".split(), {"c", "b"}) == 1 / 2
    assert reciprocal_rank("a b".split(), {"z"}) == 0
    assert reciprocal_rank([], {"z"}) == 0


def test_one_gold_session_is_enough_for_a_hit() -> None:
    assert hit_at(1, "s t".split(), {"t", "u"}) == 0
    assert hit_at(2, "s t".split(), {"t", "u"}) == 1


def test_measures_match_a_calculation_by_hand() -> None:
    found = measure(
        [
            judged("a x b", "a b", "s t", "s"),
            judged("x y a", "a", "t s", "s"),
            judged("x", "a q", "t", "s", abstained=True),
            judged(unanswerable=True, abstained=True),
            judged("x", unanswerable=True),
        ]
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
    assert set(measure([]).values()) == {None}
    only_sessions = measure([judged(sessions="s", gold_sessions="s")])
    assert (only_sessions["recall@10"], only_sessions["session_hit@1"]) == (None, 1)


def test_a_question_that_expects_abstention_has_no_rank_measures() -> None:
    found = measure([judged("a", "a", "s", "s", unanswerable=True)])
    assert (found["recall@5"], found["session_mrr"], found["abstention_recall"]) == (None, None, 0)


def test_every_category_weighs_the_same_in_their_mean() -> None:
    many = measure([judged("a", "a")] * 9)
    one = measure([judged("x", "a")])
    none = measure([judged(unanswerable=True)])
    assert mean_of_groups({"many": many, "one": one, "none": none})["recall@5"] == 1 / 2


def test_means_errors_and_percentiles_match_a_calculation_by_hand() -> None:
    assert mean([1.0, None, 0.0]) == 1 / 2 and mean([]) is None
    assert standard_error([0.0, 1.0, 1.0, 0.0]) == pytest.approx((1 / 3 / 4) ** 0.5)
    assert standard_error([1.0]) is None
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2
    assert percentile([float(n) for n in range(1, 101)], 0.95) == 95
    assert percentile([7.0], 0.95) == 7 and percentile([], 0.5) is None
    errors = standard_errors([judged("a", "a", "s", "s"), judged("x", "a", "s", "s")])
    assert errors == {"recall@10": pytest.approx(0.5), "session_hit@5": 0}


@pytest.mark.slow
@given(IDS, GOLD)
def test_a_larger_cutoff_never_lowers_recall(ranked: list[str], gold: frozenset[str]) -> None:
    found = [recall_at(count, ranked, gold) for count in range(1, 45)]
    assert found == sorted(found)


@pytest.mark.slow
@given(GOLD, IDS)
def test_a_perfect_ranking_gives_one(gold: frozenset[str], rest: list[str]) -> None:
    ranked = [*sorted(gold), *rest]
    found = measure([Judged(gold, gold, False, ranked, ranked, False)])
    assert [found[name] for name in ("recall@10", "recall@20", "all@10", "mrr")] == [1] * 4
    assert [found[name] for name in ("session_hit@1", "session_mrr")] == [1] * 2


@pytest.mark.slow
@given(IDS, GOLD, st.randoms(use_true_random=False))
def test_the_order_below_the_last_gold_id_changes_nothing(
    ranked: list[str], gold: frozenset[str], random: Random
) -> None:
    last = max((n for n, id in enumerate(ranked) if id in gold), default=-1) + 1
    tail = ranked[last:]
    random.shuffle(tail)
    assert reciprocal_rank(ranked[:last] + tail, gold) == reciprocal_rank(ranked, gold)
    assert recall_at(40, ranked[:last] + tail, gold) == recall_at(40, ranked, gold)
