"""Reads HEAD and branches from the files of a repository, without running git.

This makes it cheap to check whether a repository changed. Where the refs are stored in another form
(a reftable), or cannot be read for sure, the result is None and git must be run.
"""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.regex import regex
from holdfast.sources.git.refs import SHARE_BRANCH, Tips

_COMMIT_HASH = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
# Beyond these limits git is run instead.
_MAX_SYMBOLIC_REFS = 5
_MAX_PACKED_BYTES = 64 * 1024 * 1024
_MAX_BRANCHES = 20_000


def tips_from_files(common: Path, folder: Path | None = None) -> Tips | None:
    """The tips by the files of a repository (`common`, the folder of its objects) and of a work
    tree of it, whose HEAD is taken; None where git must be run."""
    if (common / "reftable").exists() or not (common / "refs").is_dir():
        return None
    try:
        packed = _packed_refs(common / "packed-refs")
        head = _resolve(_worktree_folder(common, folder), common, "HEAD", packed)
        names = _branches(common, packed)
        main = _resolve(common, common, "refs/remotes/origin/HEAD", packed)
    except (OSError, ValueError, UnicodeDecodeError):
        return None
    if head is None or main is None:
        return None
    found = dict.fromkeys(filter(None, (*names.values(), main)))
    return Tips(head, tuple(found), tuple(sorted(names.items())))


def tags_changed_at(common: Path) -> float:
    """When a tag was last added or removed, by the time of its folder; 0.0 if unknown."""
    try:
        return (common / "refs" / "tags").stat().st_mtime
    except OSError:
        return 0.0


def _worktree_folder(common: Path, folder: Path | None) -> Path:
    link = folder / ".git" if folder is not None else common
    if not link.is_file():
        return common
    target = link.read_text("utf-8").removeprefix("gitdir:").strip()
    return (link.parent / target).resolve()


def _packed_refs(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    if path.stat().st_size > _MAX_PACKED_BYTES:
        raise ValueError("too many names")
    found: dict[str, str] = {}
    for line in path.read_text("utf-8").splitlines():
        commit, _, name = line.partition(" ")
        if name and _COMMIT_HASH.match(commit):
            found[name] = commit
    return found


def _resolve(top: Path, common: Path, name: str, packed: dict[str, str]) -> str | None:
    """The commit of a ref, "" where there is none, None where it cannot be found for sure."""
    for _ in range(_MAX_SYMBOLIC_REFS):
        file = (top if name == "HEAD" else common) / name
        value = file.read_text("utf-8").strip() if file.is_file() else packed.get(name, "")
        if not value.startswith("ref:"):
            return value if not value or _COMMIT_HASH.match(value) else None
        name = value.removeprefix("ref:").strip()
        if not name.startswith("refs/") or ".." in name:
            return None
    return None


def _branches(common: Path, packed: dict[str, str]) -> dict[str, str]:
    """Every branch by name; a file of its own counts more than `packed-refs`."""
    start = "refs/heads/"
    found = {n.removeprefix(start): c for n, c in packed.items() if n.startswith(start)}
    top = common / "refs" / "heads"
    for folder, _, files in os.walk(top):
        for name in files:
            if name.endswith(".lock"):
                continue
            path = Path(folder) / name
            branch = path.relative_to(top).as_posix()
            commit = _resolve(common, common, start + branch, packed)
            if not commit or len(found) > _MAX_BRANCHES:
                raise ValueError(branch)
            found[branch] = commit
    found.pop(SHARE_BRANCH, None)
    return found
