"""What is kept of git repositories beside commits: patches, reverts, tags, branches, authorship,
and how far each repository was read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.records import Exchange, Turn
from holdfast.model.team import FileChange


class Patch(NamedTuple):
    """What a commit changed, file by file, and the relevant hunks."""

    bank: str
    commit: str
    changes: tuple[FileChange, ...] = ()
    diff: str = ""


class Repository(NamedTuple):
    """A repository that was read. `path` is the folder of its objects, `folder` the working folder,
    `head` and `tips` the commits up to which it was read; `diffs` is whether diffs were read."""

    bank: str
    path: str
    head: str
    tips: tuple[str, ...]
    read_at: str
    folder: str = ""
    diffs: bool = True


class Tag(NamedTuple):
    """A git tag."""

    name: str
    commit: str
    time: str


class CommitAuthorship(NamedTuple):
    """That a session made a commit: in which exchange, with which certainty (`score`, 0 to 1), and
    the reason."""

    bank: str
    commit: str
    session: str
    exchange: str
    score: float
    because: str


class FileTouch(NamedTuple):
    """That a commit touched a file. `fate` is as in `FileChange`, or `W` where the file was renamed
    to `other`; else `other` is its previous name. `added` and `removed` count lines; `blob` is
    git's name of its content afterwards, where known."""

    path: str
    time: str
    commit: str
    fate: str
    other: str = ""
    added: int = 0
    removed: int = 0
    blob: str = ""


class GitHistoryReader(Protocol):
    """Reads the git history of a bank."""

    def patch(self, bank: str, commit: str) -> Patch | None:
        """What a commit changed, if that was read."""
        ...

    def reverted_by(self, bank: str, commit: str) -> list[str]:
        """The commits that say they revert this one."""
        ...

    def reverts(self, bank: str, commit: str) -> list[str]:
        """The commits that this one says it reverts, each as it spells it."""
        ...

    def tags(self, bank: str, commit: str = "") -> list[Tag]:
        """The tags of a bank, or of one commit, by time."""
        ...

    def repositories(self, bank: str | None = None) -> list[Repository]:
        """The repositories that were read."""
        ...

    def unmerged_commits(self, bank: str, commits: Sequence[str]) -> set[str]:
        """Which of these commits HEAD did not contain when its repository was last read."""
        ...

    def has_unmerged_commits(self, bank: str | None) -> bool:
        """Whether there is any such commit."""
        ...

    def branches(self, bank: str) -> dict[str, str]:
        """The branches of this clone by name, each with its last commit."""
        ...

    def reachable_commits(self, bank: str, tip: str) -> set[str]:
        """A commit and all its ancestors, as far as they were read."""
        ...

    def touches(self, bank: str, path: str, since: str, limit: int) -> list[FileTouch]:
        """The changes of a file after a time in commits that HEAD contains, oldest first."""
        ...

    def session_commits(self, bank: str, session: str) -> set[str]:
        """The commits that a session made, with those of its subagents and of its parent."""
        ...

    def exchange_at(self, bank: str, session: str, seq: int) -> Exchange | None:
        """The exchange that contains the turn at a place of a session."""
        ...

    def last_commit(self, bank: str, until: str) -> str:
        """The latest commit up to a time that HEAD contains; "" if there is none."""
        ...

    def last_touch(self, bank: str, path: str, until: str) -> FileTouch | None:
        """The last change of a file up to a time, in commits that HEAD contains."""
        ...

    def authorship(self, bank: str, commit: str = "", session: str = "") -> list[CommitAuthorship]:
        """Which sessions made which commits, the most certain first: of one commit, or of one
        session."""
        ...

    def commit_turns(self, bank: str) -> list[Turn]:
        """The turns that ran a commit and are not known to have failed, by time."""
        ...

    def renames(self, bank: str) -> list[tuple[str, str, str]]:
        """Every rename of a file in commits that are not hidden: time, old name, new name; the
        earliest first. A rename is left out where another file was later added under the old name,
        because the names then mean two files."""
        ...


class GitHistoryWriter(Protocol):
    """Writes the git history of a bank."""

    def known_commits(self, bank: str, commits: Sequence[str]) -> set[str]:
        """Which of these commits are known."""
        ...

    def put_patches(self, patches: Iterable[Patch]) -> None:
        """Keep what commits changed."""
        ...

    def index_touches(self, bank: str, commits: Sequence[str]) -> None:
        """Index by file what stored commits changed."""
        ...

    def put_branches(self, bank: str, branches: Iterable[tuple[str, str]]) -> None:
        """Replace the branches of a bank's repository."""
        ...

    def put_reverts(self, bank: str, commit: str, reverted: Iterable[str]) -> None:
        """Keep which commits one reverts, each by its full or shortened id."""
        ...

    def put_authorship(self, bank: str, authorship: Iterable[CommitAuthorship]) -> None:
        """Replace which sessions made which commits of a bank."""
        ...

    def put_repository(
        self, repository: Repository, tags: Iterable[Tag], unmerged: Iterable[str]
    ) -> None:
        """Store how far a repository was read, and replace its tags and the commits that HEAD does
        not contain."""
        ...
