"""What is told of records that do not clearly answer a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from holdfast.language import stem
from holdfast.model.query import LAYER_BY_KIND, Hit
from holdfast.model.trust import Trust
from holdfast.research.answering.near_misses import nearest_notes, not_known, perhaps_answer
from holdfast.research.answering.sentence_choice import read_question

QUESTION = "Why was the ferry shown as late?"
TEXT = (
    "Plan of the week.\n\nThe pier was painted and the crane was oiled. The ferry seemed overdue "
    "because the gauge had lost its connection."
)


def miss(relevance: float, coverage: float, needed: float = 0.41, text: str = TEXT) -> Hit:
    why = {"relevance": relevance, "coverage": coverage, "needed": needed}
    return Hit("holdfast://turn/1", "turn", LAYER_BY_KIND["turn"], 1.0, text, "", "", "b", why=why)


def test_a_near_record_is_named_by_what_it_says_of_the_question() -> None:
    asked = read_question(QUESTION, {stem("ferry"): 3.0, stem("late"): 2.0})
    (note,) = nearest_notes([miss(0.3, 0.25), miss(0.3, 0.1)], None, asked, lambda texts: ())
    assert note.startswith("Nearest: “The ferry seemed overdue because the gauge")
    assert note.endswith("(holdfast://turn/1)")
    assert not_known([note]) != not_known([])


def test_a_record_that_may_be_the_answer_is_quoted_first() -> None:
    asked = read_question(QUESTION, {stem("pier"): 3.0, stem("crane"): 2.0})
    more = " ".join(f"On day {n} the gate of the yard was open all day long." for n in range(12))
    far, close = miss(0.3, 0.25), miss(0.4, 0.25, text=f"{TEXT} {more}")
    silent = miss(0.3, 0.25, text="I'll start by reading the tables of the pier and the crane.")

    def cosines(texts: Sequence[str]) -> list[float]:
        return [1.5 if "overdue" in text else 0.0 for text in texts]

    first, second = nearest_notes([silent, far, close], close, asked, cosines)
    assert first.startswith("Perhaps: “The ferry seemed overdue because the gauge had lost its")
    assert "On day 0 the gate" in first
    assert second.startswith("Nearest: “The pier was painted")
    assert not_known([first]) != not_known([])


@pytest.mark.parametrize(
    ("found", "is_close"),
    [
        (miss(0.40, 0.25), True),
        (miss(0.36, 0.25), False),  # too far below the threshold
        (miss(0.40, 0.55), False),  # near by words alone
        (miss(0.40, 0.10), False),  # hardly a word of the question
        (miss(0.40, 0.25, needed=0.49), False),  # another name than the one that is asked for
        (miss(0.40, 0.25, text="Why was the ferry shown as late?"), False),  # states nothing
    ],
)
def test_a_record_in_other_words_may_be_the_answer(found: Hit, is_close: bool) -> None:
    assert (perhaps_answer([found], QUESTION) is found) is is_close


def test_words_from_outside_are_not_taken_for_the_answer() -> None:
    assert perhaps_answer([replace(miss(0.40, 0.25), trust=Trust.EXTERNAL)], QUESTION) is None


def test_a_record_that_was_not_measured_is_no_answer() -> None:
    hit = Hit("holdfast://turn/1", "turn", LAYER_BY_KIND["turn"], 1.0, TEXT, "", "", "b")
    assert perhaps_answer([hit], QUESTION) is None


def test_three_near_records_are_named_at_most_and_none_twice() -> None:
    asked = read_question(QUESTION, {stem("ferry"): 3.0, stem("late"): 2.0})
    texts = [f"The ferry of pier {n // 2} was late because of the fog." for n in range(12)]
    misses = [miss(0.3, 0.25, text=text) for text in texts]
    notes = nearest_notes(misses, None, asked, lambda texts: ())
    assert [note.partition(" was late")[0] for note in notes] == [
        f"Nearest: “The ferry of pier {n}" for n in range(3)
    ]
