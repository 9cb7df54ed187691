"""A branch that holds files of shared memories and nothing of the code.

It is written with plumbing alone, so neither the work tree nor the index of anybody changes; what
else people keep on it stays. Nothing leaves or enters the repository but where a remote is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import InputError
from holdfast.sources.git.git_process import ConnectedGit, Git, error_line
from holdfast.sources.git.refs import SHARE_BRANCH
from holdfast.sources.share_format import FOLDER, Files, is_person_path, merge

BRANCH = f"refs/heads/{SHARE_BRANCH}"
MAX_FILE_BYTES = 64 * 1024 * 1024
_AT_MOST = 1000
_TRIES = 8
# One branch and nothing else, whatever the settings of the repository add to a fetch or a push.
_FETCHING = (
    "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
    "--no-auto-maintenance", "--refmap=",
)  # fmt: skip
_PUSHING = ("--quiet", "--no-follow-tags", "--recurse-submodules=no")
_README = f"""\
# Shared memories

What people of this project chose to share out of their Holdfast memories: one file per person in
`{FOLDER}/`, one JSON object a line, each attributed and dated. `holdfast share` adds to it,
`holdfast unshare` takes back, `holdfast pull` takes in what others share. This branch has no
history in common with the code and is never merged into it.
"""
_OWN = {
    "README.md": _README.encode(),
    ".gitattributes": f"{FOLDER}/*.jsonl text eol=lf merge=union\n".encode(),
}


class Person(NamedTuple):
    """Who git says we are."""

    name: str
    email: str


def git_identity(folder: Path) -> Person:
    """Who shares, as git knows it in a folder."""
    git = Git(folder)
    name, email = (git.query("config", key).strip() for key in ("user.name", "user.email"))
    if not name or not email:
        raise InputError(
            "git does not know who you are, and what is shared says who shared it.",
            'Tell it: git config user.name "…" and git config user.email "…".',
        )
    return Person(name, email)


class _Entry(NamedTuple):
    """A line of a tree."""

    mode: str
    kind: str
    oid: str
    name: str


class ShareBranch:
    """The branch of one repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._git = Git(folder)
        if not self._git.query("rev-parse", "--git-dir"):
            raise InputError(
                f"{folder} is not a git repository.",
                "Memories are shared on a branch of one: go into it, or name one with --to.",
            )

    def remotes(self) -> list[str]:
        """The names of the remotes there are."""
        return self._git.query("remote").split()

    def tips(self) -> list[str]:
        """The commits that the branch ends in: here, and at remotes when they were last
        fetched."""
        names = [BRANCH, *(self._tracked(remote) for remote in self.remotes())]
        found = [
            self._git.query("rev-parse", "--verify", "--quiet", f"{n}^{{commit}}") for n in names
        ]
        return list(dict.fromkeys(oid.strip() for oid in found if oid))

    def read(self, tips: list[str] | None = None) -> dict[str, bytes]:
        """The files of all people, in their union over some commits, or those of now."""
        return merge([self._files(tip) for tip in (self.tips() if tips is None else tips)])

    def write(self, change: Callable[[Files], Files], message: str, person: Person) -> str:
        """Commit what a function makes of the files as they are, over whatever others wrote
        meanwhile; returns the commit, "" if nothing changed."""
        self._must_not_be_checked_out()
        for _ in range(_TRIES):
            before = self._git.query("rev-parse", "--verify", "--quiet", BRANCH).strip()
            tips = self._apart(self.tips())
            files = change(self.read(tips))
            tree = self._tree(files, tips)
            if len(tips) == 1 and self._tree_of(tips[0]) == tree:
                if before == tips[0]:
                    return ""
                made = tips[0]
            else:
                made = self._commit(tree, tips, message, person)
            done = self._git.attempt("update-ref", "-m", message, BRANCH, made, before)
            if not done.returncode:
                return made
        raise InputError(
            f"The branch {SHARE_BRANCH} changes faster than it can be written.", "Try again."
        )

    def fetch(self, remote: str) -> None:
        """Get a remote's branch, if it has one; an error if it cannot be reached."""
        self._must_be_remote(remote)
        git = ConnectedGit(self.folder)
        told = git.attempt("ls-remote", "--", remote, BRANCH)
        if told.returncode:
            self._unreached(remote, told.stderr)
        if not told.stdout.strip():
            self._git.attempt("update-ref", "-d", self._tracked(remote))
            return
        spec = f"+{BRANCH}:{self._tracked(remote)}"
        done = git.attempt("fetch", *_FETCHING, "--", remote, spec)
        if done.returncode:
            self._unreached(remote, done.stderr)

    def push(self, remote: str, person: Person) -> bool:
        """Bring the branch to a remote, with what others pushed meanwhile merged into it; tells
        whether there was anything to bring."""
        self._must_be_remote(remote)
        git = ConnectedGit(self.folder)
        for _ in range(_TRIES):
            self.fetch(remote)
            self.write(dict, "Merge what others share", person)
            ours = self._git.query("rev-parse", "--verify", "--quiet", BRANCH).strip()
            theirs = self._git.query("rev-parse", "--verify", "--quiet", self._tracked(remote))
            if not ours or ours == theirs.strip():
                return False
            done = git.attempt("push", *_PUSHING, "--", remote, f"{BRANCH}:{BRANCH}")
            if not done.returncode:
                self._git.attempt("update-ref", self._tracked(remote), ours)
                return True
            if not any(word in done.stderr for word in (b"rejected", b"failed to update", b"lock")):
                self._unreached(remote, done.stderr)
        raise InputError(
            f"{remote} turned every push of {SHARE_BRANCH} down.",
            f"See what it says: git push {remote} {SHARE_BRANCH}",
        )

    def _tracked(self, remote: str) -> str:
        return f"refs/remotes/{remote}/{SHARE_BRANCH}"

    def _must_be_remote(self, remote: str) -> None:
        known = self.remotes()
        if remote not in known:
            there = f"There are: {', '.join(known)}." if known else "It has none yet."
            raise InputError(f"This repository has no remote {remote!r}.", there)

    def _unreached(self, remote: str, said: bytes) -> None:
        raise InputError(
            f"{remote} could not be reached: {error_line(said)}.",
            "What is shared here stays here; try again when it can be.",
        )

    def _must_not_be_checked_out(self) -> None:
        listed = self._git.query("worktree", "list", "--porcelain").splitlines()
        if f"branch {BRANCH}" in listed and self._git.query("rev-parse", "--verify", "-q", BRANCH):
            raise InputError(
                f"The branch {SHARE_BRANCH} is checked out, and would change under your hands.",
                "Go to another branch first: git switch -",
            )

    def _apart(self, tips: list[str]) -> list[str]:
        """Those of some commits that no other one contains."""
        if len(tips) < 2:
            return tips
        return self._git.query("merge-base", "--independent", *tips).split() or tips

    def _entries(self, tree: str) -> dict[str, _Entry]:
        listed = self._git.run("ls-tree", "-z", "--full-tree", tree)
        found: dict[str, _Entry] = {}
        for line in filter(None, listed.decode("utf-8", "surrogateescape").split("\x00")):
            told, _, name = line.partition("\t")
            mode, kind, oid = told.split()
            found[name] = _Entry(mode, kind, oid, name)
        return found

    def _files(self, tip: str) -> dict[str, bytes]:
        """The files of people in one commit."""
        root = self._entries(tip)
        folder = root.get(FOLDER)
        if folder is None or folder.kind != "tree":
            raise InputError(
                f"The branch {SHARE_BRANCH} holds something else than shared memories.",
                f"Rename it if it is yours: git branch -m {SHARE_BRANCH} another-name",
            )
        found: dict[str, bytes] = {}
        entries = list(self._entries(folder.oid).values())
        for entry in entries[:_AT_MOST]:
            path = f"{FOLDER}/{entry.name}"
            if entry.mode != "100644" or not is_person_path(path):
                continue
            if int(self._git.run("cat-file", "-s", entry.oid)) > MAX_FILE_BYTES:
                raise InputError(
                    f"{path} on the branch {SHARE_BRANCH} is larger than {MAX_FILE_BYTES >> 20} MB.",
                    "Somebody should look at it before anything is taken from it.",
                )
            found[path] = self._git.run("cat-file", "blob", entry.oid)
        return found

    def _tree(self, files: Files, tips: list[str]) -> str:
        """A tree of these files and of whatever else the tips have."""
        root: dict[str, _Entry] = {}
        people: dict[str, _Entry] = {}
        for tip in tips:
            entries = self._entries(tip)
            root = {**entries, **root}
            people = {**self._entries(entries[FOLDER].oid), **people}
        for name, content in _OWN.items():
            root.setdefault(name, self._blob(name, content))
        for path, content in files.items():
            name = path.removeprefix(f"{FOLDER}/")
            people[name] = self._blob(name, content)
        root[FOLDER] = _Entry("040000", "tree", self._make_tree(people), FOLDER)
        return self._make_tree(root)

    def _blob(self, name: str, content: bytes) -> _Entry:
        oid = self._git.run("hash-object", "-w", "--no-filters", "--stdin", given=content)
        return _Entry("100644", "blob", oid.decode().strip(), name)

    def _make_tree(self, entries: Mapping[str, _Entry]) -> str:
        lines = [f"{e.mode} {e.kind} {e.oid}\t{e.name}" for e in entries.values()]
        given = "".join(f"{line}\x00" for line in lines).encode("utf-8", "surrogateescape")
        return self._git.run("mktree", "-z", given=given).decode().strip()

    def _tree_of(self, commit: str) -> str:
        return self._git.query("rev-parse", f"{commit}^{{tree}}").strip()

    def _commit(self, tree: str, parents: list[str], message: str, person: Person) -> str:
        known = {
            "GIT_AUTHOR_NAME": person.name,
            "GIT_AUTHOR_EMAIL": person.email,
            "GIT_COMMITTER_NAME": person.name,
            "GIT_COMMITTER_EMAIL": person.email,
        }
        told = [part for parent in parents for part in ("-p", parent)]
        made = self._git.run("commit-tree", tree, *told, given=message.encode(), known=known)
        return made.decode().strip()
