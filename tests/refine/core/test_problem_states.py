"""Which sentences of a plan or a request tell how things are before the work."""

from __future__ import annotations

import pytest

from holdfast.refine.core.problem_states import is_for_now, is_state_before, reports_fault

STATE = "The importer reads every file of the folder."
REST = "It takes a minute on large folders."


@pytest.mark.parametrize(
    "text",
    [
        f"# Plan\n\n## Context\n\n{STATE} {REST}\n\n## Change\n\nRead only new files.",
        f"# Plan\n\n## 1. Background\n{REST}\n{STATE}\n",
        f"**Problem**\n\n{REST}\n\n{STATE}\n\n**Fix**\n\nRead only new files.",
        f"**Problem:** {STATE} {REST}\n\nPlease read only new files.",
        f"Current behaviour: {STATE}\n\nWanted: only new files are read.",
        f"### Current state\n\n- {REST}\n- {STATE}\n",
    ],
)
def test_what_stands_under_the_heading_of_a_problem_is_the_state_before(text: str) -> None:
    assert is_state_before(text, STATE)


@pytest.mark.parametrize(
    "text",
    [
        STATE,
        f"Context matters here: the folder is large.\n\n{STATE}",
        f"## Context\n\n{REST}\n\n## Design\n\n{STATE}",
        f"## Context\n\n{REST}\n\n{STATE}",
        f"Problem solved. {STATE}",
        f"## Problem\n\n{REST}\n\n**Fix**\n\n{STATE}",
    ],
)
def test_what_stands_elsewhere_is_not(text: str) -> None:
    assert not is_state_before(text, STATE)


def test_what_is_wanted_is_not_the_state_before() -> None:
    wanted = "Users expect that the importer reads new files only."
    assert not is_state_before(f"## Context\n\n{wanted}", wanted)


def test_a_sentence_may_say_that_it_will_not_stay_so() -> None:
    assert is_for_now("Currently, all calls use the same model.")
    assert not is_for_now("All calls use the same model.")


@pytest.mark.parametrize(
    "sentence",
    [
        "Getting a 405 method not allowed from the gauge.",
        "i get the following errors in the browser console",
        "the gauge suddenly drops to 0",
        "Access to the gauge has been blocked by CORS policy",
        "this did not fix the gauge",
        "make lint fails",
        "the tests of the gauge are also still failing.",
        "got merge conflicts from the gauge's branch",
        "The gauge won't start with no indication why.",
    ],
)
def test_what_somebody_saw_going_wrong_reports_a_fault(sentence: str) -> None:
    assert reports_fault(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "get the errors from the log of the gauge",
        "the gauge should not print",
        "The gauge is not React, it is Svelte.",
        "Retry when getting a 503 from the gauge.",
        "When we get a 404, fall back to the gauge.",
        "Show errors in the console.",
        "The gauge's build stops as soon as one check fails",
        "We will not build a parser of our own, since there is a good one.",
        "The checks will not run on drafts of a change.",
        "Never deploy while the build is failing.",
        "Keep the old reader as long as the new one is failing.",
        "The gauge does not fix encodings; that is the parser's job.",
    ],
)
def test_what_is_wanted_reports_no_fault(sentence: str) -> None:
    assert not reports_fault(sentence)
