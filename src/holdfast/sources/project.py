"""Identifies the project of a folder, so that all its copies share one bank.

Worktrees, subfolders, clones over ssh and https, and bare layouts are one project. After its remote
was renamed or moved it is still the same project, because its first commit is the same. A folder
without git is a project by itself. Git's plumbing commands are used, and only to read.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath, PureWindowsPath

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.paths import comparable_path
from holdfast.regex import regex

# For one short command. A repository on a slow network drive may need seconds.
GIT_TIMEOUT_S = 10.0
_SCP = regex(r"^(?:[^@/\s]+@)?(?P<host>[^:/\s]+):(?P<path>(?!//).+)$")
_URL = regex(
    r"^(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[^/]*@)?(?P<host>\[[^\]]+\]|[^:/]*)(?::\d+)?/(?P<path>.*)$",
    re.IGNORECASE,
)
_WORKTREE = regex(r"[/\\]\.claude[/\\]worktrees[/\\][^/\\]+.*\Z")
# Where other tools put worktrees: in a folder of their own, in the repository, or beside it. Git is
# asked where a worktree is there; this is for one that was removed.
_PLACES_OF_WORKTREES = (
    regex(
        r"(.+?[/\\](?:conductor[/\\]workspaces|\.cursor[/\\]worktrees|\.claude-worktrees)"
        r"[/\\][^/\\]+)[/\\].+"
    ),
    regex(r"(.+?)[/\\]\.(?:worktrees|conductor)[/\\].+"),
    regex(r"(.+?)(?:\.|__|-)worktrees[/\\].+"),
)


class Project(NamedTuple):
    """A project. `aliases` identify it, the most reliable first, each with its kind in front:
    `remote:`, `root:` (first commit), `gitdir:`, `folder:`, `path:`. Paths are relative to `root`;
    `exists` says whether that folder is on this machine now."""

    name: str
    root: str
    aliases: tuple[str, ...]
    exists: bool = True


def identify_project(folder: str) -> Project:
    """The project of a folder, which need not exist any more."""
    if os.path.isdir(folder):  # noqa: PTH112 - a foreign path must not raise
        return _from_git(folder) or _from_folder(folder, exists=True)
    return _from_folder(folder, exists=False)


def _from_folder(folder: str, exists: bool) -> Project:
    root = _WORKTREE.sub("", folder) or folder
    if not exists:
        places = (place.fullmatch(root) for place in _PLACES_OF_WORKTREES)
        root = next((found[1] for found in places if found), root)
    return Project(base_name(root), root, (f"path:{comparable_path(root)}",), exists)


def base_name(path: str) -> str:
    """The last part of a POSIX or Windows path."""
    pure = PureWindowsPath(path) if "\\" in path else PurePosixPath(path)
    return pure.name or path


def _from_git(folder: str) -> Project | None:
    output = run_git(
        folder,
        "rev-parse",
        "--path-format=absolute",
        "--git-common-dir",
        "--is-shallow-repository",
        "--show-toplevel",
        "HEAD",
        partial=True,
    ).splitlines()
    if len(output) < 2 or not Path(output[0]).is_absolute():
        return None
    common, is_shallow = output[0], output[1] == "true"
    root = output[2] if len(output) > 2 else folder
    remote = _remote(root)
    aliases = [f"remote:{remote}"] if remote else []
    head = output[3] if len(output) > 3 else "HEAD"  # a bare repository does not get that far
    first = "" if is_shallow else _first_commit(folder, common, head)
    if first:
        aliases.append(f"root:{first}")
    top = _WORKTREE.sub("", root)
    aliases += [
        f"gitdir:{comparable_path(common)}",
        f"folder:{comparable_path(top)}",
        f"path:{comparable_path(top)}",
    ]
    home = Path(common)
    path = remote.partition("/")[2]
    name = (base_name(path) if remote.startswith("local/") else path) or _folder_name(home)
    return Project(name, root, tuple(aliases))


def _folder_name(common: Path) -> str:
    """`proj` for proj/.git, proj/.bare and proj.git."""
    if common.name.startswith("."):
        return common.parent.name
    return common.name.removesuffix(".git")


def _remote(folder: str) -> str:
    listed = run_git(folder, "config", "--get-regexp", r"^remote\..*\.url$")
    urls: dict[str, str] = {}
    for line in listed.splitlines():
        key, _, url = line.partition(" ")
        urls[key.removeprefix("remote.").removesuffix(".url")] = url.strip()
    for name in ("origin", "upstream", *sorted(urls)):
        if urls.get(name):
            return normal_remote(urls[name], folder)
    return ""


def normal_remote(url: str, folder: str = "/") -> str:
    """One spelling for all URLs of a repository: `github.com/org/repo`. A relative path is resolved
    from `folder`. The hook script `repository_bank.py` has a copy of this."""
    url = url.strip()
    found = _URL.match(url) or _SCP.match(url)
    if found is None or found.groupdict().get("scheme", "").lower() == "file":
        path = os.path.normpath(os.path.join(folder, url.removeprefix("file://")))  # noqa: PTH118
        return f"local{path}".removesuffix(".git")
    path = found["path"].strip("/").removesuffix(".git").strip("/")
    return f"{found['host']}/{path}".lower()


# Of each repository, its latest commit and the first. What came before a commit never changes, and
# to go there takes seconds in a long history.
_first_commits: dict[str, tuple[str, str]] = {}


def _first_commit(folder: str, common: str, head: str) -> str:
    """The commit without parents; the first by hash where there are several. `head` is the latest
    commit, "HEAD" where that is not known or there is none."""
    known, first = _first_commits.get(common, ("HEAD", ""))
    if known != head or head == "HEAD":
        first = min(run_git(folder, "rev-list", "--max-parents=0", head).split(), default="")
        if first:
            _first_commits[common] = head, first
    return first


def run_git(folder: str, *arguments: str, partial: bool = False) -> str:
    """The output of git; "" where it fails, or with `partial` what it printed before that."""
    import subprocess

    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment.update(GIT_OPTIONAL_LOCKS="0", LC_ALL="C")
    try:
        done = subprocess.run(
            ["git", "-C", folder, *arguments],
            capture_output=True,
            timeout=GIT_TIMEOUT_S,
            env=environment,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if done.returncode and not partial:
        return ""
    return done.stdout.decode("utf-8", "replace")
