"""The branch that a turn made is found in its command or its words."""

from __future__ import annotations

import pytest

from holdfast.model.records import Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.sessions.made_branches import made_branch


def ran(command: str, ok: bool = True) -> Turn:
    call = ToolCall("Bash", action=command, ok=ok)
    return Turn("bank", "t", "s", 0, "", Role.TOOL, Trust.TOOL, "", tool=call)


def said(text: str, role: Role = Role.ASSISTANT) -> Turn:
    return Turn("bank", "t", "s", 0, "", role, Trust.ASSISTANT, text)


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -b fix/lost-names",
        "git fetch && git -C /repo switch --create 'fix/lost-names' origin/main",
        "git switch -c fix/lost-names && git push -u origin HEAD",
        "git worktree add ../names -b fix/lost-names",
        "git checkout -b tmp; git checkout -B fix/lost-names",
    ],
)
def test_a_command_that_makes_a_branch_names_it(command: str) -> None:
    assert made_branch(ran(command)) == "fix/lost-names"
    assert made_branch(ran(command, ok=False)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Created branch `fix/lost-names` and committed as `ca3da160`.",
        "Opened the PR.\n- **Branch:** `fix/lost-names`\n- Tests: 9 passed",
        "I pushed the new branch fix/lost-names.",
        'Done.\n::git-create-branch{cwd="/repo" branch="fix/lost-names"}',
    ],
)
def test_a_reply_that_says_so_names_the_branch(text: str) -> None:
    assert made_branch(said(text)) == "fix/lost-names"
    assert made_branch(said(text, Role.USER)) == ""


@pytest.mark.parametrize(
    "turn",
    [
        ran("git checkout main && git branch"),
        ran("git checkout -- src/branch/names.py"),
        said("The branch is rebased onto origin/main."),
        said("We are on branch `fix/lost-names` already."),
        said("A new branch of the family."),
    ],
)
def test_what_makes_no_branch_names_none(turn: Turn) -> None:
    assert made_branch(turn) == ""
