"""What a store tells of itself as a whole: how much there is of what in which time, the commits of
a history one page after the other, who wrote them, and what takes the room on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class PeriodCount(NamedTuple):
    """How many records of a kind began in a period: the start of an ISO time, `2026-03`."""

    kind: str
    period: str
    records: int


class CommitAuthor(NamedTuple):
    """Who wrote commits, and how many."""

    name: str
    email: str
    commits: int


class TableSize(NamedTuple):
    """A table or an index and the bytes it takes."""

    name: str
    bytes: int


class BankContentSize(NamedTuple):
    """What a bank holds: characters of what can be found, and bytes of vectors."""

    bank: str
    words: int
    vectors: int


class CommitFilter(NamedTuple):
    """Which commits: of an author, by any part of name or address, and of a file or a folder/."""

    author: str = ""
    path: str = ""


class OverviewReader(Protocol):
    """What can be asked."""

    def counts_by_period(
        self,
        bank: str | None,
        kinds: Sequence[str],
        digits: int,
        since: str = "",
        until: str = "",
    ) -> list[PeriodCount]:
        """How many passages of these kinds there are in each period, which so many digits of a
        time name, from `since` up to `until`; by kind and period. What has no time is in none."""
        ...

    def commit_ids(
        self, bank: str | None, wanted: CommitFilter, limit: int, skip: int = 0
    ) -> list[tuple[str, str]]:
        """Bank and id of commits, the latest first."""
        ...

    def authors(self, bank: str | None, limit: int = 50) -> list[CommitAuthor]:
        """Who wrote commits, those with most first."""
        ...

    def table_sizes(self) -> list[TableSize]:
        """What takes the room on disk, the largest first; empty where that cannot be told."""
        ...

    def bank_content_sizes(self) -> list[BankContentSize]:
        """What each bank holds that holds anything, by its id."""
        ...
