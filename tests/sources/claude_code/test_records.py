import json
import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.ledgers.lines import LineOutcome, SkipReason
from holdfast.model.records import Role
from holdfast.model.trust import Trust
from holdfast.sources.claude_code.records import (
    describe_session,
    read_record,
    session_id,
    skip_unparsed,
)
from holdfast.sources.draft import DraftTurn, FileInfo, ParsedLine

FILE = FileInfo("/t/s1.jsonl", "claude-code", "s1", "/home/dev/proj")
TIME = "2026-03-01T10:00:00.000Z"


def line(kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": "u1",
        "sessionId": "s1",
        "timestamp": TIME,
        "cwd": "/home/dev/proj",
        "gitBranch": "main",
        "version": "2.1.325",
        "isSidechain": False,
        **fields,
    }


def user(content: object, **fields: Any) -> dict[str, Any]:
    return line("user", message={"role": "user", "content": content}, **fields)


def assistant(*blocks: object, **fields: Any) -> dict[str, Any]:
    return line("assistant", message={"role": "assistant", "content": list(blocks)}, **fields)


def attachment(kind: str, **fields: Any) -> dict[str, Any]:
    return line("attachment", attachment={"type": kind, **fields})


def only_turn(reading: ParsedLine) -> DraftTurn:
    assert reading.outcome is LineOutcome.CAPTURED
    (turn,) = reading.turns
    return turn


def outcome(record: dict[str, Any]) -> tuple[LineOutcome, str]:
    reading = read_record(record, FILE)
    assert reading.outcome is LineOutcome.CAPTURED or not (reading.turns or reading.results)
    return reading.outcome, reading.reason


@pytest.mark.parametrize(
    "kind",
    [
        "agent-name",
        "api-request",
        "api-request-shape",
        "atis-latch",
        "attribution-snapshot",
        "content-replacement",
        "continued-in",
        "cost-state",
        "derived-from",
        "file-history-delta",
        "file-history-snapshot",
        "fork-context-ref",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "relocated",
        "system",
        "tools-used",
        "worktree-state",
    ],
)
def test_lines_about_the_program_itself_are_housekeeping(kind: str) -> None:
    assert outcome(line(kind)) == (LineOutcome.SKIPPED, SkipReason.HOUSEKEEPING)


def test_an_unknown_type_is_skipped_under_its_name() -> None:
    assert outcome(line("brand-new")) == (LineOutcome.SKIPPED, SkipReason.UNKNOWN_TYPE)
    assert outcome({}) == (LineOutcome.SKIPPED, SkipReason.UNKNOWN_TYPE)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"type":"file-history-snapshot","messageId":"m"}', True),
        (b'{"type":"queue-operation","operation":"enqueue"}', True),
        (b'{"type":"mode","mode":"normal"}', True),
        (b'{"parentUuid":null,"type":"progress","data":{"type":"hook_progress"}}', True),
        (b'{"type":"mode-of-speech"}', False),
        (b'{"type":"api-request-blob","blob":"x"}', False),
        (b'{"type":"user","message":{"content":"\\"type\\":\\"progress\\""}}', False),
        (b'{"type":"custom-title","customTitle":"T"}', False),
    ],
)
def test_housekeeping_is_recognised_by_its_first_bytes(data: bytes, expected: bool) -> None:
    assert (skip_unparsed(data) is SkipReason.HOUSEKEEPING) is expected


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (attachment("hook_success", stdout="remember me"), SkipReason.INJECTED),
        (attachment("hook_additional_context", content=["remember me"]), SkipReason.INJECTED),
        (attachment("hook_blocking_error"), SkipReason.INJECTED),
        (attachment("hook_non_blocking_error"), SkipReason.INJECTED),
        (attachment("hook_system_message"), SkipReason.INJECTED),
        (attachment("async_hook_response"), SkipReason.INJECTED),
        (line("api-request-blob", blob="remember me"), SkipReason.INJECTED),
        (user("<holdfast-brief>old news</holdfast-brief>"), SkipReason.INJECTED),
        (user('<holdfast-brief bank="x">old\nnews'), SkipReason.INJECTED),
        (attachment("nested_memory", content="CLAUDE.md"), SkipReason.HOUSEKEEPING),
        (attachment("instructions"), SkipReason.HOUSEKEEPING),
        (attachment("skill_listing"), SkipReason.HOUSEKEEPING),
        (attachment("queued_command", prompt=""), SkipReason.EMPTY),
        (user("", isCompactSummary=True), SkipReason.COMPACTION),
        (user("A summary.", repeatsCompactSummary=True), SkipReason.COMPACTION),
        (
            user("This session is being continued from a previous conversation that ran out"),
            SkipReason.COMPACTION,
        ),
        (user("Caveat", isMeta=True), SkipReason.MACHINE),
        (user("done", turnOrigin="task_notification"), SkipReason.MACHINE),
        (user("   "), SkipReason.EMPTY),
        (user([]), SkipReason.EMPTY),
        (assistant({"type": "thinking", "thinking": "hm"}), SkipReason.THINKING),
        (assistant({"type": "redacted_thinking", "data": "x"}), SkipReason.THINKING),
        (assistant({"type": "text", "text": " \n"}), SkipReason.EMPTY),
        (
            assistant({"type": "text", "text": "API Error: 400"}, isApiErrorMessage=True),
            SkipReason.MACHINE,
        ),
        (
            line(
                "assistant", message={"model": "<synthetic>", "content": "No response requested."}
            ),
            SkipReason.MACHINE,
        ),
    ],
)
def test_lines_without_a_message_are_skipped_for_the_right_reason(
    record: dict[str, Any], reason: SkipReason
) -> None:
    assert outcome(record) == (LineOutcome.SKIPPED, reason)


