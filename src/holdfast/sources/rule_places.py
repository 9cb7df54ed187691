"""Where the rules of a project lie, and whether they have changed: nothing is read but names and
times, so that every question may look.

The host's own places: `CLAUDE.md`, `CLAUDE.local.md`, `.claude/CLAUDE.md`, `.claude/rules/`, and
beside them `.claude/memory.md`; for all projects of a user `CLAUDE.md` and `rules/` in the host's
folder. A link that leads out of the project is not followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

MEMORY_FILE = ".claude/memory.md"
RULES_FOLDER = ".claude/rules"
_SINGLE = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", MEMORY_FILE)
_MOST = 200
_DEEPEST = 4


class RuleLocation(NamedTuple):
    """A file of rules: its name in the project, where it lies, and a stamp that changes with it."""

    path: str
    file: str
    stamp: str
    of_user: bool = False


def find_rule_files(root: str, claude_dir: str) -> list[RuleLocation]:
    """The files of rules that hold in a project, in the order of their names."""
    found: dict[str, RuleLocation] = {}
    own = _there(root, (*_SINGLE, *_listed(root, RULES_FOLDER, 0)), False) if root else ()
    of_user = _there(claude_dir, ("CLAUDE.md", *_listed(claude_dir, "rules", 0)), True)
    for place in (*own, *of_user):
        found.setdefault(os.path.realpath(place.file), place)
        if len(found) >= _MOST:
            break
    return list(found.values())


def _listed(base: str, folder: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(os.path.join(base, folder)) as entries:  # noqa: PTH118
            names = sorted((entry.name, entry.is_dir()) for entry in entries)
    except OSError:
        return
    for name, is_folder in names:
        if is_folder and depth < _DEEPEST:
            yield from _listed(base, f"{folder}/{name}", depth + 1)
        elif not is_folder and name.endswith(".md"):
            yield f"{folder}/{name}"


def _there(base: str, names: tuple[str, ...], of_user: bool) -> Iterator[RuleLocation]:
    inside = os.path.realpath(base) + os.sep
    for name in names:
        file = os.path.join(base, name)  # noqa: PTH118
        try:
            seen = os.stat(file)  # noqa: PTH116
        except OSError:
            continue
        within = os.path.realpath(file).startswith(inside)
        if within and (seen.st_mode & 0o170000) == 0o100000:
            stamp = f"{seen.st_mtime_ns}-{seen.st_size}-{seen.st_ino}"
            yield RuleLocation(f"~/{name}" if of_user else name, file, stamp, of_user)


def project_root(folder: str) -> str:
    """The top of the project that a folder is in: the nearest with a `.git`, or itself."""
    at = folder
    while True:
        if os.path.exists(os.path.join(at, ".git")):  # noqa: PTH110, PTH118
            return at
        above = os.path.dirname(at)  # noqa: PTH120
        if above == at:
            return folder
        at = above
