"""Transcripts that the real Claude Code 2.1.325 wrote, hooks and all."""

from pathlib import Path

import pytest

from holdfast.model.records import Role
from holdfast.model.trust import Trust
from holdfast.refine.ingest.turns import (
    PrivacyRules,
    RefinedLines,
    RefinedResult,
    RefinedTurn,
    refine_lines,
)
from holdfast.sources.claude_code.files import AGENT, find_transcripts, is_subagent
from holdfast.sources.draft import FileInfo
from holdfast.sources.lines import count_lines, read_lines, segments

RECORDED = Path(__file__).parents[1] / "recorded" / "transcripts"
TRANSCRIPTS = sorted(find_transcripts(RECORDED))
ROOT = "/home/dev/proj"


def read(path: Path) -> RefinedLines:
    (run,) = segments(path, 0, path.stat().st_size)
    file = FileInfo(str(path), AGENT, path.stem, ROOT)
    return refine_lines(read_lines(path, run), 0, file, PrivacyRules())


def read_scenario(name: str, stem: str = "*") -> RefinedLines:
    (path,) = (RECORDED / name).glob(f"*/{stem}.jsonl")
    return read(path)


def talk(refined: RefinedLines) -> list[tuple[str, str]]:
    return [
        (str(event.role), event.text)
        for event in refined.events
        if isinstance(event, RefinedTurn) and event.role is not Role.TOOL
    ]


def calls(refined: RefinedLines) -> list[tuple[str, str, str]]:
    return [
        (event.tool.name, event.tool.target, event.tool.action)
        for event in refined.events
        if isinstance(event, RefinedTurn) and event.tool
    ]


def results(refined: RefinedLines) -> list[tuple[bool, str]]:
    return [(e.ok, e.result) for e in refined.events if isinstance(e, RefinedResult)]


def test_all_transcripts_are_found_and_the_prompt_history_is_not_one() -> None:
    assert len(TRANSCRIPTS) == 12
    assert all(path.name != "history.jsonl" for path in TRANSCRIPTS)
    assert sum(is_subagent(path.stem) for path in TRANSCRIPTS) == 2


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem[:12])
def test_every_recorded_line_has_one_outcome_and_none_fails(path: Path) -> None:
    refined = read(path)

    assert refined.failed == []
    assert len(refined.captured) + sum(refined.skipped.values()) == refined.lines
    assert refined.lines == count_lines(path, 0, path.stat().st_size)
    assert refined.stop == path.stat().st_size


def test_every_recorded_type_is_known() -> None:
    assert sum(read(path).skipped["unknown-type"] for path in TRANSCRIPTS) == 0


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem[:12])
def test_text_injected_by_hooks_is_not_stored(path: Path) -> None:
    refined = read(path)
    kept = "\n".join(str(event) for event in refined.events)

    assert "CTX-" not in kept
    assert "-MARK" not in kept
    assert "hook_rec.py" not in kept
    assert "additional context" not in kept
    assert "system-reminder" not in kept
    assert "tools-used-before-summary" not in kept
    if b"hook_additional_context" in path.read_bytes():
        assert refined.skipped["injected"] > 0


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem[:12])
def test_every_result_belongs_to_a_call_of_its_session(path: Path) -> None:
    refined = read(path)
    asked = {
        (event.session, event.tool.call)
        for event in refined.events
        if isinstance(event, RefinedTurn) and event.tool
    }

    answered = [(e.session, e.call) for e in refined.events if isinstance(e, RefinedResult)]

    assert len(answered) == len(set(answered))
    assert set(answered) <= asked


def test_a_session_with_tools_is_stored_in_order() -> None:
    refined = read_scenario("headless-tools-mcp-hooks")

    assert talk(refined) == [
        ("user", "Please work. SCRIPT:a"),
        ("assistant", "Writing."),
        ("assistant", "All done."),
    ]
    assert calls(refined) == [
        ("Write", "hello.py", "+print('hi')\n+"),
        ("Read", "hello.py", ""),
        ("Edit", "hello.py", "-hi\n+hello"),
        ("Bash", "", "python3 hello.py"),
        ("Bash", "", "false"),
        ("mcp__toy__recall", "", '{"query":"what did we do"}'),
        ("mcp__toy__fail", "", calls(refined)[-1][2]),
    ]
    result = results(refined)
    assert result[:5] == [
        (True, ""),
        (True, ""),
        (True, ""),
        (True, "hello"),
        (False, "Exit code 1"),
    ]
    assert result[6][0] is False and result[6][1].startswith("toy failure")


def test_a_call_without_arguments_shows_none() -> None:
    refined = read_scenario("headless-tools-mcp-hooks")

    assert calls(refined)[-1] == ("mcp__toy__fail", "", "{}")


def test_results_of_the_web_and_of_other_servers_are_external() -> None:
    refined = read_scenario("headless-tools-mcp-hooks")

    trusts = {
        event.tool.name: event.trust
        for event in refined.events
        if isinstance(event, RefinedTurn) and event.tool
    }

    assert trusts["mcp__toy__recall"] is Trust.EXTERNAL
    assert trusts["Bash"] is Trust.TOOL


