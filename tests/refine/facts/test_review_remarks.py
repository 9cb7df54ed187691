"""What a reviewer said is told apart from what the person says who pastes it."""

from __future__ import annotations

import pytest

from holdfast.refine.facts.decision_sentences import find_decision_sentences
from holdfast.refine.facts.directives import find_directives
from holdfast.refine.facts.typed_text import without_review_remarks
from holdfast.refine.rules.conventions import find_conventions

REMARK = "The berth reader must never return early. Always use one variable for the result."


@pytest.mark.parametrize(
    "opening",
    [
        "A review comment: ",
        "Another review comment:\n\n",
        "Observation from a PR review:\n\n\n",
        "Consider this review feedback: ",
        "Copilot says: ",
        "The reviewer pointed out this: ",
        "PR feedback:\n",
        "Findings of CodeRabbit for this change:\n- ",
    ],
)
def test_what_follows_the_name_of_a_review_is_not_the_persons(opening: str) -> None:
    own = "Be sure to keep it simple."
    assert without_review_remarks(f"{opening}{REMARK}").strip() == opening.partition(":")[0] + ":"
    kept = without_review_remarks(f"{opening}{REMARK}\n\n{own}")
    assert REMARK not in kept and kept.endswith(own)


@pytest.mark.parametrize(
    "opening",
    [
        "Address this:",
        "Fix the following issue:",
        "Let's address these 2:",
        "please look at this:",
        "Two issues to fix:",
        "Minor suggestions:",
    ],
)
def test_work_that_is_given_without_a_word_is_not_the_persons(opening: str) -> None:
    remark = "- The reader is slow: `berths` is created but never used at line 57.\n- It fails."
    assert without_review_remarks(f"{opening} {remark}").strip() == opening
    assert without_review_remarks(f"{opening}\n\n{remark}").strip() == opening


@pytest.mark.parametrize(
    "text",
    [
        "Fix this: we should never retry a 4xx.",
        "Fix these issues:\n1. I want the berths sorted by name\n2. Use pnpm for the scripts",
        "Consider this: always book berths by radio.",
        "The cursor issue: it jumps to the start, keep it where it is.",
        "PR notes: keep them short.",
        "Address the review comments, but never touch the radio.",
        "Note: the reviewer never sees drafts.",
        "Never push to the main branch.",
        "Consider using a queue here.",
        "The list must never be empty. Consider adding a guard, we had that bug before.",
        "My review feedback: from now on always use pnpm, never npm.",
        "Here are my review comments:\n- Always use pnpm, never npm.\n- Never commit to main.",
        "Decision after the code review comments: from now on always run the linter.",
        "Confidence: 0.5 is the minimum from now on.",
        "Severity: high means that we page someone.\nAlways log errors to stderr.",
        "Berths are read by readBerths alone, and ships by readShips. We keep both apart, since a "
        "mismatch of the lists would break the panel of the harbour, as it did in the last winter.",
        "The columns berth_id and pier_id must stay numbers in all tables of the harbour, however "
        "old these are: the panel sorts by them, and letters would break the order of the list.",
        "Major changes: bump the version of the berth list.",
        "Potential issue: we never ran the migration. Always run migrations first.",
        "The cache is slow. Consider using Redis from now on. Redis is the standard cache.",
    ],
)
def test_what_a_person_wants_stays(text: str) -> None:
    assert without_review_remarks(text) == text


@pytest.mark.parametrize(
    "decided",
    [
        "From now on we use pnpm instead of npm.",
        "Decision: we use pnpm instead of npm.",
        "The team decided to use pnpm instead of npm.",
    ],
)
def test_what_a_person_decides_after_a_remark_stays(decided: str) -> None:
    said = f"Codex suggested: use npm.\n\n{decided}"
    assert without_review_remarks(said) == f"Codex suggested:\n\n{decided}"


@pytest.mark.parametrize(
    "pasted",
    [
        "_⚠️ Potential issue_ | _🟠 Major_\n\n**Never return early.**\n\nThe reader must not do it.",
        "In `@src/berths.py` around lines 12 - 20, the reader must never return early.",
        "**Severity:** High\nThe reader must never return early.",
        "![P1 Badge] Never return early\n\nThe reader must not.\n\nUseful? React with 👍 / 👎.",
        "- ⚠️ Issue: The reader must never return early.",
        "The reader must never return early (lines 12-20). Consider using one variable.",
        "`read_berths` and `read_ships` must not differ.\n  Consider creating a builder for them.",
        "Medium Severity\n\nThe reader now returns true when a berth is missing from the list.",
        "The readBerths function uses input.berth directly instead of calling currentBerth as its "
        "twin readShips does. For old berths with a date before their name, this causes a mismatch "
        "of both lists.",
    ],
)
def test_what_a_program_that_reviews_wrote_is_not_the_persons(pasted: str) -> None:
    assert without_review_remarks(pasted).strip() == ""
    both = f"Do not change the radio.\n\n{pasted}\n\nWe never use the telephone."
    said = without_review_remarks(both).split()
    assert " ".join(said) == "Do not change the radio. We never use the telephone."


def test_a_pasted_remark_is_no_rule_decision_or_convention_of_the_person() -> None:
    decided = "We decided to use one exit instead of three."
    pasted = f"A review comment: {REMARK} {decided}"
    assert find_directives(REMARK) and not find_directives(pasted)
    assert find_conventions(REMARK) and not find_conventions(pasted)
    assert find_decision_sentences(decided, by_person=True)
    assert not find_decision_sentences(pasted, by_person=True)


@pytest.mark.parametrize("text", [" " * 50_000 + "x", "review " * 20_000, "fix this " * 20_000])
def test_odd_lines_take_no_time(text: str) -> None:
    assert without_review_remarks(text) == text
