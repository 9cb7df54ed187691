"""Totals of a store: records by period, pages of commits, authors, and sizes on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class PeriodCount(NamedTuple):
    """How many records of a kind began in a period, which is the start of an ISO time:
    `2026-03`."""

    kind: str
    period: str
    records: int


class CommitAuthor(NamedTuple):
    """An author of commits, and how many they wrote."""

    name: str
    email: str
    commits: int


class TableSize(NamedTuple):
    """A table or an index and its size in bytes."""

    name: str
    bytes: int


class BankContentSize(NamedTuple):
    """What a bank contains: characters of searchable text, and bytes of vectors."""

    bank: str
    words: int
    vectors: int


class CommitFilter(NamedTuple):
    """Which commits: of an author, by any part of name or address, and of a file or a folder/."""

    author: str = ""
    path: str = ""


class OverviewReader(Protocol):
    """Reads totals."""

    def counts_by_period(
        self,
        bank: str | None,
        kinds: Sequence[str],
        digits: int,
        since: str = "",
        until: str = "",
    ) -> list[PeriodCount]:
        """How many passages of these kinds there are in each period, from `since` up to `until`; by
        kind and period. `digits` is the length of a period (7 for months). Passages without a time
        are not counted."""
        ...

    def commit_ids(
        self, bank: str | None, commit_filter: CommitFilter, limit: int, offset: int = 0
    ) -> list[tuple[str, str]]:
        """Bank and id of commits, the latest first."""
        ...

    def authors(self, bank: str | None, limit: int = 50) -> list[CommitAuthor]:
        """The authors of commits, those with most first."""
        ...

    def table_sizes(self) -> list[TableSize]:
        """The tables and indexes with their sizes, the largest first; empty where the store cannot
        tell."""
        ...

    def bank_content_sizes(self) -> list[BankContentSize]:
        """The content sizes of all banks that have any content, by id."""
        ...
