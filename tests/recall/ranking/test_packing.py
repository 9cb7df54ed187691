from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.query import Passage
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.ranking.hits import estimate_tokens, hit_tokens, pack

WORDS = st.sampled_from("red green blue cyan teal navy lime pink gold grey plum rust".split())
TEXTS = st.lists(WORDS, max_size=60).map(" ".join)


def candidates(*bodies: str) -> list[Candidate]:
    return [Candidate(Passage("b", "turn", str(n), "s", "", body)) for n, body in enumerate(bodies)]


@pytest.mark.slow
@given(st.lists(TEXTS, max_size=15), st.integers(0, 400), st.integers(1, 10), st.booleans())
def test_packed_hits_fit_the_budget_whole_and_in_order(
    bodies: list[str], budget: int, limit: int, repeats: bool
) -> None:
    ranked = candidates(*bodies)
    packed = pack(ranked, budget, limit, repeats)
    places = [ranked.index(candidate) for candidate in packed]
    assert places == sorted(places) and len(packed) <= limit
    assert [c.passage.body for c in packed] == [bodies[place] for place in places]
    assert sum(map(hit_tokens, packed)) <= budget or len(packed) == 1
    assert bool(packed) == bool(ranked) and packed[:1] == ranked[:1]


def test_a_first_hit_over_the_budget_is_returned_alone_and_whole() -> None:
    ranked = candidates("word " * 5000, "short", "another")
    assert pack(ranked, 100, 10) == ranked[:1]


def test_a_hit_that_does_not_fit_makes_room_for_one_that_does() -> None:
    ranked = candidates("a first answer", "filling " * 500, "the third thing")
    assert pack(ranked, 120, 10) == [ranked[0], ranked[2]]


def test_a_long_hit_with_the_names_of_the_query_takes_half_of_the_budget_at_most() -> None:
    ranked = candidates("a first answer", "filling " * 20, "GIT_PS1 " * 500, "GIT_PS1 and PS2")
    ranked[2].names = frozenset({"GIT_PS1"})
    assert pack(ranked, 400, 3) == ranked[:3]
    ranked[3].names = frozenset({"GIT_PS1", "PS2"})
    assert pack(ranked, 400, 10) == [ranked[0], ranked[1], ranked[3]]


def test_a_hit_with_a_name_of_the_query_is_no_repeat() -> None:
    ranked = candidates("set the flag and the rest", "set the flag", "the rest")
    ranked[1].names = frozenset({"flag"})
    assert pack(ranked, 1000, 10) == ranked[:2]


def test_as_many_hits_are_packed_as_fit_to_the_token() -> None:
    ranked = candidates("red fox", "blue owl", "green elk")
    exact = sum(map(hit_tokens, ranked))
    assert pack(ranked, exact, 10) == ranked
    assert pack(ranked, exact - 1, 10) == ranked[:2]
    assert pack(ranked, exact, 2) == ranked[:2]


@pytest.mark.parametrize(
    "again",
    [
        "The import loads every row twice after a timeout",
        "the IMPORT loads: every row, twice, after a timeout!",
        "every row twice",
    ],
)
def test_hits_that_only_repeat_another_are_left_out_unless_requested(again: str) -> None:
    ranked = candidates("The import loads every row twice after a timeout", again, "All else.")
    assert pack(ranked, 1000, 10) == [ranked[0], ranked[2]]
    assert ranked[1].notes["repeats"] == 1.0
    assert pack(ranked, 1000, 10, include_repeats=True) == ranked


def test_a_hit_that_says_more_than_another_is_not_a_repeat() -> None:
    ranked = candidates("every row twice", "The import loads every row twice after a timeout")
    assert pack(ranked, 1000, 10) == ranked


def test_texts_without_words_do_not_repeat_each_other() -> None:
    ranked = candidates("→ …", "—", "")
    assert pack(ranked, 1000, 10) == ranked


@pytest.mark.slow
@given(st.text())
def test_a_text_costs_about_one_token_per_four_characters(text: str) -> None:
    assert len(text) / 4 <= estimate_tokens(text) <= len(text) / 4 + 1
