"""Pulls, issues and remarks of forges, their accounts, and how far each repository was read.

A forge may be read again at any time; then what it says replaces what it said. What was deleted
there stays here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.forge import ForgeAccount, Pull, Remark, Thread
from holdfast.model.query import Passage, RecordFilter


class ForgeRepository(NamedTuple):
    """A repository on a forge and how far it was read. `repo` is its full name
    (`github.com/owner/name`); `cursors` are the times up to which each of its lists was read;
    `tags` are the ETags of answers, by address."""

    bank: str
    repo: str
    cursors: Mapping[str, str]
    tags: Mapping[str, str]
    read_at: str


class ForgeReader(Protocol):
    """Reads pulls, issues and remarks."""

    def forge_repositories(self, bank: str | None = None) -> list[ForgeRepository]:
        """The repositories that were read, by bank and name."""
        ...

    def threads_by_number(self, bank: str, number: int) -> list[Thread]:
        """The pulls, then the issues, with a number."""
        ...

    def remarks(self, bank: str, thread: str) -> list[Remark]:
        """The remarks in the thread with a URI, by time."""
        ...

    def thread_passages(self, bank: str, thread: str) -> list[Passage]:
        """The passages of a thread, by URI, and of its remarks, by time."""
        ...

    def pulls_with_commit(self, bank: str, commit: str) -> list[Pull]:
        """The pulls that contain a commit, or were merged by it."""
        ...

    def pulls_fixing(self, bank: str, issue: int) -> list[Pull]:
        """The pulls that say they close an issue."""
        ...

    def pulls_touching(self, bank: str | None, filter: RecordFilter, limit: int = 20) -> list[Pull]:
        """The pulls that change a file or something in a folder, the latest first."""
        ...

    def commits_mentioning(self, bank: str, number: int) -> list[str]:
        """The ids of the commits with `#number` in their message, sorted."""
        ...

    def logins(self, bank: str) -> list[ForgeAccount]:
        """The accounts of a bank's forges, by login."""
        ...


class ForgeWriter(Protocol):
    """Writes what was read from forges, and reads it without corrections."""

    def known_threads(self, bank: str, kind: str, ids: Sequence[str]) -> dict[str, str]:
        """Which of these threads are known, each with the time of its last update."""
        ...

    def thread(self, bank: str, kind: str, id: str) -> Thread | None:
        """One pull or issue as it was read."""
        ...

    def remark(self, bank: str, id: str) -> Remark | None:
        """One remark as it was read."""
        ...

    def all_remarks(self, bank: str, thread: str) -> list[Remark]:
        """All remarks of a thread as they were read, hidden or not."""
        ...

    def put_thread(self, thread: Thread, passage: Passage | None) -> bool:
        """Store a pull or an issue in place of its earlier version, with its passage (None: it
        cannot be found); returns whether anything changed."""
        ...

    def put_remark(self, remark: Remark, passage: Passage | None) -> bool:
        """The same for a remark."""
        ...

    def put_logins(self, bank: str, logins: Iterable[ForgeAccount]) -> None:
        """Add accounts; known ones stay."""
        ...

    def put_forge_repository(self, repository: ForgeRepository) -> None:
        """Store how far a repository was read."""
        ...
