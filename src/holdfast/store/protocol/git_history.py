"""What a store keeps of repositories beside their commits: patches, reverts, tags, and how far
each was read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.records import Exchange, Turn
from holdfast.model.team import FileChange


class Patch(NamedTuple):
    """What a commit changed, file by file, and the hunks that matter."""

    bank: str
    commit: str
    changes: tuple[FileChange, ...] = ()
    diff: str = ""


class Repository(NamedTuple):
    """A repository that was read: by the folder of its objects, up to these commits; from which
    working folder, and whether with diffs."""

    bank: str
    path: str
    head: str
    tips: tuple[str, ...]
    read_at: str
    folder: str = ""
    diffs: bool = True


class Tag(NamedTuple):
    """A name that a repository has for a commit."""

    name: str
    commit: str
    time: str


class CommitAuthorship(NamedTuple):
    """That a session made a commit: in which exchange, how surely (0 to 1), and what tells."""

    bank: str
    commit: str
    session: str
    exchange: str
    score: float
    because: str


class FileTouch(NamedTuple):
    """That a commit touched a file: how (as `FileChange` has it, and `W` where the file went to
    the `other` name), the name it had before, the lines that came and went, and git's name of
    its content afterwards, where that is known."""

    path: str
    time: str
    commit: str
    fate: str
    other: str = ""
    added: int = 0
    removed: int = 0
    blob: str = ""


class GitHistoryReader(Protocol):
    """What can be asked."""

    def patch(self, bank: str, commit: str) -> Patch | None:
        """What a commit changed, if that was read."""
        ...

    def reverted_by(self, bank: str, commit: str) -> list[str]:
        """The commits that say they take this one back."""
        ...

    def reverts(self, bank: str, commit: str) -> list[str]:
        """The commits that this one says it takes back, each as it spells it."""
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
        """The branches of this clone by name, each with the commit it ends in."""
        ...

    def reachable_commits(self, bank: str, tip: str) -> set[str]:
        """A commit and all that it contains, as far as they were read."""
        ...

    def touches(self, bank: str, path: str, since: str, limit: int) -> list[FileTouch]:
        """What became of a file after a moment in commits that HEAD contains, the first first."""
        ...

    def session_commits(self, bank: str, session: str) -> set[str]:
        """The commits that a session made, its subagents and what it is a subagent of included."""
        ...

    def exchange_at(self, bank: str, session: str, seq: int) -> Exchange | None:
        """The exchange that holds a turn of a session."""
        ...

    def last_commit(self, bank: str, until: str) -> str:
        """The latest commit up to a moment that HEAD contains; "" if there is none."""
        ...

    def last_touch(self, bank: str, path: str, until: str) -> FileTouch | None:
        """The last thing that became of a file up to a moment, in commits that HEAD contains."""
        ...

    def authorship(self, bank: str, commit: str = "", session: str = "") -> list[CommitAuthorship]:
        """Which sessions made which commits, the surest first: of one commit, or of one session."""
        ...

    def commit_turns(self, bank: str) -> list[Turn]:
        """The turns that ran a commit and were not told that it failed, by time."""
        ...

    def renames(self, bank: str) -> list[tuple[str, str, str]]:
        """Every renaming of a file that is not put away: when, from which name, to which; the
        earliest first. Where another file was added under the old name later, the names mean two
        files, and it is left out."""
        ...


class GitHistoryWriter(Protocol):
    """The ways in."""

    def known_commits(self, bank: str, commits: Sequence[str]) -> set[str]:
        """Which of these commits there are already."""
        ...

    def put_patches(self, patches: Iterable[Patch]) -> None:
        """Keep what commits changed."""
        ...

    def index_touches(self, bank: str, commits: Sequence[str]) -> None:
        """Make it known by file what stored commits changed."""
        ...

    def put_branches(self, bank: str, branches: Iterable[tuple[str, str]]) -> None:
        """Note the branches of a bank's repository, in place of what was noted."""
        ...

    def put_reverts(self, bank: str, commit: str, reverted: Iterable[str]) -> None:
        """Note which commits one takes back, each by its full or shortened name."""
        ...

    def put_authorship(self, bank: str, made: Iterable[CommitAuthorship]) -> None:
        """Say which sessions made which commits of a bank, in place of what was said."""
        ...

    def put_repository(
        self, repository: Repository, tags: Iterable[Tag], astray: Iterable[str]
    ) -> None:
        """Note how far a repository was read, in place of what was noted of it and of its tags
        and of what HEAD does not contain."""
        ...
