"""What a store promises of itself as a whole: tallies by time, the pages of a history, authors."""

from __future__ import annotations

from dataclasses import replace

from tests.store.conformance.samples import (
    BANK,
    OTHER,
    MakeStore,
    a_commit,
    expect,
    prepared,
)

from holdfast.model.curation import Curated
from holdfast.store.protocol.overview import Author, Held, Tally, Wanted


def check_records_are_tallied_by_kind_and_period(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for number, time in enumerate(("2026-01-05", "2026-01-31", "2026-02-01", "")):
                commit, passage = a_commit(f"{number}" * 40, "Mend")
                assert passage is not None
                at = f"{time}T10:00:00.000Z" if time else ""
                store.put_commits([(replace(commit, time=at), passage._replace(time=at))])
        by_month = [Tally("commit", "2026-01", 2), Tally("commit", "2026-02", 1)]
        expect(store.tally(BANK, ["commit", "digest"], 7), by_month, "the tally by month")
        expect(store.tally(None, ["commit"], 7), by_month, "that of all banks")
        expect(store.tally(OTHER, ["commit"], 7), [], "that of another bank")
        expect(store.tally(BANK, ["commit"], 4), [Tally("commit", "2026", 3)], "that by year")
        days = store.tally(BANK, ["commit"], 10, "2026-01-06", "2026-02")
        expect(days, [Tally("commit", "2026-01-31", 1)], "that of a span, by day")


def check_a_history_is_read_page_by_page(make_store: MakeStore) -> None:
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
                store.put_commits([(made, passage)])
        ids = [(BANK, f"{number}" * 40) for number in (4, 2, 3, 0, 1)]
        expect(store.history(BANK, Wanted(), 9), ids, "the history")
        expect(store.history(None, Wanted(), 2, 1), ids[1:3], "a page of it")
        expect(store.history(OTHER, Wanted(), 9), [], "that of another bank")
        expect(store.history(BANK, Wanted("0%"), 9), [ids[2], ids[4]], "that of an author")
        expect(store.history(BANK, Wanted("BO@x"), 9), [ids[0], ids[1], ids[3]], "by address")
        expect(store.history(BANK, Wanted(path="src/"), 2, 1), ids[3:], "that of a folder")
        expect(store.history(BANK, Wanted("ada", "a.py"), 9), [ids[4]], "that of both")
        authors = [Author("Bo", "bo@x.example", 3), Author("Ada 100%", "ada@x.example", 2)]
        expect(store.authors(BANK), authors, "the authors")
        with store.transaction():
            store.put_curated(Curated(BANK, "commit", "4" * 40, forgotten=True))
        expect(store.history(BANK, Wanted(), 1), ids[1:2], "the history without what is forgotten")
        sizes = [portion.bytes for portion in store.portions()]
        expect(sizes, sorted(sizes, reverse=True), "what takes room")


def check_what_each_bank_holds_is_told(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        expect(store.held(), [], "what empty banks hold")
        commit, passage = a_commit("1" * 40, "Mend")
        assert passage is not None
        wide = passage._replace(body="é" * 10, context="abc")
        with store.transaction():
            store.put_commits([(commit, wide)])
            store.put_vectors(OTHER, "model", [("hash", 0, bytes(8))])
        told = sorted([Held(BANK, 13, 0), Held(OTHER, 0, 8)])
        expect(store.held(), told, "what each bank holds")
