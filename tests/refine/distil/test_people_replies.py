"""What people say through a tool: answers to questions, and why they refuse a call."""

import pytest

from holdfast.model.records import Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.distil import distil
from holdfast.refine.distil.people_replies import answers, refusal
from holdfast.refine.distil.selector import packaged_selector
from holdfast.refine.distil.wording import Context

REFUSED = "rejected by the user: "


def test_an_answer_has_its_question_and_what_the_option_means() -> None:
    result = '"Which files?"="Option B — One file a day", "Which name?"="ledger.csv"'
    assert list(answers(ToolCall("AskUserQuestion", result=result))) == [
        "Which files? Option B — One file a day",
        "Which name? ledger.csv",
    ]


@pytest.mark.parametrize(
    ("answer", "decides"),
    [
        ("Decide later — Defer this to the next phase", False),
        ("Explain how the ledger is locked so I can decide.", False),
        ("Not sure", False),
        ("What is the difference?", False),
        ("Was ist der Unterschied", False),
        ("No test should need a session, what is this one for?", True),
        ("It lives beside the ledger. Makes sense?", True),
        ("Later files win", True),
        ("Skip empty rows", True),
        ("Explain how go.work works so I can decide.", False),
        ("Decide later", False),
        ("How would that work with two tenants?", False),
        ("Do not use Redis", True),
        ("Do both", True),
        ("Compare by hash", True),
        ("When the user logs in", True),
        ("How we did it in v1, with JWT", True),
        ("None", True),
        ("Skip", True),
    ],
)
def test_an_answer_that_defers_or_asks_back_decides_nothing(answer: str, decides: bool) -> None:
    result = f'"Where should the ledger live?"="{answer}"'
    assert bool(list(answers(ToolCall("AskUserQuestion", result=result)))) is decides


def test_none_answers_how_many() -> None:
    assert list(answers(ToolCall("AskUserQuestion", result='"Retries?"="None"'))) == [
        "Retries? None"
    ]


def test_an_answer_that_gets_too_long_has_no_meaning() -> None:
    result = f'"Which files?"="Option B — {"one file a day and " * 30}"'
    assert list(answers(ToolCall("AskUserQuestion", result=result))) == ["Which files? Option B"]


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (ToolCall("Bash", action="npm install\nls"), "use pnpm (`npm install` was refused)"),
        (
            ToolCall("ExitPlanMode", action="# Plan: Read rows once\n\nText."),
            "use pnpm (the plan “Read rows once” was refused)",
        ),
        (ToolCall("Edit", target="src/a.py"), "use pnpm (a change of `src/a.py` was refused)"),
        (ToolCall("WebFetch", target="https://example.org"), "use pnpm"),
    ],
)
def test_a_refusal_names_what_was_refused(tool: ToolCall, expected: str) -> None:
    assert refusal(tool._replace(result=f"{REFUSED}use pnpm.")).rstrip(".") == expected


@pytest.mark.parametrize("result", ["rejected by the user", f"{REFUSED}yes, go ahead", "failed"])
def test_without_a_reason_there_is_no_refusal(result: str) -> None:
    assert refusal(ToolCall("Bash", action="npm install", result=result)) == ""


def test_who_would_rather_talk_about_questions_says_nothing_but_what_they_answered() -> None:
    kept = (
        f"{REFUSED}The user wants to clarify these questions.\n    This means they may have "
        'additional information.\n\n    Questions asked:\n- "When is it condensed?"\n'
        '  Answer: At the end\n- "Which scope?"\n  (No answer provided)'
    )
    tool = ToolCall("AskUserQuestion", ok=False, result=kept)  # as an older version kept it
    assert refusal(tool) == ""
    assert list(answers(tool)) == ["When is it condensed? At the end"]


def test_a_long_reason_stands_alone() -> None:
    reason = "Keep the name of the module. Change the entry of the script instead."
    assert refusal(ToolCall("Bash", action="mv a b", result=REFUSED + reason)) == reason


def test_the_reason_of_a_refusal_is_remembered() -> None:
    refused = ToolCall("Bash", action="npm install", ok=False, result=f"{REFUSED}use pnpm")
    turns = [
        Turn("b", "t0", "s", 0, "", Role.USER, Trust.USER, "Set up the page with vite"),
        Turn("b", "t1", "s", 1, "", Role.TOOL, Trust.TOOL, "", tool=refused),
    ]
    found = distil(turns, Context(), packaged_selector())
    assert [one.text for one in found if one.is_person] == ["Use pnpm (`npm install` was refused)"]
