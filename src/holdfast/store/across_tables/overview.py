"""Counts, lists of commits and authors of a memory as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import RecordFilter
from holdfast.store.sql import labels
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import batches, placeholders_for


class PeriodCount(NamedTuple):
    """How many records of a kind began in a period, which is the start of an ISO time:
    `2026-03`."""

    kind: str
    period: str
    records: int


class SessionTitle(NamedTuple):
    """What a session is called, and when it started."""

    title: str
    started: str


class CommitAuthor(NamedTuple):
    """An author of commits, and how many they wrote."""

    name: str
    email: str
    commits: int


class CommitFilter(NamedTuple):
    """Which commits: of an author, by any part of name or address, and of a file or a folder/."""

    author: str = ""
    path: str = ""


_AFTER_ALL_TIMES = "~"

_MAX_COMMITS_OF_PATH = 100_000

_BY_AUTHOR = "(lower(author) LIKE ? ESCAPE '\\' OR lower(email) LIKE ? ESCAPE '\\')"


def _page(found: list[tuple[str, str, str]], limit: int, skip: int) -> list[tuple[str, str]]:
    """One page of commits, the latest first."""
    found.sort(key=lambda commit: commit[1:])
    found.sort(key=lambda commit: commit[0], reverse=True)
    return [(bank, id) for _, id, bank in found[skip : skip + limit]]


def _like(text: str) -> str:
    escaped = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


class Overview(Subject):
    """Reads them."""

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
        counted: dict[tuple[str, str], int] = {}
        for one in self._db.bank_ids(bank):
            for kind in dict.fromkeys(kinds):
                # As in `moments`: what was retained of a session lies where its exchanges lie.
                own = " AND session = ''" if kind == "memory" else ""
                found = self._db.all(
                    "SELECT substr(time, 1, ?), count(*) FROM passage WHERE bank = ? AND kind = ? "
                    f"AND time >= ? AND time < ?{own} GROUP BY 1",
                    (digits, one, kind, since or " ", until or _AFTER_ALL_TIMES),
                )
                for period, count in found:
                    counted[kind, period] = counted.get((kind, period), 0) + count
        return [PeriodCount(kind, period, n) for (kind, period), n in sorted(counted.items())]

    def commit_ids(
        self, bank: str | None, commit_filter: CommitFilter, limit: int, offset: int = 0
    ) -> list[tuple[str, str]]:
        """Bank and id of commits, the latest first."""
        if commit_filter.path:
            return self._touching(bank, commit_filter, limit, offset)
        by = f" AND {_BY_AUTHOR}" if commit_filter.author else ""
        values = (_like(commit_filter.author),) * 2 if commit_filter.author else ()
        found: list[tuple[str, str, str]] = []
        # Bank by bank: so each is read in the order of its index, and no further than needed.
        for one in self._db.bank_ids(bank):
            rows = self._db.all(
                f"SELECT time, id FROM visible_commit WHERE bank = ?{by} "
                "ORDER BY time DESC, id LIMIT ?",
                (one, *values, limit + offset),
            )
            found += [(time, id, one) for time, id in rows]
        return _page(found, limit, offset)

    def _touching(
        self, bank: str | None, wanted: CommitFilter, limit: int, skip: int
    ) -> list[tuple[str, str]]:
        """Commits that change a path: found by their labels, then filtered by author."""
        most = _MAX_COMMITS_OF_PATH if wanted.author else limit + skip
        condition = _BY_AUTHOR if wanted.author else "true"
        values = (_like(wanted.author),) * 2 if wanted.author else ()
        found: list[tuple[str, str, str]] = []
        for one in self._db.bank_ids(bank):
            for _, id in labels.labelled_records(
                self._db, one, RecordFilter(file=wanted.path), most, ("commit",)
            ):
                row = self._db.one(
                    f"SELECT time FROM visible_commit WHERE bank = ? AND id = ? AND {condition}",
                    (one, id, *values),
                )
                found += [(row[0], id, one)] if row else []
        return _page(found, limit, skip)

    def authors(self, bank: str | None, limit: int = 50) -> list[CommitAuthor]:
        """The authors of commits, those with most first."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT max(author), max(email), count(*) AS n FROM visible_commit WHERE {where} "
            "GROUP BY CASE email WHEN '' THEN author ELSE lower(email) END "
            "ORDER BY n DESC, 1, 2 LIMIT ?",
            (*values, limit),
        )
        return [CommitAuthor(*row) for row in found]

    def session_titles(self, bank: str, sessions: Sequence[str]) -> dict[str, SessionTitle]:
        """What sessions are called, by their ids: their titles, or else what was asked first."""
        titles: dict[str, SessionTitle] = {}
        for some in batches(sessions):
            found = self._db.all(
                "SELECT s.id, CASE WHEN s.title <> '' THEN s.title "
                "ELSE coalesce(digest.request, '') END, s.started FROM visible_session AS s "
                "LEFT JOIN digest ON digest.bank = s.bank AND digest.session = s.id "
                f"WHERE s.bank = ? AND s.id IN ({placeholders_for(some)})",
                (bank, *some),
            )
            titles |= {id: SessionTitle(title, started) for id, title, started in found}
        return titles
