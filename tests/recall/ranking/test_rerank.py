"""The second look at the best: what each reranker prefers, and how its word takes effect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ModelError
from holdfast.inference import packaged
from holdfast.inference.token_vectors import TokenVectors
from holdfast.inference.tokenizer import open_tokenizer
from holdfast.language import stem
from holdfast.model.query import Passage
from holdfast.recall.core.candidates import Candidate, Pool
from holdfast.recall.core.relevance import READ
from holdfast.recall.query.query import Query
from holdfast.recall.query.terms import read_terms
from holdfast.recall.ranking.rerank import (
    CrossEncoder,
    Reranker,
    SoftMatcher,
    add_as_evidence,
    blend_into_scores,
    rerank,
)
from holdfast.recall.retrievers.semantic_search import ModelSemanticSearch, SemanticModels

FILLER = "We talked about the weather and about nothing in particular for a long while. " * 12


def asked(text: str) -> Query:
    terms = read_terms(text)
    spelled = dict.fromkeys(terms.words, 1.0)
    return Query(text, terms, {stem(word): 1.0 for word in spelled}, spelled, None, False)


def candidate(id: str, body: str, score: float = 0.0, context: str = "") -> Candidate:
    passage = Passage("b", "turn", id, "s", "2026-05-08T10:00:00.000Z", body, context)
    return Candidate(passage, score=score)


def pool_of(*candidates: Candidate) -> Pool:
    pool = Pool()
    for one in candidates:
        pool.add(one.passage).score = one.score
    return pool


def order(pool: Pool) -> list[str]:
    return [one.passage.id for one in pool.ranked()]


class FixedReranker:
    """A cross-encoder and a reranker that return fixed scores."""

    name = "fixed"

    def __init__(self, values: Sequence[float] | None = None) -> None:
        self._values = values
        self.read: list[str] = []
        self.tokens: int | None = None

    def score(
        self,
        query: str,
        texts: Iterable[str],
        deadline: float | None = None,
        tokens: int | None = None,
    ) -> list[float] | None:
        self.read += texts
        self.tokens = tokens
        return None if self._values is None else list(self._values)

    def judge(
        self, query: Query, best: Sequence[Candidate], deadline: float
    ) -> Sequence[float] | None:
        return self.score(query.text, [one.passage.body for one in best], deadline)


class Failing(FixedReranker):
    """A reranker whose model is broken."""

    def judge(
        self, query: Query, best: Sequence[Candidate], deadline: float
    ) -> Sequence[float] | None:
        raise ModelError("The model broke.", "Choose another.")


@pytest.fixture(scope="module")
def shipped() -> ModelSemanticSearch:
    tokenizer = open_tokenizer(packaged.TOKENIZER)
    parts = SemanticModels(None, tokenizer, TokenVectors(packaged.EMBEDDER), None)
    return ModelSemanticSearch(Path("/nonexistent"), parts)


def judged(reranker: Reranker, question: str, *candidates: Candidate) -> Sequence[float]:
    values = reranker.judge(asked(question), candidates, float("inf"))
    assert values is not None and len(values) == len(candidates)
    return values


def test_the_soft_matcher_prefers_exact_words_and_then_similar_ones(
    shipped: ModelSemanticSearch,
) -> None:
    exact, near, far = judged(
        SoftMatcher(shipped),
        "which colour for the boat",
        candidate("a", "The boat gets the colour green."),
        candidate("b", "The ship will be painted in green."),
        candidate("c", "Lunch is at noon."),
    )
    assert exact > near > far


def test_the_soft_matcher_discounts_length_and_counts_preceding_context(
    shipped: ModelSemanticSearch,
) -> None:
    long, short, bare, placed = judged(
        SoftMatcher(shipped),
        "which colour for the boat",
        candidate("a", f"{FILLER} The boat: colour green."),
        candidate("b", "The boat: colour green."),
        candidate("c", "The boat: green."),
        candidate("d", "The boat: green.", context="Which colour do you want?"),
    )
    assert short > long and short > placed > bare


@pytest.mark.parametrize("ships", [True, False])
def test_scores_are_noted_of_the_reranker_that_ships_alone(ships: bool) -> None:
    parts = SemanticModels(None, None, None, FixedReranker([3.0, -1.5]), reranker_is_english=ships)
    encoder = CrossEncoder(ModelSemanticSearch(Path("/nonexistent"), parts))
    read = [candidate("a", "The boat is green."), candidate("b", "Lunch is at noon.")]
    judged(encoder, "which colour has the boat", *read)
    assert [one.notes.get(READ) for one in read] == ([3.0, -1.5] if ships else [None, None])


def test_the_soft_matcher_prefers_adjacent_words(shipped: ModelSemanticSearch) -> None:
    together, scattered = judged(
        SoftMatcher(shipped),
        "the harbour master",
        candidate("a", "We asked the harbour master, and the rest of the town was told."),
        candidate(
            "b", "The master of the house was told, and the rest of us asked in the harbour."
        ),
    )
    assert together > scattered


def test_a_cross_encoder_reads_the_context_and_then_the_start_of_the_text(tmp_path: Path) -> None:
    model = FixedReranker([1.0, 2.0])
    meaning = ModelSemanticSearch(tmp_path, SemanticModels(None, None, None, model))
    both = candidate("a", "Green.", context="Which colour?"), candidate("b", FILLER, context="x")
    assert judged(CrossEncoder(meaning), "colour", *both) == [1.0, 2.0]
    assert model.read[0] == "Which colour? Green." and len(model.read[1]) == 600
    assert model.read[1].startswith(f"[8 May 2026] {FILLER[:20]}")


def test_a_cross_encoder_reads_a_long_text_around_the_query_terms(tmp_path: Path) -> None:
    fixed = FixedReranker([1.0])
    reading = CrossEncoder(ModelSemanticSearch(tmp_path, SemanticModels(None, None, None, fixed)))
    answer = "The retry limit of the queue is five."

    judged(reading, "the retry limit of the queue", candidate("long", FILLER * 2 + answer))
    judged(reading, "the price of tea", candidate("long", FILLER * 2 + answer))

    met, elsewhere = fixed.read
    assert answer in met and met.startswith("[8 May 2026] ")
    assert elsewhere.startswith("[8 May 2026] We talked about the weather")


def test_the_token_limit_of_a_cross_encoder_grows_with_the_number_of_texts(tmp_path: Path) -> None:
    fixed = FixedReranker([1.0])
    reading = CrossEncoder(ModelSemanticSearch(tmp_path, SemanticModels(None, None, None, fixed)))
    reading.judge(asked("x"), [candidate("a", "a")] * 3, float("inf"))
    assert fixed.tokens == 1300  # what few are, cannot be too much
    reading.judge(asked("x"), [candidate("a", "a")] * 50, float("inf"))
    assert fixed.tokens == 3250


def test_the_token_limit_of_a_cross_encoder_is_lower_for_long_texts(tmp_path: Path) -> None:
    fixed = FixedReranker([1.0])
    reading = CrossEncoder(ModelSemanticSearch(tmp_path, SemanticModels(None, None, None, fixed)))
    long, short = [candidate("a", FILLER)] * 20, [candidate("b", "b")] * 30
    reading.judge(asked("x"), long, float("inf"))
    assert fixed.tokens == 20 * 30
    reading.judge(asked("x"), long + short, float("inf"))
    assert fixed.tokens == 20 * 30 + 30 * 65


def test_a_candidate_that_was_not_reranked_keeps_its_score() -> None:
    pool = pool_of(*(candidate(id, id, score) for id, score in (("a", 4), ("b", 3), ("c", 2))))
    strategy = rerank(FixedReranker([0.0, 9.0]), asked("x"), pool, 3, 1.0, blend_into_scores)
    assert (strategy.found, order(pool), pool.ranked()[2].score) == (2, ["b", "a", "c"], 2)


def test_only_the_best_candidates_are_reranked_and_the_rest_keep_their_scores() -> None:
    pool = pool_of(
        *(candidate(id, id, score) for id, score in (("a", 4), ("b", 3), ("c", 2), ("d", 1)))
    )
    strategy = rerank(FixedReranker([0.0, 9.0]), asked("x"), pool, 2, 1.0, blend_into_scores)
    assert (strategy.name, strategy.found, strategy.problem) == ("fixed", 2, "")
    assert order(pool) == ["b", "a", "c", "d"]
    assert [one.score for one in pool.ranked()[2:]] == [2, 1]


@pytest.mark.parametrize(
    ("reranker", "timed_out", "problem"),
    [(FixedReranker(None), True, ""), (Failing(), False, "The model broke.")],
)
def test_a_reranker_that_is_late_or_fails_leaves_the_order_and_is_reported(
    reranker: Reranker, timed_out: bool, problem: str
) -> None:
    pool = pool_of(candidate("a", "a", 2), candidate("b", "b", 1))
    strategy = rerank(reranker, asked("x"), pool, 2, 1.0, blend_into_scores)
    assert (strategy.timed_out, strategy.problem, strategy.found) == (timed_out, problem, 0)
    assert [one.score for one in pool.ranked()] == [2, 1]


def test_reranker_values_used_as_evidence_do_not_change_scores_before_fusion() -> None:
    pool = pool_of(candidate("a", "a", 2), candidate("b", "b", 1))
    rerank(FixedReranker([0.25, 1.0]), asked("x"), pool, 2, 1.0, add_as_evidence)
    assert [(one.score, one.scores["soft"]) for one in pool.ranked()] == [(2, 0.25), (1, 1.0)]


def test_the_soft_matcher_scales_scores_to_the_best_match(shipped: ModelSemanticSearch) -> None:
    some = [candidate("a", "Lunch is at noon."), candidate("b", "A boat, one boat.")]
    assert max(judged(SoftMatcher(shipped), "which boat", *some)) == pytest.approx(1.0)
    assert judged(SoftMatcher(shipped), "", *some) == [0.0, 0.0]


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(0, 2), st.floats(-9, 9)), min_size=1, max_size=8))
def test_blended_scores_stay_in_range_and_keep_an_order_that_both_agree_on(
    scores: list[tuple[float, float]],
) -> None:
    some = [candidate(str(n), "x", score) for n, (score, _) in enumerate(scores)]
    blend_into_scores(some, [value for _, value in scores])
    before = [score for score, _ in scores]
    assert all(min(before) - 1e-9 <= one.score <= max(before) + 1e-9 for one in some)
    for one, (score, value) in zip(some, scores, strict=True):
        for other, (less, lower) in zip(some, scores, strict=True):
            if score >= less and value >= lower:
                assert one.score >= other.score - 1e-9


def test_the_speaker_factor_still_applies_after_blending() -> None:
    some = [candidate("a", "x", 1.0), candidate("b", "x", 0.5), candidate("c", "x", 0.1)]
    some[1].factor = 0.5
    blend_into_scores(some, [3.0, 3.0, 0.0])
    assert some[1].score == pytest.approx(0.5 * some[0].score)


@pytest.mark.parametrize(("length", "gains"), [(10, True), (900, False)])
def test_a_short_turn_gains_from_highly_ranked_neighbours(length: int, gains: bool) -> None:
    """Two that are judged alike: one stands beside the best, the other far from it."""
    turns = [("best", 7), ("near", 8), ("far", 30), ("worst", 40)]
    some = [candidate(id, "x" * length, 0.5) for id, _ in turns]
    some[0].score = 1.0
    for one, (_, seq) in zip(some, turns, strict=True):
        one.passage = one.passage._replace(seq=seq)
    blend_into_scores(some, [9.0, 5.0, 5.0, 0.0])
    assert (some[1].score > some[2].score) is gains


def test_a_session_with_relevant_turns_raises_its_other_turns() -> None:
    some = [candidate(id, "x" * 900, 0.5) for id in ("a", "b", "c", "alone")]
    some[0].score = 1.0
    some[3].passage = some[3].passage._replace(session="other")
    blend_into_scores(some, [9.0, 8.0, 5.0, 5.0])
    assert some[2].score > some[3].score
