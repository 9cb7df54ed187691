"""Where HEAD and the branches are, told from files: what git itself says, in every shape."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from holdfast.sources.git.git_process import Git
from holdfast.sources.git.refs import SHARE_BRANCH, read_tips
from holdfast.sources.git.tip_check import tips_from_files
from tests.support.repositories import commit, git, make_repository


def agrees(top: Path, common: Path | None = None) -> bool:
    """Whether the files tell what git tells; also that they tell anything."""
    result = tips_from_files(common or top / ".git", top)
    asked = read_tips(Git(top))
    assert result is not None
    return (result.head, set(result.all), set(result.names)) == (
        asked.head,
        set(asked.all),
        set(asked.names),
    )


def test_branch_tips_read_from_files_equal_those_of_git(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    assert agrees(top)  # before the first commit
    commit(top, "start", **{"a.txt": "1\n"})
    git(top, "branch", "deep/er/side")
    git(top, "branch", SHARE_BRANCH)
    commit(top, "more", **{"a.txt": "2\n"})
    assert agrees(top)
    git(top, "pack-refs", "--all")
    assert agrees(top)
    commit(top, "after packing", **{"a.txt": "3\n"})  # a file of its own beats the packed one
    git(top, "branch", "-D", "deep/er/side")
    assert agrees(top)
    git(top, "checkout", "-q", "--detach", "HEAD~1")
    assert agrees(top)


def test_a_clone_and_a_worktree_have_their_own_heads(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    commit(top, "start", **{"a.txt": "1\n"})
    git(tmp_path, "clone", "-q", str(top), "clone")
    commit(top, "more", **{"a.txt": "2\n"})
    git(tmp_path / "clone", "fetch", "-q")
    assert agrees(tmp_path / "clone")
    tree = tmp_path / "tree"
    git(top, "worktree", "add", "-q", "-b", "side", str(tree))
    commit(tree, "beside", **{"b.txt": "1\n"})
    assert agrees(tree, top / ".git")
    assert agrees(top)


def test_invalid_refs_are_left_to_git(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    commit(top, "start", **{"a.txt": "1\n"})
    assert tips_from_files(tmp_path / "nothing", None) is None
    (top / ".git" / "refs" / "heads" / "main").write_text("gibberish\n")
    assert tips_from_files(top / ".git", top) is None


def test_refs_in_a_reftable_are_left_to_git(tmp_path: Path) -> None:
    try:
        git(tmp_path, "init", "-q", "--ref-format=reftable", "r")
    except subprocess.CalledProcessError:
        pytest.skip("this git has no reftables")
    assert tips_from_files(tmp_path / "r" / ".git", tmp_path / "r") is None
