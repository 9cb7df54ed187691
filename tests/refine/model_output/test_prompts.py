"""What a model is shown of turns, and in which context."""

from __future__ import annotations

import json

import pytest

from holdfast.inference.chat import Question
from holdfast.model.records import Exchange, ExchangeType, Outcome, Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.model_output import prompts
from holdfast.refine.model_output.prompts import PromptContext

LONG = "x = compute(row)\n" * 40


def tool_turn(name: str, action: str, ok: bool | None = True, result: str = "") -> Turn:
    call = ToolCall(name, "src/importer.py", "", action, result, ok)
    return Turn("b", "t1", "s", 7, "", Role.TOOL, Trust.TOOL, tool=call)


@pytest.mark.parametrize("name", ["Edit", "Write", "Bash", "Read"])
def test_of_a_call_that_worked_the_start_and_the_end_are_shown(name: str) -> None:
    shown = prompts.format_turn(tool_turn(name, f"first {LONG} last", result="done in 3 s"))
    assert "first" in shown and "last" in shown and "→ ok: done in 3 s" in shown
    assert len(shown) < 400 < len(LONG)


@pytest.mark.parametrize(
    "turn",
    [
        tool_turn("Edit", LONG, ok=False, result="String to replace not found"),
        tool_turn("Bash", f"pytest -q {LONG}"),
        tool_turn("Bash", f"git commit -m '{LONG}'"),
        tool_turn("ExitPlanMode", LONG),
        tool_turn("AskUserQuestion", LONG, result='"Which key?"="The hash of the file"'),
        tool_turn("SendMessage", LONG),
    ],
    ids=["failed", "tests", "commit", "plan", "question", "message"],
)
def test_calls_that_say_something_are_shown_whole(turn: Turn) -> None:
    assert turn.tool is not None
    shown = prompts.format_turn(turn)
    assert LONG.strip() in shown and turn.tool.result in shown


def test_turns_are_numbered_by_their_place_in_the_session_if_wanted() -> None:
    turn = Turn("b", "t1", "s", 12, "", Role.USER, Trust.USER, "Use tabs.")
    assert prompts.format_turn(turn) == "[user] Use tabs."
    assert prompts.format_turn(turn, numbered=True) == "[12 user] Use tabs."
    assert prompts.split_exchange([turn], 100, numbered=True) == ["[12 user] Use tabs."]


def test_the_context_stands_before_the_exchanges_and_inside_the_borders() -> None:
    context = PromptContext("tide\nwatch", "- bugfix, done: The clock was an hour late", ["One."])
    for question in (
        prompts.exchanges_question(["[user] Go on."], context=context),
        prompts.digest_question("- change, done: Go on", context),
    ):
        border, *lines, last = question.text.split("\n")
        assert border == last and border in question.system
        assert lines[:5] == [
            f"{border} context: the project is called tide watch",
            f"{border} context: what came before",
            "- bugfix, done: The clock was an hour late",
            f"{border} context: what is remembered of this session already",
            "- One.",
        ]
        assert "Go on" in lines[-1]


def test_a_prompt_without_context_has_none() -> None:
    question = prompts.exchanges_question(["[user] Go on."])
    assert "context:" not in question.text and question.text.count("\n") == 3


def test_the_exchange_before_is_cut() -> None:
    before = Exchange(
        "b", "x", "s", 1, 2, "", "", ExchangeType.CHANGE, "Title", "word " * 2000, "",
        Outcome.DONE, Trust.USER,
    )  # fmt: skip
    assert prompts.format_before(None) == ""
    shown = prompts.format_before(before)
    assert shown.startswith("- change, done: Title") and len(shown) < 1300


def test_instructions_come_before_what_differs_from_call_to_call() -> None:
    """So that a service may reuse what it has read of them."""
    one, other = (prompts.exchanges_question([f"[user] {n}"]).system for n in "ab")
    same = next(at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
    assert same > 0.75 * len(one)


@pytest.mark.parametrize(
    "question", [prompts.exchanges_question(["[user] a"]), prompts.digest_question("a")]
)
def test_the_example_of_a_good_answer_is_one(question: Question) -> None:
    example = question.system.partition("of another project:\n")[2]
    answer = json.loads(example.partition("\n\n")[0].replace("\n", " "))
    wanted = question.schema
    assert set(answer) == set(wanted["required"])
    for exchange in answer.get("exchanges", []):
        assert set(exchange) == set(wanted["properties"]["exchanges"]["items"]["required"])
