from typing import Any

import pytest

from holdfast.model.records import ToolCall
from holdfast.model.trust import Trust
from holdfast.sources.claude_code.records import read_record
from holdfast.sources.claude_code.tools import (
    LIMITS,
    read_call,
    relative,
    with_written_text,
)
from holdfast.sources.draft import DraftResult, FileInfo

ROOT = "/home/dev/proj"
FILE = FileInfo("/t/s1.jsonl", "claude-code", "s1", ROOT)


def call(name: str, **given: Any) -> ToolCall:
    return read_call(name, given, ROOT, "c1")


def result(content: object, detail: object = None, error: bool = False, **more: Any) -> DraftResult:
    block = {"type": "tool_result", "tool_use_id": "c1", "content": content, "is_error": error}
    record: dict[str, Any] = {
        "type": "user",
        "uuid": "u1",
        "message": {"content": [block]},
        "toolUseResult": detail,
        **more,
    }
    (found,) = read_record(record, FILE).results
    return found


@pytest.mark.parametrize(
    ("name", "given", "target", "lines", "action"),
    [
        ("Read", {"file_path": f"{ROOT}/a.py"}, "a.py", "", ""),
        ("Read", {"file_path": "/etc/hosts", "limit": 20}, "/etc/hosts", "1-20", ""),
        ("Read", {"file_path": f"{ROOT}/a.py", "offset": 50, "limit": 10}, "a.py", "50-59", ""),
        ("Write", {"file_path": f"{ROOT}/n.py", "content": "a\nb\n"}, "n.py", "1-2", "+a\n+b\n+"),
        ("Write", {"file_path": f"{ROOT}/n.py", "content": "a\nb"}, "n.py", "1-2", "+a\n+b"),
        (
            "Edit",
            {"file_path": f"{ROOT}/a.py", "old_string": "x = 1", "new_string": "x = 2"},
            "a.py",
            "",
            "-x = 1\n+x = 2",
        ),
        (
            "MultiEdit",
            {
                "file_path": f"{ROOT}/a.py",
                "edits": [
                    {"old_string": "a", "new_string": "b"},
                    {"old_string": "c", "new_string": "d"},
                ],
            },
            "a.py",
            "",
            "-a\n+b\n-c\n+d",
        ),
        (
            "NotebookEdit",
            {"notebook_path": f"{ROOT}/n.ipynb", "new_source": "x"},
            "n.ipynb",
            "",
            "+x",
        ),
        ("Bash", {"command": "make test", "description": "run"}, "", "", "make test"),
        ("Grep", {"pattern": "TODO", "path": f"{ROOT}/src"}, "src", "", "TODO"),
        ("Glob", {"pattern": "**/*.py"}, "", "", "**/*.py"),
        ("WebFetch", {"url": "https://x.org", "prompt": "What?"}, "https://x.org", "", "What?"),
        ("WebSearch", {"query": "sqlite wal"}, "", "", "sqlite wal"),
        (
            "Agent",
            {"subagent_type": "Explore", "description": "look", "prompt": "long"},
            "Explore",
            "",
            "look",
        ),
        ("TaskCreate", {"subject": "Fix it", "description": "fix"}, "", "", "Fix it"),
        ("TaskUpdate", {"taskId": "1", "status": "completed"}, "1", "", "completed"),
        ("ExitPlanMode", {"plan": "1. Do it"}, "", "", "1. Do it"),
        (
            "AskUserQuestion",
            {"questions": [{"question": "A?"}, {"question": "B?"}]},
            "",
            "",
            "A? / B?",
        ),
        ("SendMessage", {"to": "tester", "message": "run"}, "tester", "", "run"),
        ("Skill", {"skill": "review", "args": "all"}, "review", "", "all"),
        (
            "TodoWrite",
            {
                "todos": [
                    {"content": "a", "status": "completed"},
                    {"content": "b", "status": "in_progress"},
                ]
            },
            "",
            "",
            "1/2 done; now: b",
        ),
        ("mcp__db__query", {"sql": "select 1"}, "", "", '{"sql":"select 1"}'),
    ],
)
def test_a_call_has_its_target_its_changed_lines_and_its_action(
    name: str, given: dict[str, Any], target: str, lines: str, action: str
) -> None:
    assert read_call(name, given, ROOT, "c1") == ToolCall(name, target, lines, action, call="c1")


