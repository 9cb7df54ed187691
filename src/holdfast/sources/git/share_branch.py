"""The branch of a repository that holds shared memories, and nothing of the code.

It is written with git's plumbing commands, so that neither the work tree nor the index changes;
other files on it stay. Only `fetch` and `push` reach a remote.
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
# The file of one person. A larger one was not written by Holdfast.
MAX_FILE_BYTES = 64 * 1024 * 1024
# Files that are read from the branch.
_MAX_PEOPLE = 1000
# How often a write or a push is repeated when others were faster.
_MAX_TRIES = 8
# One branch and nothing else, whatever the repository's settings add to a fetch or a push.
_FETCH_OPTIONS = (
    "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
    "--no-auto-maintenance", "--refmap=",
)  # fmt: skip
_PUSH_OPTIONS = ("--quiet", "--no-follow-tags", "--recurse-submodules=no")
_README = f"""\
# Shared memories

What people of this project chose to share out of their Holdfast memories: one file per person in
`{FOLDER}/`, one JSON object per line, each attributed and dated. `holdfast share` adds to it,
`holdfast unshare` takes back, `holdfast pull` takes in what others share. This branch has no
history in common with the code and is never merged into it.
"""
_OWN_FILES = {
    "README.md": _README.encode(),
    ".gitattributes": f"{FOLDER}/*.jsonl text eol=lf merge=union\n".encode(),
}


class Person(NamedTuple):
    """A person, as git knows them."""

    name: str
    email: str


def git_identity(folder: Path) -> Person:
    """Git's `user.name` and `user.email` in a folder; raises InputError where they are not set."""
    git = Git(folder)
    name, email = (git.query("config", key).strip() for key in ("user.name", "user.email"))
    if not name or not email:
        raise InputError(
            "git does not know your name, which shared records contain.",
            'Set it: git config user.name "…" and git config user.email "…".',
        )
    return Person(name, email)


class _Entry(NamedTuple):
    """An entry of a tree."""

    mode: str
    kind: str
    oid: str
    name: str


