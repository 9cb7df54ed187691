"""What of a question is looked for."""

from __future__ import annotations

import pytest

from holdfast.recall.query.terms import read_terms


@pytest.mark.parametrize(
    "question",
    [
        "What became of the cache?",
        "what has become of the cache",
        "So what's become of the cache?",
        "What ever became of the cache",
    ],
)
def test_a_question_about_what_became_of_a_thing_looks_for_the_thing(question: str) -> None:
    assert read_terms(question).words == ("cache",)


def test_became_counts_where_it_does_not_ask() -> None:
    assert read_terms("The cache became too large").words == ("cache", "became", "large")
