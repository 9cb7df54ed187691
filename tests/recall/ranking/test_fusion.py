from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.query import Passage
from holdfast.recall.core.candidates import Candidate, PassageKey, Pool, ScoredPassage
from holdfast.recall.core.tuning import DEFAULT_WEIGHTS, RankingWeights
from holdfast.recall.ranking.fusion import (
    add_neighbour_scores,
    add_results,
    add_session_support,
    fuse_by_ranks,
    fuse_by_scores,
    weights_for_coverage,
    words_only,
)

RETRIEVERS = ("direct_fts", "expanded_fts", "summaries", "semantic")
KINDS = ("turn", "exchange", "digest")
Results = dict[str, list[ScoredPassage]]


def passage(number: int) -> Passage:
    kind, session = KINDS[number % 3], f"s{number % 2}"
    return Passage("b", kind, f"{number:02d}", session, "2026", "said", seq=number // 2)


@st.composite
def results_by_retriever(draw: st.DrawFn) -> Results:
    one = st.dictionaries(st.integers(0, 11), st.floats(0.01, 50), max_size=8)
    return {
        retriever: [ScoredPassage(passage(number), score) for number, score in draw(one).items()]
        for retriever in RETRIEVERS
    }


def admitted(results: Results) -> Pool:
    pool = Pool()
    for retriever, found in results.items():
        add_results(pool, retriever, found)
    return pool


def scored(results: Results) -> Pool:
    pool = admitted(results)
    fuse_by_scores(pool, DEFAULT_WEIGHTS)
    return pool


def placed(results: Results) -> Pool:
    pool = admitted(results)
    fuse_by_ranks(list(pool))
    return pool


def evidence_shares(weights: RankingWeights) -> float:
    return weights.words + weights.soft + weights.meaning


def order_of(pool: Pool) -> list[tuple[PassageKey, float]]:
    return [(candidate.key, candidate.score) for candidate in pool.ranked()]


@pytest.mark.parametrize("weights", [DEFAULT_WEIGHTS, words_only()])
def test_the_shares_of_all_evidence_sum_to_one(weights: RankingWeights) -> None:
    assert evidence_shares(weights) == pytest.approx(1.0)


@pytest.mark.slow
@given(results_by_retriever(), st.data())
def test_a_better_score_never_lowers_a_candidate(results: Results, data: st.DataObject) -> None:
    retriever = data.draw(
        st.sampled_from([retriever for retriever in RETRIEVERS if results[retriever]] or [""])
    )
    if not retriever:
        return
    at = data.draw(st.integers(0, len(results[retriever]) - 1))
    old = results[retriever][at]
    raised = list(results[retriever])
    raised[at] = ScoredPassage(old.passage, old.score + data.draw(st.floats(0, 50)))
    for fuse in (scored, placed):
        before, after = order_of(fuse(results)), order_of(fuse({**results, retriever: raised}))
        key = ("b", old.passage.kind, old.passage.id)
        assert dict(after)[key] >= dict(before)[key] - 1e-12
        assert above(after, key) <= above(before, key)


def above(ranked: list[tuple[PassageKey, float]], key: PassageKey) -> int:
    """How many stand clearly above a candidate."""
    own = dict(ranked)[key]
    return sum(score > own + 1e-9 for _, score in ranked)


@pytest.mark.slow
@given(results_by_retriever(), st.data())
@pytest.mark.parametrize("fuse", [scored, placed])
def test_the_order_of_retrievers_and_results_does_not_matter(
    fuse: Callable[[Results], Pool], results: Results, data: st.DataObject
) -> None:
    retrievers = data.draw(st.permutations(RETRIEVERS))
    shuffled = {
        retriever: data.draw(st.permutations(results[retriever])) for retriever in retrievers
    }
    one, other = order_of(fuse(results)), order_of(fuse(shuffled))
    assert [key for key, _ in one] == [key for key, _ in other]
    assert [score for _, score in one] == pytest.approx([score for _, score in other])


def test_the_same_ranks_give_the_same_score_whichever_retriever_gave_them() -> None:
    for places in product(range(1, 6), repeat=3):
        equal = [Candidate(passage(0)) for _ in permutations(places)]
        for candidate, order in zip(equal, permutations(places), strict=True):
            candidate.ranks.update(zip(RETRIEVERS, order, strict=False))
        fuse_by_ranks(equal)
        assert len({candidate.score for candidate in equal}) == 1, places


@pytest.mark.slow
@given(results_by_retriever(), st.floats(-2, 60), st.floats(0, 60))
def test_scores_are_between_zero_and_one(results: Results, lowest: float, highest: float) -> None:
    pool = Pool()
    for retriever, found in results.items():
        add_results(pool, retriever, found, lowest, highest)
    assert all(0 <= value <= 1 for c in pool for value in c.scores.values())
    fuse_by_scores(pool, DEFAULT_WEIGHTS)
    assert all(0 <= c.score <= 1 + 1e-9 for c in pool)
    fuse_by_ranks(list(pool))
    assert all(0 < c.score <= 1 + 1e-9 for c in pool)


@pytest.mark.slow
@given(results_by_retriever())
def test_neighbours_and_sessions_add_a_bounded_bonus_only(results: Results) -> None:
    for fuse in (scored, placed):
        pool = fuse(results)
        bare = {c.key: c.score for c in pool}
        add_neighbour_scores(pool)
        smoothed = {c.key: c.score for c in pool}
        add_session_support(pool)
        for c in pool:
            assert bare[c.key] <= smoothed[c.key] <= c.score <= DEFAULT_WEIGHTS.highest + 0.07


def test_the_best_result_of_a_retriever_scores_one_and_the_rest_a_fraction() -> None:
    pool = admitted(
        {"direct_fts": [ScoredPassage(passage(0), 8.0), ScoredPassage(passage(1), 2.0)]}
    )
    assert [c.scores["direct_fts"] for c in pool] == [1.0, 0.25]
    assert [c.ranks["direct_fts"] for c in pool] == [1, 2]


def test_the_lowest_score_of_a_retriever_counts_as_zero() -> None:
    pool = Pool()
    add_results(
        pool,
        "semantic",
        [ScoredPassage(passage(0), 0.8), ScoredPassage(passage(1), 0.2)],
        lowest=0.2,
    )
    assert [c.scores["semantic"] for c in pool] == [1.0, 0.0]


def test_a_match_found_twice_counts_once_and_a_synonym_match_a_little_less() -> None:
    both = Candidate(passage(0), scores={"direct_fts": 1.0, "expanded_fts": 1.0, "summaries": 1.0})
    other = Candidate(passage(1), scores={"expanded_fts": 1.0})
    fuse_by_scores([both, other], words_only())
    assert both.score == 1.0
    assert 0.5 < other.score < 1.0


def test_a_turn_gains_score_only_from_neighbours_in_its_session() -> None:
    def turn(session: str, seq: int, score: float) -> ScoredPassage:
        return ScoredPassage(
            Passage("b", "turn", f"{session}{seq}", session, "", "x", seq=seq), score
        )

    pool = scored({"direct_fts": [turn("s", 4, 1.0), turn("s", 5, 0.5), turn("t", 5, 0.5)]})
    add_neighbour_scores(pool)
    score = {c.passage.id: c.score for c in pool}
    assert score["s5"] > score["t5"]
    assert score["s4"] == pytest.approx(DEFAULT_WEIGHTS.words * (1 + 0.15 * 0.5))
    add_session_support(pool)
    gained = {c.passage.id: c.notes["session"] for c in pool}
    assert gained["s4"] == gained["s5"] > gained["t5"] == 0


def test_word_scores_weigh_more_the_more_of_the_query_they_cover() -> None:
    shares = [weights_for_coverage(covered).words for covered in (0.0, 0.8, 0.9, 1.0)]
    assert shares == sorted(shares) and shares[0] == shares[1] < shares[2] < shares[3]
    for covered in (0.0, 0.85, 1.0):
        assert evidence_shares(weights_for_coverage(covered)) == pytest.approx(1.0)
