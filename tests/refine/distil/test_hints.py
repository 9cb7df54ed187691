"""Patterns that are tried only where a text has a hint of them find what they found without."""

from __future__ import annotations

import pytest

from holdfast.model.records import Role
from holdfast.refine.distil.features import Candidate
from holdfast.refine.distil.kinds import explains
from holdfast.refine.distil.lasting import may_last
from holdfast.refine.distil.utterances import Place, Utterance
from holdfast.refine.facts.hypotheses import states_fix
from tests.refine.distil.test_distil import said, statement


def lasts(text: str) -> bool:
    reply = Utterance(said(Role.ASSISTANT, text), text, Place.CLOSING, False)
    return may_last(Candidate(0, statement(text)), [reply])


@pytest.mark.parametrize(
    "state",
    [
        "whose working tree is clean",
        "whose Worktrees are still dirty",
        "whose current branch is fine",
        "that is AHEAD OF origin by two",
        "that is behind `upstream` by two",
        "with no rebase in progress",
        "with its outstanding work",
        "whose worker is still active",
        *(
            f"that is already {how}"
            for how in ("handling", "working on", "online", "standing by", "waiting", "in_progress")
        ),
        "that is in progress",
        "that is now Running",
        "that is idle",
        "that got unblocked",
        "that is still working",
    ],
)
def test_how_matters_stand_does_not_last(state: str) -> None:
    assert lasts("The importer of the ledger reads every table by its key")
    assert not lasts(f"The importer of the ledger reads every table by its key, {state} today")


@pytest.mark.parametrize(
    "reason",
    [
        "the Root cause sits in the lock",
        "it fails BECAUSE of the lock",
        "it is caused by the lock",
        "it is due to the lock",
        "it turns out to be the lock",
        "it turned out to be the lock",
        "that is a trap",
        "one gotcha",
        *(f"the actual {what} was the lock" for what in ("bug", "issue", "Problem", "culprit")),
    ],
)
def test_a_reason_is_found_by_its_hint(reason: str) -> None:
    assert explains(statement(reason))


@pytest.mark.parametrize(
    "fix",
    [
        "The fix is a lock.",
        "We fixed it by a lock.",
        "It was Solved by a lock.",
        "It was resolved by a lock.",
        "That is what fixed it.",
        "That is what solved it.",
        "The solution was a lock.",
        "Both are now fixed.",
        "The importer now works.",
        "The test NOW passes.",
        "Fixed.",
    ],
)
def test_a_fix_is_found_by_its_hint(fix: str) -> None:
    assert states_fix(fix)