def test_a_session_has_its_folder_and_version() -> None:
    refined = read_scenario("headless-tools-mcp-hooks")

    (session,) = refined.sessions.values()

    assert session.id == session.host == "285942cd-cbbe-4b0d-a6f5-3a1d124df918"
    assert (session.cwd, session.version, session.parent) == (ROOT, "2.1.325", "")


def test_a_resumed_and_compacted_session_keeps_its_messages_and_marks_the_summary() -> None:
    refined = read_scenario("headless-subagents-resume-compact")

    assert talk(refined) == [
        ("user", "go SCRIPT:par"),
        ("assistant", "Waiting for the background agent."),
        ("assistant", "CHILD2-RESULT"),  # the report of an agent in the background
        ("assistant", "Finished all."),
        ("user", "next SCRIPT:two"),
        ("assistant", "Second prompt reply"),
        ("summary", "SCRIPTED SUMMARY of the conversation."),
        ("user", "after compact SCRIPT:two"),
        ("assistant", "Second prompt reply"),
    ]
    assert refined.skipped["compaction"] == 1
    assert calls(refined) == [
        ("Agent", "general-purpose", "look around"),
        ("Agent", "Explore", "bg look"),
    ]


def test_a_subagent_has_a_session_of_its_own_below_its_parent() -> None:
    (path,) = RECORDED.rglob("agent-aa61946ce1aa6cdea.jsonl")
    refined = read(path)

    parent = "850230b1-912d-4a38-a80f-1dff2de0dba1"
    (session,) = refined.sessions.values()

    assert session.id == f"{parent}:aa61946ce1aa6cdea"
    assert (session.host, session.parent) == (parent, parent)
    assert talk(refined) == [
        ("user", "Look. SCRIPT:child"),
        ("assistant", "child thinks"),
        ("assistant", "CHILD-RESULT: one README"),
    ]
    assert calls(refined) == [("Bash", "", "ls")]
    trusts = [event.trust for event in refined.events if isinstance(event, RefinedTurn)]
    assert Trust.USER not in trusts


def test_a_subagents_command_keeps_the_last_line_of_its_output() -> None:
    (path,) = RECORDED.rglob("agent-aa61946ce1aa6cdea.jsonl")

    assert results(read(path)) == [(True, "README.md")]


def test_prompts_typed_at_the_terminal_are_stored() -> None:
    refined = read_scenario("interactive-tui")

    assert talk(refined) == [
        ("user", "please SCRIPT:int"),
        ("assistant", "working"),
        ("assistant", "int done"),
        ("user", "again SCRIPT:hi"),
        ("assistant", "hello again"),
    ]


def test_a_session_that_moved_into_a_worktree_stays_one_session() -> None:
    refined = read_scenario("headless-worktree-relocated")

    assert talk(refined) == [("user", "x SCRIPT:t"), ("assistant", "fin")]
    (session,) = refined.sessions.values()
    assert session.id == "8629d679-1758-41e0-9e38-f31347b5d2a8"
    assert session.title
    assert session.cwd == ROOT
    assert ("EnterWorktree", "", '{"name":"wt1"}') in calls(refined)


def test_an_api_error_is_not_stored_as_an_answer() -> None:
    refined = read_scenario("headless-api-error")

    assert talk(refined) == [("user", "x SCRIPT:e")]


def test_the_spilled_output_of_a_hook_is_not_stored() -> None:
    refined = read_scenario("headless-hook-output-spilled")

    assert talk(refined) == [("user", "x SCRIPT:a"), ("assistant", "fin")]
    assert (calls(refined), results(refined)) == ([("Bash", "", "echo hi")], [(True, "hi")])


def test_the_text_of_rules_and_memory_files_is_not_stored() -> None:
    refined = read_scenario("headless-rules-memory")

    assert talk(refined) == [("user", "go SCRIPT:m"), ("assistant", "fin")]
    assert [target for _, target, _ in calls(refined)] == ["sub/x.py", "top.py"]


def test_a_refused_tool_call_is_a_failure_with_its_reason() -> None:
    refined = read_scenario("sdk-memory-agent")

    assert (
        False,
        "Error: No such tool available: Bash. Bash is disabled for this session, in "
        "subagents as well as here.",
    ) in results(refined)


def test_commands_to_the_program_and_their_output_are_not_prompts() -> None:
    refined = read_scenario("sdk-streaming-compact-clear", "1c26970b*")
    after_clear = read_scenario("sdk-streaming-compact-clear", "2b70ffb1*")

    assert [text for role, text in talk(refined) if role == "user"] == [
        "a SCRIPT:hi",
        "b SCRIPT:err",
        "c SCRIPT:hi",
        "d SCRIPT:task",
        "e SCRIPT:watch",
        "after compact SCRIPT:hi",
        "f SCRIPT:loop",
    ]
    summaries = [text for role, text in talk(refined) if role == "summary"]
    assert summaries == ["SCRIPTED SUMMARY of the conversation."] * 2
    assert refined.skipped["compaction"] == 1
    assert talk(after_clear) == [("user", "g SCRIPT:hi"), ("assistant", "hello")]
