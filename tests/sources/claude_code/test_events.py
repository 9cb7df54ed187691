from __future__ import annotations

from typing import Any

import pytest

from holdfast.model.ledgers.lines import LineOutcome, SkipReason
from holdfast.model.records import Role
from holdfast.model.trust import Trust
from holdfast.sources.claude_code.events import (
    AGENT,
    EventContent,
    describe_session,
    read_record,
    refine_payload,
    turn_fields,
)
from holdfast.sources.draft import FileInfo

FILE = FileInfo("/h/events/s1.jsonl", AGENT, "s1", "/home/dev/proj")
TIME = "2026-11-01T00:00:00.000Z"


def content_of(event: str, **payload: Any) -> EventContent:
    return refine_payload(event, payload, "/home/dev/proj", TIME, TIME)


@pytest.mark.parametrize(
    ("prompt", "skip"),
    [
        ("/compact keep the plan", SkipReason.MACHINE),
        ("/clear", SkipReason.MACHINE),
        ("<task-notification>\n<task-id>a</task-id>", SkipReason.MACHINE),
        ("<holdfast-brief>ours</holdfast-brief>", SkipReason.INJECTED),
        ("   ", SkipReason.EMPTY),
        (7, SkipReason.EMPTY),
    ],
)
def test_machine_text_is_not_a_prompt(prompt: object, skip: SkipReason) -> None:
    assert content_of("UserPromptSubmit", prompt=prompt).skip is skip


def test_the_report_in_a_notification_is_a_finding_of_the_agent() -> None:
    prompt = "<task-notification>\n<result>It leaks.</result>\n</task-notification>"
    turn = content_of("UserPromptSubmit", prompt=prompt).turn
    assert turn is not None
    assert (turn.role, turn.trust, turn.text) == (Role.ASSISTANT, Trust.ASSISTANT, "It leaks.")


@pytest.mark.parametrize("prompt", ["/hey there", "/etc/hosts is wrong", "fix it"])
def test_typed_text_is_a_prompt(prompt: str) -> None:
    turn = content_of("UserPromptSubmit", prompt=prompt).turn
    assert turn is not None and (turn.text, turn.trust) == (prompt, Trust.USER)


def test_text_from_inside_a_subagent_is_not_the_users() -> None:
    turn = content_of("UserPromptSubmit", prompt="look", agent_id="a1").turn
    assert turn is not None and turn.trust is Trust.ASSISTANT


def test_a_persons_answer_to_a_question_is_kept() -> None:
    response: dict[str, Any] = {"questions": [], "answers": {"Which one?": "the blue one"}}
    given = {"questions": [{"question": "Which one?"}]}
    result = content_of(
        "PostToolUse", tool_name="AskUserQuestion", tool_input=given, tool_response=response
    ).result
    assert result is not None and result.result == '"Which one?"="the blue one"'


def test_an_api_error_is_not_a_message() -> None:
    failed = content_of("StopFailure", error="rate_limit", last_assistant_message="API Error: 429")
    assert (failed.turn, failed.notes) == (None, (("error", "rate_limit"),))
    assert content_of("Stop").skip is SkipReason.EMPTY
    assert content_of("SomethingNew", prompt="x") == EventContent()


def test_a_compaction_gives_the_agents_summary_without_its_thinking() -> None:
    thought = "<analysis>\nFirst, I look back.\n</analysis>"
    written = f"{thought}\n<summary>\nThe cache was at fault.\n</summary>"
    compacted = content_of("PostCompact", trigger="auto", compact_summary=written)
    assert compacted.turn is not None and compacted.turn.text == "The cache was at fault."
    assert (compacted.turn.role, compacted.turn.trust) == (Role.SUMMARY, Trust.ASSISTANT)
    before = content_of("PreCompact", trigger="auto")
    assert (before.turn, before.notes) == (None, (("trigger", "auto"),))


def line(**fields: Any) -> dict[str, Any]:
    return {"v": 1, "id": "1.Stop.s1.7@8", "event": "Stop", "time": TIME, "session": "s1", **fields}


def test_a_turn_survives_a_round_trip() -> None:
    payload = {"tool_name": "Edit", "tool_use_id": "toolu_1"}
    payload |= {"tool_input": {"file_path": "/home/dev/proj/a.py", "old_string": "x"}}
    kept = content_of("PostToolUse", **payload)
    assert kept.turn is not None
    reading = read_record(line(**turn_fields(kept.turn, kept.result)), FILE)
    (turn,), (result,) = reading.turns, reading.results
    assert turn.tool == kept.turn.tool and turn.key[:3] == ("call", "toolu_1", "Edit")
    assert result == kept.result
    assert (reading.session, reading.ref) == ("s1", "1.Stop.s1.7@8")


@pytest.mark.parametrize(
    ("fields", "fate", "reason"),
    [
        ({}, LineOutcome.SKIPPED, "empty"),
        ({"event": "SessionStart"}, LineOutcome.SKIPPED, "housekeeping"),
        (
            {"v": 2, "role": "user", "trust": "user", "text": "x"},
            LineOutcome.SKIPPED,
            "unknown-type",
        ),
        ({"skip": "private"}, LineOutcome.SKIPPED, "private"),
        ({"skip": "of the future"}, LineOutcome.SKIPPED, "unknown-type"),
        ({"problem": "not-json"}, LineOutcome.FAILED, "not-json"),
        ({"problem": "of the future"}, LineOutcome.FAILED, "wrong-shape"),
        ({"role": "king", "trust": "user", "text": "x"}, LineOutcome.SKIPPED, "empty"),
        ({"role": "user", "trust": "user", "text": 7}, LineOutcome.SKIPPED, "empty"),
    ],
)
def test_every_line_has_an_outcome(fields: dict[str, Any], fate: LineOutcome, reason: str) -> None:
    reading = read_record(line(**fields), FILE)
    assert (reading.outcome, reading.reason) == (fate, reason)


def test_a_subagents_line_names_its_parent() -> None:
    draft = describe_session(line(agent="a1", agent_type="Explore", cwd="/p"), FILE)
    assert (draft.id, draft.host, draft.parent, draft.subagent, draft.cwd) == (
        "s1:a1",
        "s1",
        "s1",
        "Explore",
        "/p",
    )
    assert describe_session({"v": 1}, FILE).id == "s1"
