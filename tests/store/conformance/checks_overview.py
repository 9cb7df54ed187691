"""Counts by period, pages of commits, authors, and sizes."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.curation import CurationState
from holdfast.store.across_tables.overview import (
    CommitAuthor,
    CommitFilter,
    PeriodCount,
)
from tests.store.conformance.samples import (
    BANK,
    OTHER,
    MakeStore,
    a_commit,
    expect,
    prepared,
)


def check_records_are_counted_by_kind_and_period(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for number, time in enumerate(("2026-01-05", "2026-01-31", "2026-02-01", "")):
                commit, passage = a_commit(f"{number}" * 40, "Mend")
                assert passage is not None
                at = f"{time}T10:00:00.000Z" if time else ""
                store.git.put_commits([(replace(commit, time=at), passage._replace(time=at))])
        by_month = [PeriodCount("commit", "2026-01", 2), PeriodCount("commit", "2026-02", 1)]
        expect(
            store.overview.counts_by_period(BANK, ["commit", "digest"], 7),
            by_month,
            "the tally by month",
        )
        expect(store.overview.counts_by_period(None, ["commit"], 7), by_month, "that of all banks")
        expect(store.overview.counts_by_period(OTHER, ["commit"], 7), [], "that of another bank")
        expect(
            store.overview.counts_by_period(BANK, ["commit"], 4),
            [PeriodCount("commit", "2026", 3)],
            "that by year",
        )
        days = store.overview.counts_by_period(BANK, ["commit"], 10, "2026-01-06", "2026-02")
        expect(days, [PeriodCount("commit", "2026-01-31", 1)], "that of a span, by day")


def check_commits_are_read_page_by_page(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for number in range(5):
                commit, passage = a_commit(f"{number}" * 40, f"Step {number}")
                made = replace(
                    commit,
                    time=f"2026-03-0{number // 2 + 1}T00:00:00.000Z",
                    author="Ada 100%" if number % 2 else "Bo",
                    email="ada@x.example" if number % 2 else "bo@x.example",
                    files=("src/a.py",) if number < 3 else ("docs/b.md",),
                )
                store.git.put_commits([(made, passage)])
        ids = [(BANK, f"{number}" * 40) for number in (4, 2, 3, 0, 1)]
        expect(store.overview.commit_ids(BANK, CommitFilter(), 9), ids, "the history")
        expect(store.overview.commit_ids(None, CommitFilter(), 2, 1), ids[1:3], "a page of it")
        expect(store.overview.commit_ids(OTHER, CommitFilter(), 9), [], "that of another bank")
        expect(
            store.overview.commit_ids(BANK, CommitFilter("0%"), 9),
            [ids[2], ids[4]],
            "that of an author",
        )
        expect(
            store.overview.commit_ids(BANK, CommitFilter("BO@x"), 9),
            [ids[0], ids[1], ids[3]],
            "by address",
        )
        expect(
            store.overview.commit_ids(BANK, CommitFilter(path="src/"), 2, 1),
            ids[3:],
            "that of a folder",
        )
        expect(
            store.overview.commit_ids(BANK, CommitFilter("ada", "a.py"), 9),
            [ids[4]],
            "that of both",
        )
        authors = [
            CommitAuthor("Bo", "bo@x.example", 3),
            CommitAuthor("Ada 100%", "ada@x.example", 2),
        ]
        expect(store.overview.authors(BANK), authors, "the authors")
        with store.transaction():
            store.curation.put_state(CurationState(BANK, "commit", "4" * 40, forgotten=True))
        expect(
            store.overview.commit_ids(BANK, CommitFilter(), 1),
            ids[1:2],
            "the history without what is forgotten",
        )