@pytest.mark.parametrize("content", [None, 5, True, {"a": 1}])
@pytest.mark.parametrize("kind", ["user", "assistant"])
def test_a_message_of_the_wrong_shape_fails(kind: str, content: object) -> None:
    assert outcome(line(kind, message={"content": content})) == (LineOutcome.FAILED, "wrong-shape")
    assert outcome(line(kind)) == (LineOutcome.FAILED, "wrong-shape")


def test_a_prompt_becomes_a_turn_of_the_user() -> None:
    reading = read_record(user("  Fix the parser.\n"), FILE)

    turn = only_turn(reading)
    assert (turn.role, turn.trust, turn.text) == (Role.USER, Trust.USER, "Fix the parser.")
    assert (turn.time, turn.speaker) == (TIME, "")
    assert (reading.session, reading.branch, reading.ref) == ("s1", "main", "u1")


def test_a_compaction_becomes_the_agents_summary_and_never_a_prompt() -> None:
    text = "This session is being continued from a previous conversation.\n\nSummary:\nIt works."
    turn = only_turn(read_record(user(text, isCompactSummary=True), FILE))

    assert (turn.role, turn.trust, turn.text) == (Role.SUMMARY, Trust.ASSISTANT, "It works.")


def test_an_answer_becomes_a_turn_of_the_assistant() -> None:
    turn = only_turn(read_record(assistant({"type": "text", "text": "Fixed. "}), FILE))

    assert (turn.role, turn.trust, turn.text) == (Role.ASSISTANT, Trust.ASSISTANT, "Fixed.")


def test_every_block_of_an_old_line_becomes_a_turn_except_thinking() -> None:
    record = assistant(
        {"type": "thinking", "thinking": "secret thoughts"},
        {"type": "text", "text": "First."},
        {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}},
        {"type": "text", "text": "Second."},
    )

    turns = read_record(record, FILE).turns

    assert [turn.text or (turn.tool and turn.tool.action) for turn in turns] == [
        "First.",
        "ls",
        "Second.",
    ]
    assert len({turn.key for turn in turns}) == 3


def test_an_image_leaves_a_placeholder_and_not_its_data() -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}

    turns = read_record(user([{"type": "text", "text": "See"}, image]), FILE).turns

    assert [turn.text for turn in turns] == ["See", "[image]"]


def test_an_image_in_a_subagents_prompt_is_not_the_users() -> None:
    turn = only_turn(read_record(user([{"type": "image"}], agentId="a1"), FILE))

    assert turn.trust is Trust.ASSISTANT


def test_a_command_typed_while_the_agent_was_busy_is_captured() -> None:
    record = attachment("queued_command", prompt="Also add a test.", commandMode="prompt")

    turn = only_turn(read_record(record, FILE))

    assert (turn.role, turn.trust, turn.text) == (Role.USER, Trust.USER, "Also add a test.")


def test_a_queued_notification_is_not_a_prompt() -> None:
    by_mode = attachment("queued_command", prompt="Agent done", commandMode="task-notification")
    by_text = attachment("queued_command", prompt="<task-notification>x</task-notification>")

    assert outcome(by_mode) == outcome(by_text) == (LineOutcome.SKIPPED, SkipReason.MACHINE)


REPORT = "<task-notification>\n<result>The lock is\nnever freed.</result>\n</task-notification>"


@pytest.mark.parametrize(
    "record",
    [
        user(REPORT),
        user(REPORT, turnOrigin="task_notification"),
        user([{"type": "text", "text": REPORT}]),
        attachment("queued_command", prompt=REPORT, commandMode="task-notification"),
        attachment("queued_command", prompt=[{"type": "text", "text": REPORT}]),
    ],
)
def test_the_report_of_an_agent_in_the_background_is_its_finding(record: dict[str, Any]) -> None:
    turn = only_turn(read_record(record, FILE))

    assert (turn.role, turn.trust, turn.speaker) == (Role.ASSISTANT, Trust.ASSISTANT, "")
    assert turn.text == "The lock is\nnever freed."


