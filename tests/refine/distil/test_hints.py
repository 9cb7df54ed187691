"""Which statements last. Patterns that are tried only where a text has a hint of them find what
they found without."""

from __future__ import annotations

import pytest

from holdfast.model.records import Role
from holdfast.refine.distil.features import Candidate
from holdfast.refine.distil.kinds import explains
from holdfast.refine.distil.lasting import may_last
from holdfast.refine.distil.utterances import Place, Utterance
from holdfast.refine.facts.hypotheses import states_fix
from tests.refine.distil.test_distil import said, statement


def lasts(text: str, place: Place = Place.CLOSING, lead: str = "") -> bool:
    reply = Utterance(said(Role.ASSISTANT, text), text, place, False)
    return may_last(Candidate(0, statement(text, lead)), [reply])


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
    "text",
    [
        "The worker confirmed that the table of the ledger has its key in place.",
        "All three teammates returned with the pages of the ledger and its tables.",
        "Both review agents have finished their reading of the importer of the ledger.",
        "Everything is ready, the importer of the ledger reads every table by its key.",
        "You can now read every table of the ledger by its key with the importer.",
        "The importer of the ledger should now read every table by its key.",
        "I've identified the root cause of the double rows in the ledger of the tenant.",
        "The table of the closed years of the ledger was left untouched.",
        "Pull request of the importer: https://code.example/ledger/pull/new/fix-keys for review.",
        "The lock of the importer is most likely the reason for the double rows.",
    ],
)
def test_who_works_and_that_the_work_is_done_does_not_last(text: str) -> None:
    assert not lasts(text)


def test_what_stands_below_a_hand_over_does_not_last() -> None:
    text = "The importer of the ledger reads every table by its key"
    assert lasts(text, lead="What it does")
    assert not lasts(text, lead="When you deploy")


@pytest.mark.parametrize("opener", ["Actually, ", "Hmm, ", "I can directly see that "])
def test_thinking_aloud_on_the_way_does_not_last(opener: str) -> None:
    text = "the importer of the ledger reads every table by its key"
    assert lasts(text, Place.REPLY)
    assert not lasts(opener + text, Place.REPLY)


@pytest.mark.parametrize(
    "text",
    [
        "The worker of the ledger reads every table by its key and keeps a lock.",
        "The agents of a tenant share one key of the ledger and its tables.",
        "I've identified the root cause of the double rows: the retry of the importer.",
        "The tables of the ledger are ready for a second tenant with its own key.",
    ],
)
def test_what_is_so_lasts(text: str) -> None:
    assert lasts(text)


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
