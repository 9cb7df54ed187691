"""Finds the rule files of a project, with stamps that change when they do. Reads no contents, so
that every query can check them.

They are `CLAUDE.md`, `CLAUDE.local.md`, `.claude/CLAUDE.md`, `.claude/rules/` and
`.claude/memory.md`; and for all projects of a user `CLAUDE.md` and `rules/` in Claude Code's
folder. A link that leads out of the project is not followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from holdfast.lazy_named_tuple import NamedTuple

MEMORY_FILE = ".claude/memory.md"
RULES_FOLDER = ".claude/rules"
_RULE_FILES = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", MEMORY_FILE)
# More files, or deeper folders, are ignored.
_MAX_FILES = 200
_MAX_DEPTH = 4


class RuleLocation(NamedTuple):
    """A rule file: its path in the project and on disk, and a stamp that changes with it."""

    path: str
    file: str
    stamp: str
    of_user: bool = False


def find_rule_files(root: str, claude_dir: str) -> list[RuleLocation]:
    """The rule files that apply to a project: its own, then the user's."""
    found: dict[str, RuleLocation] = {}
    names = (*_RULE_FILES, *_markdown_files(root, RULES_FOLDER, 0)) if root else ()
    own = _existing(root, names, False)
    of_user = _existing(claude_dir, ("CLAUDE.md", *_markdown_files(claude_dir, "rules", 0)), True)
    for place in (*own, *of_user):
        found.setdefault(os.path.realpath(place.file), place)
        if len(found) >= _MAX_FILES:
            break
    return list(found.values())


def _markdown_files(base: str, folder: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(os.path.join(base, folder)) as entries:  # noqa: PTH118
            names = sorted((entry.name, entry.is_dir()) for entry in entries)
    except OSError:
        return
    for name, is_folder in names:
        if is_folder and depth < _MAX_DEPTH:
            yield from _markdown_files(base, f"{folder}/{name}", depth + 1)
        elif not is_folder and name.endswith(".md"):
            yield f"{folder}/{name}"


def _existing(base: str, names: tuple[str, ...], of_user: bool) -> Iterator[RuleLocation]:
    inside = os.path.realpath(base) + os.sep
    for name in names:
        file = os.path.join(base, name)  # noqa: PTH118
        try:
            seen = os.stat(file)  # noqa: PTH116
        except OSError:
            continue
        within = os.path.realpath(file).startswith(inside)
        if within and (seen.st_mode & 0o170000) == 0o100000:
            yield RuleLocation(f"~/{name}" if of_user else name, file, _stamp(seen), of_user)


def _stamp(seen: os.stat_result) -> str:
    return f"{seen.st_mtime_ns}-{seen.st_size}-{seen.st_ino}"


def file_stamp(file: str) -> str:
    """The stamp of a file; "" where there is none. Does the same as `file_stamp` in answer.py."""
    try:
        return _stamp(os.stat(file))  # noqa: PTH116
    except OSError:
        return ""


def project_root(folder: str) -> str:
    """The nearest folder above with a `.git`, or the folder itself."""
    at = folder
    while True:
        if os.path.exists(os.path.join(at, ".git")):  # noqa: PTH110, PTH118
            return at
        above = os.path.dirname(at)  # noqa: PTH120
        if above == at:
            return folder
        at = above
