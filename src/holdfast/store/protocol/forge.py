"""What a store keeps of forges: pulls and issues, the remarks under them, who is who there, and
how far each repository was read.

A forge may be asked again at any time, so what it says now takes the place of what it said. What
is gone there stays here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.forge import ForgeAccount, Pull, Remark, Thread
from holdfast.model.query import Passage, RecordFilter


class ForgeRepository(NamedTuple):
    """A repository on a forge that was read: `repo` is its whole name (`github.com/owner/name`);
    `cursors` tell up to when each of its lists was read, `tags` what the forge called the answer
    to each address that may be asked again (its ETag)."""

    bank: str
    repo: str
    cursors: Mapping[str, str]
    tags: Mapping[str, str]
    read_at: str


class ForgeReader(Protocol):
    """What can be asked."""

    def forge_repositories(self, bank: str | None = None) -> list[ForgeRepository]:
        """The repositories that were read, by bank and name."""
        ...

    def threads_by_number(self, bank: str, number: int) -> list[Thread]:
        """The pulls, then the issues, of a number."""
        ...

    def remarks(self, bank: str, thread: str) -> list[Remark]:
        """What was said under the thread of a URI, in the order of time."""
        ...

    def thread_passages(self, bank: str, thread: str) -> list[Passage]:
        """What the thread of a URI, and what was said under it, is found as; by time."""
        ...

    def pulls_with_commit(self, bank: str, commit: str) -> list[Pull]:
        """The pulls that a commit is part of, or went in by."""
        ...

    def pulls_fixing(self, bank: str, issue: int) -> list[Pull]:
        """The pulls that say they close an issue."""
        ...

    def pulls_touching(self, bank: str | None, filter: RecordFilter, limit: int = 20) -> list[Pull]:
        """The pulls that change a file or something in a folder, the latest first."""
        ...

    def commits_mentioning(self, bank: str, number: int) -> list[str]:
        """The commits with `#number` in their message, by id."""
        ...

    def logins(self, bank: str) -> list[ForgeAccount]:
        """Who the accounts of a bank's forges are, by login."""
        ...


class ForgeWriter(Protocol):
    """The ways in, and the ways past people's decisions."""

    def known_threads(self, bank: str, kind: str, ids: Sequence[str]) -> dict[str, str]:
        """Which of these threads there are, each with when it was updated."""
        ...

    def thread(self, bank: str, kind: str, id: str) -> Thread | None:
        """One pull or issue as it was read."""
        ...

    def remark(self, bank: str, id: str) -> Remark | None:
        """One remark as it was read."""
        ...

    def all_remarks(self, bank: str, thread: str) -> list[Remark]:
        """All of a thread as they were read, hidden or not."""
        ...

    def put_thread(self, thread: Thread, passage: Passage | None) -> bool:
        """Store a pull or an issue in place of what it was, with its passage, if it is to be
        found; tells whether anything is new."""
        ...

    def put_remark(self, remark: Remark, passage: Passage | None) -> bool:
        """The same for a remark."""
        ...

    def put_logins(self, bank: str, logins: Iterable[ForgeAccount]) -> None:
        """Note who is who; what is known already stays."""
        ...

    def put_forge_repository(self, followed: ForgeRepository) -> None:
        """Note how far a repository was read."""
        ...
