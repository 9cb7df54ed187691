"""Where a repository's names point: branches, tags, and what HEAD is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from holdfast.sources.git.git_process import Git
from holdfast.sources.json_fields import normal_time

# Where shared memories lie (`sources.git.shelf`): they are no history of the code.
SHARE_BRANCH = "holdfast-shared"
_TAG = "%(refname:strip=2)%00%(objectname)%00%(*objectname)%00%(creatordate:iso-strict)"


class Tag(NamedTuple):
    """A name for a commit, and when it was given."""

    name: str
    commit: str
    time: str


class Tips(NamedTuple):
    """The commit that HEAD is, "" before the first one, and those that branches of this clone and
    the remote's main branch end in; the branches of this clone also by name."""

    head: str
    branches: tuple[str, ...]
    names: tuple[tuple[str, str], ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Each once, HEAD first."""
        return tuple(dict.fromkeys(filter(None, (self.head, *self.branches))))


def read_tips(git: Git) -> Tips:
    """Where HEAD and the branches are now; a detached HEAD is one too."""
    head = git.query("rev-parse", "--verify", "--quiet", "HEAD^{commit}").strip()
    told = git.query("for-each-ref", "--format=%(objectname) %(refname:strip=2)", "refs/heads")
    pairs = [line.partition(" ") for line in told.splitlines()]
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
    given = "".join(f"{commit}^{{commit}}\n" for commit in commits)
    told = git.query("cat-file", "--batch-check=%(objecttype) %(objectname)", given=given)
    pairs = (line.split() for line in told.splitlines())
    return [name for kind, name, *more in pairs if kind == "commit" and not more]


def unmerged_commits(git: Git, tips: Tips, before: Iterable[str]) -> list[str]:
    """The commits of branches, and of what branches were before, that HEAD does not contain."""
    others = [*tips.branches, *before]
    if not tips.head or not others:
        return []
    given = "".join(f"{commit}\n" for commit in (*others, f"^{tips.head}"))
    return git.query("rev-list", "--stdin", given=given).split()


def count_commits(git: Git, tips: Tips) -> int:
    """How many commits there are in all."""
    told = git.query("rev-list", "--count", "--stdin", given="\n".join(tips.all) + "\n")
    return int(told) if tips.all and told else 0