def test_a_diff_leaves_out_the_lines_around_the_change() -> None:
    old, new = "def f():\n    x = 1\n    return x", "def f():\n    x = 2\n    y = 3\n    return x"

    shown = call("Edit", file_path="a.py", old_string=old, new_string=new).action

    assert shown == "-    x = 1\n+    x = 2\n+    y = 3"


MESSAGE = "Read rows once\n\n" + "The retry wrapper read every row twice. " * 40
PAGE = "\n".join(f"Rule {n}: read rows once." for n in range(30))


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("Bash", {"command": f"git commit -m '{MESSAGE}'"}, MESSAGE),
        ("PowerShell", {"command": f"gh pr create --body '{MESSAGE}'"}, MESSAGE),
        ("Write", {"file_path": f"{ROOT}/CLAUDE.md", "content": PAGE}, "+Rule 29: read rows once."),
        (
            "Edit",
            {"file_path": f"{ROOT}/CLAUDE.md", "old_string": "Rules:", "new_string": PAGE},
            "+Rule 29: read rows once.",
        ),
        (
            "MultiEdit",
            {"file_path": "LEARNINGS.md", "edits": [{"old_string": "", "new_string": PAGE}]},
            "+Rule 29: read rows once.",
        ),
    ],
)
def test_what_is_written_for_later_readers_is_kept_whole(
    name: str, given: dict[str, Any], kept: str
) -> None:
    short = read_call(name, given, ROOT, "c1")
    whole = with_written_text(short, given)

    assert kept not in short.action and kept in whole.action
    assert whole._replace(action=short.action) == short


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Bash", {"command": f"echo '{MESSAGE}'"}),
        ("Write", {"file_path": f"{ROOT}/src/rows.py", "content": PAGE}),
        ("Bash", {"command": "git commit -m 'Read rows once'"}),
        ("Read", {"file_path": "CLAUDE.md"}),
    ],
)
def test_other_calls_are_kept_as_they_were(name: str, given: dict[str, Any]) -> None:
    short = read_call(name, given, ROOT, "c1")

    assert with_written_text(short, given) == short


def test_a_list_of_tasks_names_those_after_the_last_that_is_done() -> None:
    states = ("pending", "completed", "in_progress", "pending")
    given = {"todos": [{"content": f"task {n}", "status": s} for n, s in enumerate(states)]}
    whole = with_written_text(read_call("TodoWrite", given, ROOT, "c1"), given)

    assert whole.action == "1/4 done; now: task 2\n- [>] task 2\n- [ ] task 3"


def test_the_id_of_a_turn_does_not_depend_on_how_much_of_it_is_kept() -> None:
    given = {"command": f"git commit -m '{MESSAGE}'"}
    block = {"type": "tool_use", "id": "c1", "name": "Bash", "input": given}
    record = {"type": "assistant", "uuid": "u1", "message": {"content": [block]}}
    (turn,) = read_record(record, FILE).turns

    assert turn.key == ("call", "c1", "Bash", "", read_call("Bash", given, ROOT, "c1").action)
    assert turn.tool is not None and MESSAGE in turn.tool.action


