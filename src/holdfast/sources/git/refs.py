"""Reads HEAD, branches and tags of a repository."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from holdfast.sources.git.git_process import Git
from holdfast.sources.json_fields import normal_time

# The branch of shared memories (see `share_branch`): it is no history of the code.
SHARE_BRANCH = "holdfast-shared"
_TAG = "%(refname:strip=2)%00%(objectname)%00%(*objectname)%00%(creatordate:iso-strict)"


class Tag(NamedTuple):
    """A tag of a commit, and when it was created."""

    name: str
    commit: str
    time: str


class Tips(NamedTuple):
    """The commit of HEAD, "" before the first one; the commits of this clone's branches and of the
    remote's main branch; and the branches of this clone by name."""

    head: str
    branches: tuple[str, ...]
    names: tuple[tuple[str, str], ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Each once, HEAD first."""
        return tuple(dict.fromkeys(filter(None, (self.head, *self.branches))))


def read_tips(git: Git) -> Tips:
    """The commits of HEAD, which may be detached, and of the branches."""
    head = git.query("rev-parse", "--verify", "--quiet", "HEAD^{commit}").strip()
    listed = git.query("for-each-ref", "--format=%(objectname) %(refname:strip=2)", "refs/heads")
    pairs = [line.partition(" ") for line in listed.splitlines()]
    pairs = [pair for pair in pairs if pair[2] != SHARE_BRANCH]
    main = git.query("rev-parse", "--verify", "--quiet", "refs/remotes/origin/HEAD^{commit}")
    found = dict.fromkeys([*(commit for commit, _, _ in pairs), *main.split()])
    return Tips(head, tuple(found), tuple((name, commit) for commit, _, name in pairs))


def read_tags(git: Git) -> list[Tag]:
    """Every tag of a commit, by name."""
    tags: list[Tag] = []
    for line in git.query("for-each-ref", f"--format={_TAG}", "refs/tags").splitlines():
        name, own, peeled, time = line.split("\x00")
        tags.append(Tag(name, peeled or own, normal_time(time) if time else ""))
    return tags


def existing_commits(git: Git, commits: Iterable[str]) -> list[str]:
    """Those of some commits that the repository still has."""
    stdin = "".join(f"{commit}^{{commit}}\n" for commit in commits)
    found = git.query("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=stdin)
    pairs = (line.split() for line in found.splitlines())
    return [name for kind, name, *more in pairs if kind == "commit" and not more]


def unmerged_commits(git: Git, tips: Tips, before: Iterable[str]) -> list[str]:
    """The commits of branches, and of the `before` tips of branches, that HEAD does not contain."""
    others = [*tips.branches, *before]
    if not tips.head or not others:
        return []
    stdin = "".join(f"{commit}\n" for commit in (*others, f"^{tips.head}"))
    return git.query("rev-list", "--stdin", stdin=stdin).split()


def count_commits(git: Git, tips: Tips, most: int = -1) -> int:
    """How many commits there are in all; counts up to `most` where that is given."""
    count = git.query(
        "rev-list",
        "--count",
        f"--max-count={most}",
        "--stdin",
        stdin="\n".join(tips.all) + "\n",
    )
    return int(count) if tips.all and count else 0
