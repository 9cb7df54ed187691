"""The branch that an agent made for its work. Its name often says best what the work is about."""

from __future__ import annotations

import re

from holdfast.model.records import Role, Turn
from holdfast.regex import regex

_SHELL_TOOLS = frozenset(("Bash", "PowerShell"))
# A name may stand in quotes; that of a branch in a command may be one word.
_GIVEN = r"[\"']?(?P<name>[\w][\w./-]*)"
_NAME = r"[`\"']?(?P<name>[A-Za-z][\w.-]*(?:/[\w.-]+)+|[a-z][a-z0-9]*(?:-[a-z0-9]+){2,})"
_MADE = regex(
    r"\bgit (?:-C \S+ )?(?:checkout (?:-q )?-[bB]|switch (?:-q )?(?:-[cC]|--create)|"
    rf"worktree add (?:\S+ )*?-[bB])\s+{_GIVEN}"
)
# "Created branch `fix/tabs`", "Branch: `fix/tabs`", and what Codex writes for its own screen.
_SAID = regex(
    r"(?i:::git-(?:create-branch|push)\{[^}\n]*\bbranch=|"
    r"\b(?:created|new|pushed|opened|added)\b"
    r"(?: (?:a|the|new|separate|feature|fix|local|remote|draft|clean|topic|focused)){0,3}"
    r" branch:?\s+|"
    rf"^\W*(?:new |working )?branch\W{{0,4}}:\W{{0,4}}){_NAME}",
    re.MULTILINE,
)


def made_branch(turn: Turn) -> str:
    """The branch that a turn made, or says it made; "" if it did not. Of several, the last."""
    if turn.tool is not None:
        is_shell = turn.tool.name in _SHELL_TOOLS and turn.tool.ok is not False
        found = _MADE.finditer(turn.tool.action) if is_shell else ()
    else:
        may_say = turn.role is Role.ASSISTANT and "branch" in turn.text.lower()
        found = _SAID.finditer(turn.text) if may_say else ()
    names = [one["name"] for one in found]
    return names[-1].rstrip(".") if names else ""