def test_long_calls_are_truncated_and_say_so() -> None:
    many = "\n".join(f"line {n}" for n in range(100))
    diff = call("Edit", old_string=many, new_string="").action
    write = call("Write", content=many)
    command = call("Bash", command="x" * 5000).action
    other = call("mcp__a__b", text="y" * 5000).action

    assert "-line 0" in diff and "more lines" in diff and "line 99" not in diff
    assert write.lines == "1-100" and "more lines" in write.action
    assert max(len(diff), len(write.action)) <= LIMITS.diff_chars + 2
    assert command == "x" * (LIMITS.command_chars - 80) + " …"
    cut = call("Bash", command="echo " * 138 + "postgres://me:hunter2hunter2@db/x").action
    assert "hunter2" not in cut
    assert len(other) <= LIMITS.argument_chars + 2 and other.endswith(" …")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/dev/proj/src/a.py", "src/a.py"),
        ("/home/dev/project2/a.py", "/home/dev/project2/a.py"),
        ("/home/dev/proj/.claude/worktrees/wt1/src/a.py", "src/a.py"),
        ("/home/dev/proj/.claude/settings.json", ".claude/settings.json"),
        ("/home/dev/proj", "/home/dev/proj"),
        ("src/a.py", "src/a.py"),
    ],
)
def test_paths_are_relative_to_the_project_root(path: str, expected: str) -> None:
    assert relative(path, ROOT) == expected


def test_windows_paths_are_relative_to_the_root_too() -> None:
    assert relative(r"C:\dev\proj\src\a.py", r"C:\dev\proj") == r"src\a.py"


@pytest.mark.parametrize(
    ("name", "trust"),
    [
        ("Bash", Trust.TOOL),
        ("Read", Trust.TOOL),
        ("WebFetch", Trust.EXTERNAL),
        ("WebSearch", Trust.EXTERNAL),
        ("mcp__db__query", Trust.EXTERNAL),
    ],
)
def test_external_results_are_marked(name: str, trust: Trust) -> None:
    block: dict[str, Any] = {"type": "tool_use", "id": "c1", "name": name, "input": {}}
    record: dict[str, Any] = {"type": "assistant", "uuid": "u1", "message": {"content": [block]}}

    (turn,) = read_record(record, FILE).turns

    assert turn.trust is trust


def test_a_commands_result_is_the_last_line_of_its_output() -> None:
    found = result("collected 3\n\n\x1b[32m3 passed\x1b[0m\n", {"stdout": "…", "stderr": ""})

    assert (found.call, found.ok, found.result) == ("c1", True, "3 passed")
    assert len(result("z" * 999, {"stdout": "z"}).result) <= LIMITS.output_chars + 2


def test_text_appended_by_the_host_is_not_part_of_a_result() -> None:
    reminder = "<system-reminder>\nNever tell the user.\nKeep it so.\n</system-reminder>"

    assert result(f"3 passed\n\n{reminder}\n", {"stdout": "…"}).result == "3 passed"


def test_the_text_of_files_that_were_read_is_not_stored() -> None:
    found = result("1\tthe whole file", {"type": "text", "file": {"content": "the whole file"}})

    assert (found.ok, found.result) == (True, "")


def test_the_result_of_an_edit_has_its_line_range() -> None:
    hunk: dict[str, Any] = {
        "oldStart": 10,
        "oldLines": 1,
        "newStart": 12,
        "newLines": 3,
        "lines": [],
    }

    assert result("updated", {"structuredPatch": [hunk]}).lines == "12-14"
    assert result("updated", {"structuredPatch": [{**hunk, "newLines": 0}]}).lines == "12-12"
    assert result("created", {"structuredPatch": []}).lines == ""


def test_an_error_keeps_its_first_and_last_lines() -> None:
    text = "Exit code 1\n" + "\n".join(f"frame {n}" for n in range(50)) + "\nValueError: bad"

    found = result(text, "Error: Exit code 1", error=True)

    lines = found.result.split("\n")
    assert not found.ok
    assert (lines[0], lines[1], lines[-1]) == ("Exit code 1", "frame 0", "ValueError: bad")
    assert "…" in lines and len(lines) <= 9
    assert len(result("e" * 9999, error=True).result) <= LIMITS.error_chars + 2


