"""How sure an answer is, by what its records offer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.query import Confidence, Hit, Layer
from holdfast.research.answering.confidence import (
    asks_beyond_quotes,
    confidence_in,
    unsaid_word,
)
from holdfast.settings import Settings

QUESTION = "which gauge publishes the harbour levels every minute?"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    folder = tmp_path_factory.mktemp("home")
    with Holdfast(Settings(home=folder, claude_dir=folder)) as opened:
        yield opened


def hit(name: str, **why: float) -> Hit:
    return Hit(f"holdfast://turn/{name}", "turn", Layer.TRANSCRIPTS, 1.0, "", "", "", "b", why=why)


def sure(memory: Holdfast, *hits: Hit, question: str = QUESTION) -> Confidence:
    return confidence_in(memory.reader, "b", question, hits)


def evidence(best: float, second: float, covered: float, needed: float = 0.4) -> list[Hit]:
    return [
        hit("one", relevance=best, needed=needed, coverage_alone=covered),
        hit("two", relevance=second, needed=needed, coverage_alone=0.1),
    ]


def test_one_record_with_nearly_all_of_the_question_is_of_medium_confidence(
    memory: Holdfast,
) -> None:
    assert sure(memory, *evidence(0.65, 0.6, 0.85)) is Confidence.MEDIUM


def test_a_record_that_stands_out_is_of_medium_confidence(memory: Holdfast) -> None:
    assert sure(memory, *evidence(0.65, 0.3, 0.5)) is Confidence.MEDIUM


def test_among_many_that_are_as_relevant_the_best_is_of_low_confidence(memory: Holdfast) -> None:
    assert sure(memory, *evidence(0.65, 0.6, 0.5)) is Confidence.LOW


def test_high_confidence_needs_a_very_relevant_record_and_a_second_source(memory: Holdfast) -> None:
    assert sure(memory, *evidence(0.75, 0.55, 1.0)) is Confidence.HIGH
    assert sure(memory, *evidence(0.65, 0.55, 1.0)) is Confidence.MEDIUM
    assert sure(memory, *evidence(0.75, 0.45, 1.0)) is Confidence.MEDIUM


def test_a_question_of_three_words_needs_a_record_that_stands_out(memory: Holdfast) -> None:
    short = "who publishes harbour levels?"
    assert sure(memory, *evidence(0.65, 0.6, 1.0), question=short) is Confidence.LOW
    assert sure(memory, *evidence(0.65, 0.5, 1.0), question=short) is Confidence.MEDIUM


def test_what_a_conversation_came_to_is_of_low_confidence_however_well_it_fits(
    memory: Holdfast,
) -> None:
    assert sure(memory, hit("recap", recap=0.9), *evidence(0.65, 0.3, 1.0)) is Confidence.LOW


@pytest.mark.parametrize(
    "question",
    [
        "Can you list the order in which I brought up the gauges?",
        "In which order were the harbours added?",
        "Give me a comprehensive summary of the alerts.",
        "Summarize how the alerts came about.",
        "How many different gauges have I mentioned?",
        "What did I say about gauges across our conversations?",
        "Can you suggest a gauge for the harbour?",
        "Could you show me how to publish the harbour levels?",
        "Can you walk me through how I can read a gauge?",
        "Where do you think I should put the gauge of the harbour?",
    ],
)
def test_what_a_few_quotes_cannot_show_is_of_low_confidence(
    memory: Holdfast, question: str
) -> None:
    assert asks_beyond_quotes(question)
    assert sure(memory, *evidence(0.9, 0.8, 1.0), question=question) is Confidence.LOW


@pytest.mark.parametrize(
    "question",
    [
        "How many days do we keep the logs?",
        "In which file is the order of the columns set?",
        "Which gateway did we choose?",
        "What is in the summary of a session?",
        "Which gateway was recommended?",
        "Can you show me which gauge publishes the levels?",
        "Which gauge should we use for the harbour?",
        "How do I read the gauge of the harbour?",
    ],
)
def test_what_one_record_can_say_is_not_beyond_quotes(question: str) -> None:
    assert not asks_beyond_quotes(question)


WEIGHTS = {"timeout": 5.0, "import": 2.0, "nightli": 2.0}


@pytest.mark.parametrize(
    ("texts", "unsaid"),
    [
        (["The nightly import reads every file.", "Imports are logged."], "timeout"),
        (["The nightly import has a timeout of 30 s.", "Imports are logged."], ""),
        (["Its timeouts are long."], ""),
    ],
)
def test_the_word_that_a_question_is_about_is_looked_for_in_all_records(
    texts: list[str], unsaid: str
) -> None:
    question = "What is the timeout of the nightly import?"
    assert unsaid_word(question, WEIGHTS, texts) == unsaid


def test_no_single_word_is_what_a_long_question_is_about() -> None:
    even = dict.fromkeys(WEIGHTS, 1.0)
    assert unsaid_word("What is the timeout of the nightly import?", even, ["Nothing."]) == ""
