"""A cause is told with the change that ended it, where the agent tells one."""

from __future__ import annotations

import pytest

from holdfast.model.knowledge import Kind
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.features import find_candidates
from holdfast.refine.distil.selector import Scored
from holdfast.refine.distil.utterances import Place, Utterance
from holdfast.refine.distil.wording import Context, Distilled, word_statements

CAUSE = (
    "Root cause: `print_slip` reads the tide table once per berth, so the slip of a full pier "
    "takes a minute."
)
CURE = "Changed `print_slip` to read the tide table once per pier."


def said(number: int, text: str, role: Role = Role.ASSISTANT) -> Utterance:
    trust = Trust.USER if role is Role.USER else Trust.ASSISTANT
    turn = Turn("bank", f"t{number}", "s", number, "2026-05-01T10:00:00Z", role, trust, text)
    return Utterance(turn, text, Place.CLOSING, role is Role.USER)


def told(*utterances: Utterance) -> Distilled:
    """How the first statement of some messages is remembered."""
    found = find_candidates(utterances)
    (first,) = word_statements([Scored(found[0], 1.0, Kind.LESSON)], utterances, Context(), found)
    return first


@pytest.mark.parametrize(
    "utterances",
    [
        (said(1, f"{CAUSE}\n\n{CURE}"),),
        (said(1, CAUSE), said(2, "Fine, go on.", Role.USER), said(3, CURE)),
    ],
)
def test_a_cause_is_told_with_what_ended_it(utterances: tuple[Utterance, ...]) -> None:
    found = told(*utterances)
    assert found.text == f"{CAUSE} Fixed: {CURE}"
    assert [turn.id for turn in found.further] == [one.turn.id for one in utterances[1:][-1:]]


@pytest.mark.parametrize(
    "later",
    [
        "Changed the colour of the crane sheet.",  # of something else
        "Added a test for `print_slip` and the tide table.",
        "`print_slip` should read the tide table once per pier.",  # not done
        "Opened the PR for `print_slip` and its tide table.",
    ],
)
def test_what_did_not_end_a_cause_is_not_told_as_its_cure(later: str) -> None:
    assert told(said(1, CAUSE), said(2, later)).text == CAUSE


def test_a_guess_has_no_cure_and_neither_has_what_a_person_says() -> None:
    guess = CAUSE.replace("Root cause:", "The problem is probably that")
    assert told(said(1, guess), said(2, CURE)).text == guess
    assert told(said(1, CAUSE), said(2, CURE, Role.USER)).text == CAUSE
    assert told(said(1, CAUSE, Role.USER), said(2, CURE)).text == CAUSE
    assert told(said(1, CAUSE), said(2, "All quiet."), said(3, "Noted.")).text == CAUSE