def test_a_queued_command_with_an_image_keeps_its_text() -> None:
    blocks = [
        {"type": "text", "text": "Like this picture."},
        {"type": "image", "source": {"type": "base64", "data": "AAAA"}},
    ]

    reading = read_record(attachment("queued_command", prompt=blocks), FILE)

    assert reading.turns[0].text == "Like this picture.\n\n[image]"
    assert all("AAAA" not in turn.text for turn in reading.turns)


def test_a_subagents_lines_are_a_session_of_their_own_with_the_parents_host() -> None:
    record = user("Look around.", agentId="a1", isSidechain=True, attributionAgent="Explore")

    reading = read_record(record, FILE)
    session = describe_session(record, FILE)

    assert reading.session == session.id == session_id(record, FILE) == "s1:a1"
    assert (session.host, session.parent, session.subagent) == ("s1", "s1", "Explore")
    assert only_turn(reading).trust is Trust.ASSISTANT


def test_a_sidechain_of_an_old_version_is_separate_from_its_parent() -> None:
    record = user("Look around.", isSidechain=True)

    session = describe_session(record, FILE)

    assert read_record(record, FILE).session == session.id == "s1:sidechain"
    assert (session.host, session.parent, session.subagent) == ("s1", "s1", "sidechain")


def test_a_session_is_described_by_its_lines() -> None:
    session = describe_session(user("Hi"), FILE)

    assert (session.id, session.host, session.parent, session.subagent) == ("s1", "s1", "", "")
    assert (session.cwd, session.branch, session.version) == (
        "/home/dev/proj",
        "main",
        "2.1.325",
    )


def test_a_line_without_a_session_belongs_to_its_file() -> None:
    record = user("Hi")
    del record["sessionId"]

    assert read_record(record, FILE).session == describe_session(record, FILE).id == "s1"


def test_lines_without_a_uuid_are_distinguished_by_their_time() -> None:
    first, second = user("Go on"), user("Go on", timestamp="2026-03-01T10:00:01.000Z")
    del first["uuid"], second["uuid"]

    keys = {only_turn(read_record(record, FILE)).key for record in (first, second)}

    assert len(keys) == 2


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-03-01T10:00:00.000Z", "2026-03-01T10:00:00.000Z"),
        ("2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00.000Z"),
        ("2026-03-01T10:00:00", "2026-03-01T10:00:00.000Z"),
        (1_772_359_200, "2026-03-01T10:00:00.000Z"),
        (1_772_359_200_000, "2026-03-01T10:00:00.000Z"),
        ("yesterday", ""),
        (True, ""),
        (None, ""),
        (10**400, ""),
    ],
)
def test_times_are_stored_in_one_format(given: object, expected: str) -> None:
    assert only_turn(read_record(user("Hi", timestamp=given), FILE)).time == expected


def test_an_invalid_time_is_dropped() -> None:
    turn = only_turn(read_record(user("Hi", timestamp="2026-99-99T99:99:99.999Z"), FILE))

    assert turn.time == ""


@pytest.mark.parametrize(
    ("kind", "key"),
    [("summary", "summary"), ("custom-title", "customTitle"), ("ai-title", "aiTitle")],
)
def test_a_title_is_assigned_to_its_session(kind: str, key: str) -> None:
    reading = read_record({"type": kind, key: " Fix the parser ", "sessionId": "s1"}, FILE)

    assert (reading.outcome, reading.session, reading.title) == (
        LineOutcome.CAPTURED,
        "s1",
        "Fix the parser",
    )
    assert not reading.turns


def test_a_summary_titles_the_session_of_its_leaf_in_another_file(tmp_path: Path) -> None:
    later, titled = tmp_path / "later.jsonl", tmp_path / "titled.jsonl"
    copy = tmp_path / "resumed.jsonl"
    leaf = json.dumps(user("Done?", uuid="u9", sessionId="s-old"))
    titled.write_text(json.dumps(user("Start", uuid="u8")) + "\n" + leaf + "\n", "utf-8")
    copy.write_text(json.dumps(user("Done?", uuid="u9", sessionId="s-copy")), "utf-8")
    os.utime(titled, ns=(1, 1))
    record = {"type": "summary", "summary": "Old work", "leafUuid": "u9"}

    file = FILE._replace(path=str(later), stem="later")
    reading = read_record(record, file)

    assert (reading.session, reading.title) == ("s-old", "Old work")
    described = describe_session(record, file)
    assert (described.id, described.host, described.cwd) == ("s-old", "s-old", "")


def test_a_summary_whose_leaf_is_in_no_file_is_housekeeping(tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text('{"uuid":"u9', "utf-8")
    file = FILE._replace(path=str(tmp_path / "later.jsonl"))
    for leaf in ({"leafUuid": "u9"}, {"leafUuid": ""}, {}):
        reading = read_record({"type": "summary", "summary": "Old work", **leaf}, file)

        assert (reading.outcome, reading.reason) == (LineOutcome.SKIPPED, SkipReason.HOUSEKEEPING)
