from __future__ import annotations

import pytest

from holdfast.app.evaluation.engine import report_notes
from holdfast.app.evaluation.overrides import changed_numbers, tunable_numbers, with_overrides
from holdfast.errors import InputError
from holdfast.recall.core.plan import RecallPlan


def test_ranking_weights_can_be_set_one_by_one() -> None:
    plan = with_overrides(RecallPlan(), ["weights.words=0.3", "rerank.parts = 2"])
    assert plan.weights.words == 0.3 and plan.rerank.parts == 2
    assert changed_numbers(plan) == {"weights.words": 0.3, "rerank.parts": 2}
    assert changed_numbers(RecallPlan()) == {} and with_overrides(RecallPlan(), []) == RecallPlan()


def test_every_tunable_weight_can_be_set() -> None:
    known = tunable_numbers(RecallPlan())
    plan = with_overrides(RecallPlan(), [f"{name}={value + 1}" for name, value in known.items()])
    assert changed_numbers(plan).keys() == known.keys()


def test_a_changed_weight_is_noted_in_the_result() -> None:
    plan = with_overrides(RecallPlan(), ["thresholds.by_words=0.5"])
    note = "Ranked with thresholds.by_words = 0.5, which is 0.45 by default."
    assert note in report_notes([], plan) and note not in report_notes([], RecallPlan())


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("weights.word=0.3", "no number 'weights.word'", "Did you mean 'weights.words'?"),
        ("weights words", "no number", "NAME=VALUE"),
        ("nonsense=1", "no number 'nonsense'", "thresholds.by_words"),
        ("weights.words=many", "takes a number, not 'many'", "weights.words=1"),
        ("rerank.parts=0.5", "takes a whole number", "rerank.parts=1"),
    ],
)
def test_a_weight_that_cannot_be_set_is_refused_with_a_remedy(
    text: str, message: str, remedy: str
) -> None:
    with pytest.raises(InputError) as caught:
        with_overrides(RecallPlan(), [text])
    assert message in caught.value.message and remedy in caught.value.remedy
