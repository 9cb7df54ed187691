"""What the shell commands of an exchange prove of its result: the files of its last commit, and
whether its tests pass."""

from __future__ import annotations

import re
from collections.abc import Sequence
from posixpath import normpath

from holdfast.model.records import Turn
from holdfast.refine.core import signals
from holdfast.refine.core.shell_changes import changed_files
from holdfast.regex import regex

# The folder that a command works in: `cd DIR`, `git -C DIR`.
_FOLDER = regex(r"(?:^|[;&|(\n]\s*)(?:cd|git -C)\s+(?:/d\s+)?[\"']?((?:/|[A-Za-z]:)[^\s\"';&|)]+)")
_MOUNTED_DRIVE = regex(r"^/(?:mnt/)?([A-Za-z])(?=/|$)")
_ADDS = regex(r"\bgit (?:-C \S+ )?add\s+([^;&|\n]+)")
_ADDS_ALL = regex(r"(?:^|\s)(?:-[Au]\b|--all\b|--update\b|\.(?=\s|$)|:/)|\*")
_COMMITS_ALL = regex(r"\bcommit\s+(?:-\S+\s+)*-(?:[a-z]*a[a-z]*|-all)\b")
# What follows the command that runs tests and does not change which they are.
_AFTER_TESTS = regex(r"\s*(?:2>|>|\||;|&& echo\b)")


def turns_of_commit(turns: Sequence[Turn], root: str = "") -> Sequence[Turn]:
    """The turns that the last commit is about, and those after it: since the commit before it in
    the repository of the project, which is in the folder `root`; () for a commit in another one."""
    commits = [n for n, turn in enumerate(turns) if signals.commit_message(turn)]
    if not commits or _is_elsewhere(turns[: commits[-1] + 1], root):
        return ()
    here = [n for n in commits if not _is_elsewhere(turns[: n + 1], root)]
    while len(here) > 1 and _amends(turns[here[-1]]):
        here.pop()
    return turns[here[-2] + 1 if len(here) > 1 else 0 :]


def _amends(turn: Turn) -> bool:
    """Whether a commit takes the place of the one before it, with its files."""
    return turn.tool is not None and "--amend" in turn.tool.action


def committed_files(turns: Sequence[Turn], changed: Sequence[str]) -> list[str]:
    """Those of the changed files that the last commit of some turns can hold: they were changed
    before it, and they were added to it where files were named for that."""
    commits = [n for n, turn in enumerate(turns) if signals.commit_message(turn)]
    own = turns[: commits[-1] + 1] if commits else ()
    edited = {path for turn in own if turn.tool for path in changed_files(turn.tool)}
    added = _added(own)
    return [
        path
        for path in changed
        if any(_is_same(path, one) for one in edited)
        and (added is None or any(_is_in(path, one) for one in added))
    ]


def _is_elsewhere(turns: Sequence[Turn], root: str) -> bool:
    """Whether the last of these commands works outside of the project. A shell stays where it
    went."""
    calls = signals.tool_calls(turns, signals.SHELL_TOOLS)
    folders = [found for call in calls if call.ok for found in _FOLDER.findall(call.action)]
    if not folders or not root:
        return False
    return not f"{_plain_path(folders[-1])}/".startswith(f"{_plain_path(root)}/")


def _plain_path(path: str) -> str:
    """A path with slashes; "/d/proj" and "D:\\proj" are the same."""
    path = normpath(path.replace("\\", "/"))
    drive = _MOUNTED_DRIVE.sub(r"\1:", path)
    return drive[:1].lower() + drive[1:] if drive[1:2] == ":" else path


def _added(turns: Sequence[Turn]) -> list[str] | None:
    """The paths that were added to a commit; None where all changes were, or nobody knows."""
    added: list[str] = []
    for call in signals.tool_calls(turns, signals.SHELL_TOOLS):
        if _COMMITS_ALL.search(call.action):
            return None
        for paths in _ADDS.findall(call.action):
            if _ADDS_ALL.search(paths):
                return None
            added += (path.strip("\"'") for path in paths.split() if not path.startswith("-"))
    return added or None


def _is_same(path: str, other: str) -> bool:
    path, other = _plain_path(path), _plain_path(other)
    return path == other or other.endswith(f"/{path}") or path.endswith(f"/{other}")


def _is_in(path: str, added: str) -> bool:
    folder = _plain_path(added).lstrip("/")
    return _is_same(path, added) or f"/{folder}/" in f"/{_plain_path(path)}/"


def verdict_of_tests(turns: Sequence[Turn]) -> str:
    """How the last test run ended, and whether the same tests failed before, as the end of a
    sentence. Tests that passed at first and failed on the way were broken on the way."""
    runs = [run for run in signals.find_test_runs(turns) if run.ok is not None]
    if not runs:
        return ""
    if not runs[-1].ok:
        return "; the tests still fail"
    same = [run for run in runs if _tests_of(run.action) == _tests_of(runs[-1].action)]
    failed_before = not runs[0].ok and not same[0].ok
    return "; the tests pass" + (" (they failed before)" if failed_before else "")


def _tests_of(command: str) -> tuple[str, ...]:
    """Which tests a command runs: its words without switches and what becomes of its output."""
    ran = _AFTER_TESTS.split(re.sub(r"^.*?&&\s*(?=\S)", "", command.strip()), maxsplit=1)[0]
    return tuple(word for word in ran.split() if not word.startswith("-"))
