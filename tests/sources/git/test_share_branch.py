"""The branch of shared memories, in real repositories."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.errors import InputError
from holdfast.sources.git.git_process import Git
from holdfast.sources.git.refs import read_tips
from holdfast.sources.git.share_branch import Person, ShareBranch
from holdfast.sources.share_format import Files, merge
from tests.support.repositories import git

ANN = Person("Ann", "ann@x.org")


def repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@x.org")
    (folder / "a.py").write_text("a\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "First")
    return folder


def adding(path: str, text: bytes) -> Callable[[Files], Files]:
    def change(files: Files) -> Files:
        return merge([files, {path: text}])

    return change


def test_writing_shares_changes_neither_files_nor_index_nor_branches(tmp_path: Path) -> None:
    top = repository(tmp_path / "one")
    (top / "a.py").write_text("changed\n")
    (top / "new.py").write_text("new\n")
    git(top, "add", "new.py")
    before = git(top, "status", "--porcelain=v2", "--branch"), (top / ".git/index").read_bytes()
    shelf = ShareBranch(top)
    made = shelf.write(adding("people/ann-1.jsonl", b"x\n"), "Share", ANN)
    assert made
    after = git(top, "status", "--porcelain=v2", "--branch"), (top / ".git/index").read_bytes()
    assert before == after
    assert git(top, "show", "holdfast-shared:people/ann-1.jsonl") == "x"
    assert git(top, "log", "-1", "--format=%an %ae %s", "holdfast-shared") == "Ann ann@x.org Share"
    assert "--" not in git(top, "diff", "--stat", "main")
    assert not shelf.write(adding("people/ann-1.jsonl", b"x\n"), "Share", ANN), "nothing new"
    with pytest.raises(subprocess.CalledProcessError):
        git(top, "merge-base", "main", "holdfast-shared")


def test_the_share_branch_is_not_part_of_the_code_history(tmp_path: Path) -> None:
    top = repository(tmp_path / "one")
    ShareBranch(top).write(adding("people/ann-1.jsonl", b"x\n"), "Share", ANN)
    assert read_tips(Git(top)).all == (git(top, "rev-parse", "main"),)


def test_files_of_others_on_the_branch_are_kept(tmp_path: Path) -> None:
    top = repository(tmp_path / "one")
    shelf = ShareBranch(top)
    shelf.write(adding("people/ann-1.jsonl", b"x\n"), "Share", ANN)
    git(top, "worktree", "add", "-q", str(tmp_path / "tree"), "holdfast-shared")
    with pytest.raises(InputError, match="checked out"):
        shelf.write(adding("people/ann-1.jsonl", b"y\n"), "Share", ANN)
    tree = tmp_path / "tree"
    (tree / "NOTES.md").write_text("hello\n")
    (tree / "people" / "eve-1.jsonl").symlink_to("/etc/passwd")
    (tree / "people" / "Loud.txt").write_text("z\n")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "By hand")
    git(top, "worktree", "remove", str(tree))
    shelf.write(adding("people/ann-1.jsonl", b"y\n"), "Share", ANN)
    names = git(top, "ls-tree", "-r", "--name-only", "holdfast-shared").splitlines()
    assert "NOTES.md" in names and "people/Loud.txt" in names and "people/eve-1.jsonl" in names
    assert shelf.read() == {"people/ann-1.jsonl": b"x\ny\n"}, "a link is no file of a person"


def test_two_concurrent_shares_lose_nothing(tmp_path: Path) -> None:
    top = repository(tmp_path / "one")
    shelf, other = ShareBranch(top), ShareBranch(top)
    meanwhile = [b"z\n"]

    def change(files: Files) -> Files:
        if meanwhile:  # somebody else writes between our reading and our writing
            other.write(adding("people/ann-1.jsonl", meanwhile.pop()), "Other", ANN)
        return merge([files, {"people/ann-1.jsonl": b"x\n"}])

    shelf.write(change, "Share", ANN)
    assert shelf.read() == {"people/ann-1.jsonl": b"x\nz\n"}


def test_a_rejected_push_is_merged_and_retried(tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "init", "-q", "--bare", str(bare))
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two")
    shelves = [ShareBranch(one), ShareBranch(two)]
    for number, (top, shelf) in enumerate(zip((one, two), shelves, strict=True)):
        git(top, "remote", "add", "origin", str(bare))
        shelf.write(adding(f"people/p-{number}.jsonl", b"x\n"), "Share", ANN)
    assert [shelf.push("origin", ANN) for shelf in shelves] == [True, True]
    assert shelves[0].push("origin", ANN) is False
    assert (
        shelves[0].read()
        == shelves[1].read()
        == dict.fromkeys(("people/p-0.jsonl", "people/p-1.jsonl"), b"x\n")
    )
    assert git(one, "branch", "--list", "--format=%(refname:short)").split() == [
        "holdfast-shared",
        "main",
    ]


def test_an_unusable_repository_remote_or_branch_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a git repository"):
        ShareBranch(tmp_path)
    top = repository(tmp_path / "one")
    shelf = ShareBranch(top)
    for call in (lambda: shelf.fetch("--upload-pack=evil"), lambda: shelf.push("nowhere", ANN)):
        with pytest.raises(InputError, match="has no remote"):
            call()
    git(top, "remote", "add", "gone", str(tmp_path / "gone.git"))
    with pytest.raises(InputError, match="could not be reached"):
        shelf.fetch("gone")
    git(top, "branch", "holdfast-shared")
    with pytest.raises(InputError, match="contains something other"):
        shelf.read()


def test_a_push_during_another_is_rejected_and_retried(tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "init", "-q", "--bare", str(bare))
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two")
    for top in (one, two):
        git(top, "remote", "add", "origin", str(bare))
    other = ShareBranch(two)
    meanwhile = [b"b\n", b"c\n"]

    class Slow(ShareBranch):
        def fetch(self, remote: str) -> None:
            super().fetch(remote)
            if meanwhile:
                other.write(adding("people/two-1.jsonl", meanwhile.pop()), "Share", ANN)
                other.push("origin", ANN)

    slow = Slow(one)
    slow.write(adding("people/one-1.jsonl", b"a\n"), "Share", ANN)
    assert slow.push("origin", ANN)
    other.fetch("origin")
    wanted = {"people/one-1.jsonl": b"a\n", "people/two-1.jsonl": b"b\nc\n"}
    assert slow.read() == other.read() == wanted
