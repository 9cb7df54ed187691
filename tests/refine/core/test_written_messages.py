"""Commit messages, pull requests and notes are read from tool calls, without what programs add."""

from __future__ import annotations

import pytest

from holdfast.model.records import Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.core import signals
from holdfast.refine.core.written_messages import (
    commit_messages,
    pull_request_titles,
    without_noise,
    written_messages,
    written_note,
)

BODY = "Keep one connection a worker\n\nA pool of ten ran out under load."


@pytest.mark.parametrize(
    "command",
    [
        f"git commit -m \"$(cat <<'EOF'\n{BODY}\nEOF\n)\" && git status",
        f"git add -A && git commit -q -F - <<'EOF'\n{BODY}\nEOF\ngit log -1",
        f"git -C /repo commit --file=- <<END\n{BODY}\nEND",
        f"git commit -m @'\n{BODY}\n'@",
        f'git commit -am "{BODY}"',
        f"git commit --message='{BODY}' --no-verify",
        "git commit -m 'Keep one connection a worker' -m 'A pool of ten ran out under load.'",
        f"cd app\ngit commit -m \"$(cat <<'EOF'\n{BODY}",
    ],
)
def test_a_commit_message_is_read_however_it_is_given(command: str) -> None:
    assert commit_messages(command) == [BODY]
    call = ToolCall("Bash", action=command, ok=True)
    turn = Turn("bank", "t", "s", 0, "", Role.TOOL, Trust.TOOL, "", tool=call)
    assert signals.commit_message(turn) == BODY.partition("\n")[0]


def test_each_commit_of_a_command_has_its_message() -> None:
    command = 'git commit -qm "Drop the harness" && git tag -m "no message" v1 && git commit -m "B"'
    assert commit_messages(command) == ["Drop the harness", "B"]


@pytest.mark.parametrize(
    "command",
    [
        "git commit --amend --no-edit && grep -m 1 x file",
        "git commit -F /tmp/message.txt",
        'git commit -m "step $i"',
        "git log --grep commit",
        'echo "git commit" ; head -m "x"',
    ],
)
def test_what_gives_no_message_has_none(command: str) -> None:
    assert commit_messages(command) == []


@pytest.mark.parametrize(
    "command",
    [
        "gh pr create --title 'Keep one connection' --body 'A pool ran out.'",
        'git push && gh pr create --draft \\\n  --title "Keep one connection" \\\n  --fill',
        'gh pr edit 12 -t "Keep one connection"',
        "glab mr create --title='Keep one connection' --description 'A pool ran out.'",
    ],
)
def test_the_title_of_a_pull_request_is_read_from_the_command_that_opens_it(command: str) -> None:
    call = ToolCall("Bash", action=command, ok=True)
    assert pull_request_titles(call) == ["Keep one connection"]
    assert pull_request_titles(call._replace(ok=False)) == []
    turn = Turn("bank", "t", "s", 0, "", Role.TOOL, Trust.TOOL, "", tool=call)
    assert signals.pull_request_title(turn) == "Keep one connection"


@pytest.mark.parametrize(
    "name",
    [
        "mcp__github__create_pull_request",
        "mcp__codex_apps__github__update_pull_request",
        "mcp__gitlab__create_merge_request",
    ],
)
def test_the_title_of_a_pull_request_is_read_from_the_tool_of_a_server(name: str) -> None:
    action = '{"owner":"o","title":"Keep \\"one\\" connection","body":"A pool ran out."}'
    assert pull_request_titles(ToolCall(name, action=action, ok=True)) == ['Keep "one" connection']
    assert pull_request_titles(ToolCall("mcp__github__list_issues", action=action)) == []
    assert pull_request_titles(ToolCall("Bash", action="gh pr create --fill")) == []


def test_signatures_and_references_are_no_part_of_a_message() -> None:
    text = (
        "Read rows once\n\nThe retry wrapper read them twice.\n\nCloses #12\n"
        "🤖 Generated with [Claude Code](https://claude.com/claude-code)\n\n"
        "Co-Authored-By: Claude <noreply@anthropic.com>"
    )
    assert without_noise(text) == "Read rows once\n\nThe retry wrapper read them twice."


def test_a_pull_request_gives_title_and_body_without_its_template() -> None:
    command = (
        'gh pr create --title "Read rows once" --body "$(cat <<\'EOF\'\n## Summary\n'
        "- The retry wrapper is gone.\n<!-- say why -->\n## Test plan\n- [x] make test\nRun it.\n"
        '## Notes\n- Retries come back with version 3.\nEOF\n)"'
    )
    (found,) = written_messages(ToolCall("Bash", action=command, ok=True))
    assert found == (
        "Pull request:\n\nRead rows once\n\n## Summary\n- The retry wrapper is gone.\n\n"
        "## Notes\n- Retries come back with version 3."
    )


def test_a_commit_that_failed_or_says_nothing_gives_no_message() -> None:
    failed = ToolCall("Bash", action='git commit -m "Read rows once"', ok=False)
    step = ToolCall("Bash", action='git commit -m "WIP g1"', ok=True)
    printed = ToolCall("Read", action='git commit -m "Read rows once"', ok=True)
    assert [list(written_messages(tool)) for tool in (failed, step, printed)] == [[], [], []]


def test_a_message_whose_first_line_says_nothing_gives_the_rest() -> None:
    tool = ToolCall("Bash", action=f"git commit -m 'wip: 2\n\n{BODY}'", ok=True)
    assert list(written_messages(tool)) == [BODY]


@pytest.mark.parametrize(
    ("path", "is_read"),
    [
        ("CLAUDE.md", True),
        ("docs/decisions/0007-one-store.md", True),
        (r"C:\Users\me\.claude\projects\D--app\memory\cache.md", True),
        ("AGENTS.md", True),
        ("LEARNINGS.md", True),
        (".claude/rules/python.md", True),
        ("src/memory/cache.py", False),
        ("docs/guide.md", False),
        ("src/decisions.py", False),
    ],
)
def test_only_files_for_later_sessions_are_notes(path: str, is_read: bool) -> None:
    action = "-Old line\n+The cache is cleared by the worker alone."
    found = written_note(ToolCall("Edit", path, "", action, ok=True))
    assert found == ("The cache is cleared by the worker alone." if is_read else "")


def test_a_memory_file_gives_its_description_and_text() -> None:
    lines = (
        "---", "name: cache", 'description: "Who clears the cache"', "metadata:", "  type: project",
        "---", "The worker clears it; see [Workers](workers.md).", "… 3 more lines",
    )  # fmt: skip
    action = "\n".join(f"+{line}" for line in lines)
    found = written_note(ToolCall("Write", "memory/cache.md", "1-8", action, ok=True))
    assert found == "Who clears the cache\n\nThe worker clears it; see Workers."


@pytest.mark.parametrize("name", ["save_memory", "store_memory"])
def test_what_other_agents_are_told_to_keep_is_a_note(name: str) -> None:
    tool = ToolCall(name, action='{"subject":"db","fact":"The \\"jobs\\" table is append-only."}')
    assert written_note(tool) == 'The "jobs" table is append-only.'