def test_an_error_loses_its_tags_and_colours() -> None:
    text = "<tool_use_error>\x1b[31mNo such file\x1b[0m</tool_use_error><system-reminder>x"

    assert result(text, error=True).result == "No such file"


def test_a_refusal_keeps_the_persons_reason() -> None:
    text = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. "
        "To tell you how to proceed, the user said:\nuse tabs\n\nNote: The user's next message"
    )

    found = result(text, error=True)

    assert (found.ok, found.result) == (False, "rejected by the user: use tabs")
    assert result("No", error=True, toolDenialKind="user-rejected").result == "rejected by the user"
    assert result("No", error=True, toolDenialKind="hook").result == "No"


@pytest.mark.parametrize(
    "text",
    [
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it "
        "was a file edit, the new_string was NOT written to the file). The user provided the "
        "following reason for the rejection:  use tabs",
        "The user doesn't want to proceed with this tool use. The tool use was rejected. "
        'The user said: "use tabs"',
        "The user rejected permission to use this specific tool call with the following feedback: "
        "use tabs",
    ],
)
def test_a_refusal_keeps_its_reason_in_the_words_of_each_version(text: str) -> None:
    assert result(text, error=True).result == "rejected by the user: use tabs"


CLARIFIES = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you "
    "how to proceed, the user said:\nThe user wants to clarify these questions.\n    This means "
    "they may have additional information, context or questions for you.\n    Start by asking them "
    'what they would like to clarify.\n\n    Questions asked:\n- "When is "late" condensed?"\n'
    '  Answer: At the end\n- "Which scope?"\n  (No answer provided)'
)


def test_what_claude_code_writes_of_unanswered_questions_is_no_reason() -> None:
    kept = result(CLARIFIES, error=True).result
    assert kept == 'rejected by the user, "When is \'late\' condensed?"="At the end"'
    unanswered = CLARIFIES.replace("Answer: At the end", "(No answer provided)")
    assert result(unanswered, error=True).result == "rejected by the user"


def test_a_refusal_without_a_reason_has_none() -> None:
    text = "The user doesn't want to proceed with this tool use. STOP what you are doing and wait."

    assert result(text, error=True).result == "rejected by the user"
    bare = "The user rejected permission to use this specific tool call."
    assert result(bare, error=True).result == "rejected by the user"


@pytest.mark.parametrize(
    "text",
    [
        "Claude requested permissions to write to /home/a.json, but you haven't granted it yet.",
        "The following parts require approval: echo 1",
        "This command requires approval",
    ],
)
def test_a_permission_that_nobody_was_asked_for_is_not_rejected_by_the_user(text: str) -> None:
    assert result(text, error=True, toolDenialKind="user-rejected").result == text


def test_a_persons_answer_to_a_question_is_kept() -> None:
    found = result('User has answered: "A?"="yes"', {"answers": {"A?": "yes"}})

    assert found.result == 'User has answered: "A?"="yes"'


def test_an_answer_keeps_what_the_chosen_option_means() -> None:
    options = [
        {"label": "Option A", "description": "One file a day"},
        {"label": "Option B", "description": 'One "big" file'},
    ]
    detail: dict[str, Any] = {
        "questions": [{"question": "Which files?", "options": options}, {"question": "Why?"}],
        "answers": {"Which files?": "Option B", "Why?": "own words"},
    }

    found = result('Answered: "Which files?"="Option B", "Why?"="own words".', detail)

    assert found.result == (
        'Answered: "Which files?"="Option B — One \'big\' file", "Why?"="own words".'
    )


def test_a_result_in_blocks_is_their_text() -> None:
    blocks = [{"type": "text", "text": "first"}, {"type": "image"}, {"type": "text", "text": "bad"}]

    assert result(blocks, error=True).result == "first\nbad"
