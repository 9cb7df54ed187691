"""Whether a repository moved since it was read, told from its files without running git.

Where its names lie in a form of another kind (a reftable), or something about them is odd, None
says that git must be asked.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from holdfast.sources.git.refs import SHARE_BRANCH, Tips

_NAME = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_LINKS = 5
_BIGGEST = 64 * 1024 * 1024
_MOST_BRANCHES = 20_000


def tips_from_files(common: Path, folder: Path | None = None) -> Tips | None:
    """Where HEAD and the branches are, by the files of a repository (`common`, where its objects
    are) and of the working folder that it is looked at from."""
    if (common / "reftable").exists() or not (common / "refs").is_dir():
        return None
    try:
        packed = _packed(common / "packed-refs")
        head = _follow(_own(common, folder), common, "HEAD", packed)
        names = _branches(common, packed)
        main = _follow(common, common, "refs/remotes/origin/HEAD", packed)
    except (OSError, ValueError, UnicodeDecodeError):
        return None
    if head is None or main is None:
        return None
    found = dict.fromkeys(filter(None, (*names.values(), main)))
    return Tips(head, tuple(found), tuple(sorted(names.items())))


def tags_changed_at(common: Path) -> float:
    """When a tag last came or went, as the clock of the disk has it; 0.0 if nobody knows."""
    try:
        return (common / "refs" / "tags").stat().st_mtime
    except OSError:
        return 0.0


def _own(common: Path, folder: Path | None) -> Path:
    """The folder of a worktree's own HEAD."""
    link = folder / ".git" if folder is not None else common
    if not link.is_file():
        return common
    place = link.read_text("utf-8").removeprefix("gitdir:").strip()
    return (link.parent / place).resolve()


def _packed(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    if path.stat().st_size > _BIGGEST:
        raise ValueError("too many names")
    found: dict[str, str] = {}
    for line in path.read_text("utf-8").splitlines():
        commit, _, name = line.partition(" ")
        if name and _NAME.match(commit):
            found[name] = commit
    return found


def _follow(top: Path, common: Path, name: str, packed: dict[str, str]) -> str | None:
    """The commit that a name stands for, "" for none, None where that cannot be told."""
    for _ in range(_LINKS):
        file = (top if name == "HEAD" else common) / name
        told = file.read_text("utf-8").strip() if file.is_file() else packed.get(name, "")
        if not told.startswith("ref:"):
            return told if not told or _NAME.match(told) else None
        name = told.removeprefix("ref:").strip()
        if not name.startswith("refs/") or ".." in name:
            return None
    return None


def _branches(common: Path, packed: dict[str, str]) -> dict[str, str]:
    """Every branch by name; one in a file of its own beats the same in the list of all."""
    start = "refs/heads/"
    found = {n.removeprefix(start): c for n, c in packed.items() if n.startswith(start)}
    top = common / "refs" / "heads"
    for folder, _, files in os.walk(top):
        for name in files:
            if name.endswith(".lock"):
                continue
            path = Path(folder) / name
            branch = path.relative_to(top).as_posix()
            commit = _follow(common, common, start + branch, packed)
            if not commit or len(found) > _MOST_BRANCHES:
                raise ValueError(branch)
            found[branch] = commit
    found.pop(SHARE_BRANCH, None)
    return found