class ShareBranch:
    """The branch of shared memories in one repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._git = Git(folder)
        if not self._git.query("rev-parse", "--git-dir"):
            raise InputError(
                f"{folder} is not a git repository.",
                "Memories are shared on a branch of one: go into it, or name one with --to.",
            )

    def remotes(self) -> list[str]:
        """The names of the remotes."""
        return self._git.query("remote").split()

    def tips(self) -> list[str]:
        """The last commits of the branch: here, and of remotes as they were last fetched."""
        names = [BRANCH, *(self._tracked(remote) for remote in self.remotes())]
        return list(dict.fromkeys(filter(None, (self._tip(f"{n}^{{commit}}") for n in names))))

    def read(self, tips: list[str] | None = None) -> dict[str, bytes]:
        """The files of all people: the union over some commits, by default `tips`."""
        return merge([self._files(tip) for tip in (self.tips() if tips is None else tips)])

    def write(self, change: Callable[[Files], Files], message: str, person: Person) -> str:
        """Commit what `change` makes of the files, again if others committed meanwhile. Returns the
        commit, "" if nothing changed."""
        self._must_not_be_checked_out()
        for _ in range(_MAX_TRIES):
            before = self._tip(BRANCH)
            tips = self._independent(self.tips())
            files = change(self.read(tips))
            tree = self._tree(files, tips)
            if len(tips) == 1 and self._tip(f"{tips[0]}^{{tree}}") == tree:
                if before == tips[0]:
                    return ""
                commit = tips[0]
            else:
                commit = self._commit(tree, tips, message, person)
            done = self._git.attempt("update-ref", "-m", message, BRANCH, commit, before)
            if not done.returncode:
                return commit
        raise InputError(
            f"The branch {SHARE_BRANCH} changes faster than it can be written.", "Try again."
        )

    def fetch(self, remote: str) -> None:
        """Get a remote's branch, if it has one; an error if it cannot be reached."""
        self._must_be_remote(remote)
        git = ConnectedGit(self.folder)
        listed = git.attempt("ls-remote", "--", remote, BRANCH)
        if listed.returncode:
            self._unreachable(remote, listed.stderr)
        if not listed.stdout.strip():
            self._git.attempt("update-ref", "-d", self._tracked(remote))
            return
        spec = f"+{BRANCH}:{self._tracked(remote)}"
        done = git.attempt("fetch", *_FETCH_OPTIONS, "--", remote, spec)
        if done.returncode:
            self._unreachable(remote, done.stderr)

    def push(self, remote: str, person: Person) -> bool:
        """Push the branch to a remote, merged with what others pushed meanwhile. Returns whether
        there was anything to push."""
        self._must_be_remote(remote)
        git = ConnectedGit(self.folder)
        for _ in range(_MAX_TRIES):
            self.fetch(remote)
            self.write(dict, "Merge what others share", person)
            ours = self._tip(BRANCH)
            if not ours or ours == self._tip(self._tracked(remote)):
                return False
            done = git.attempt("push", *_PUSH_OPTIONS, "--", remote, f"{BRANCH}:{BRANCH}")
            if not done.returncode:
                self._git.attempt("update-ref", self._tracked(remote), ours)
                return True
            if not any(word in done.stderr for word in (b"rejected", b"failed to update", b"lock")):
                self._unreachable(remote, done.stderr)
        raise InputError(
            f"{remote} rejected every push of {SHARE_BRANCH}.",
            f"See what it says: git push {remote} {SHARE_BRANCH}",
        )

    def _tip(self, name: str) -> str:
        """The object that a name of git's means, "" where there is none."""
        return self._git.query("rev-parse", "--verify", "--quiet", name).strip()

    def _tracked(self, remote: str) -> str:
        return f"refs/remotes/{remote}/{SHARE_BRANCH}"

    def _must_be_remote(self, remote: str) -> None:
        known = self.remotes()
        if remote not in known:
            there = f"There are: {', '.join(known)}." if known else "It has none yet."
            raise InputError(f"This repository has no remote {remote!r}.", there)

    def _unreachable(self, remote: str, stderr: bytes) -> None:
        raise InputError(
            f"{remote} could not be reached: {error_line(stderr)}.",
            "What is shared here stays here; try again when it can be.",
        )

    def _must_not_be_checked_out(self) -> None:
        listed = self._git.query("worktree", "list", "--porcelain").splitlines()
        if f"branch {BRANCH}" in listed and self._tip(BRANCH):
            raise InputError(
                f"The branch {SHARE_BRANCH} is checked out, so it cannot be changed.",
                "Go to another branch first: git switch -",
            )

    def _independent(self, tips: list[str]) -> list[str]:
        """The commits that are no ancestors of another one."""
        if len(tips) < 2:
            return tips
        return self._git.query("merge-base", "--independent", *tips).split() or tips

    def _entries(self, tree: str) -> dict[str, _Entry]:
        listed = self._git.run("ls-tree", "-z", "--full-tree", tree)
        found: dict[str, _Entry] = {}
        for line in filter(None, listed.decode("utf-8", "surrogateescape").split("\x00")):
            fields, _, name = line.partition("\t")
            mode, kind, oid = fields.split()
            found[name] = _Entry(mode, kind, oid, name)
        return found

    def _files(self, tip: str) -> dict[str, bytes]:
        root = self._entries(tip)
        folder = root.get(FOLDER)
        if folder is None or folder.kind != "tree":
            raise InputError(
                f"The branch {SHARE_BRANCH} contains something other than shared memories.",
                f"Rename it if it is yours: git branch -m {SHARE_BRANCH} another-name",
            )
        found: dict[str, bytes] = {}
        entries = list(self._entries(folder.oid).values())
        for entry in entries[:_MAX_PEOPLE]:
            path = f"{FOLDER}/{entry.name}"
            if entry.mode != "100644" or not is_person_path(path):
                continue
            if int(self._git.run("cat-file", "-s", entry.oid)) > MAX_FILE_BYTES:
                raise InputError(
                    f"{path} on the branch {SHARE_BRANCH} is larger than "
                    f"{MAX_FILE_BYTES >> 20} MB.",
                    "Check it before anything is imported from it.",
                )
            found[path] = self._git.run("cat-file", "blob", entry.oid)
        return found

    def _tree(self, files: Files, tips: list[str]) -> str:
        """A tree of these files and of the other files that the tips have."""
        root: dict[str, _Entry] = {}
        people: dict[str, _Entry] = {}
        for tip in tips:
            entries = self._entries(tip)
            root = {**entries, **root}
            people = {**self._entries(entries[FOLDER].oid), **people}
        for name, content in _OWN_FILES.items():
            root.setdefault(name, self._blob(name, content))
        for path, content in files.items():
            name = path.removeprefix(f"{FOLDER}/")
            people[name] = self._blob(name, content)
        root[FOLDER] = _Entry("040000", "tree", self._make_tree(people), FOLDER)
        return self._make_tree(root)

    def _blob(self, name: str, content: bytes) -> _Entry:
        oid = self._git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=content)
        return _Entry("100644", "blob", oid.decode().strip(), name)

    def _make_tree(self, entries: Mapping[str, _Entry]) -> str:
        lines = [f"{e.mode} {e.kind} {e.oid}\t{e.name}" for e in entries.values()]
        stdin = "".join(f"{line}\x00" for line in lines).encode("utf-8", "surrogateescape")
        return self._git.run("mktree", "-z", stdin=stdin).decode().strip()

    def _commit(self, tree: str, parents: list[str], message: str, person: Person) -> str:
        env = {f"GIT_{role}_NAME": person.name for role in ("AUTHOR", "COMMITTER")}
        env |= {f"GIT_{role}_EMAIL": person.email for role in ("AUTHOR", "COMMITTER")}
        options = [part for parent in parents for part in ("-p", parent)]
        commit = self._git.run("commit-tree", tree, *options, stdin=message.encode(), env=env)
        return commit.decode().strip()
