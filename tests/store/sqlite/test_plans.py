"""How SQLite goes about a question: what is asked of a large bank never reads all of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from holdfast.model.query import RecordFilter, TimelinePosition
from holdfast.store.across_tables.overview import CommitFilter
from holdfast.store.index.vectors import VectorSpan
from holdfast.store.sqlite.store import SqliteStore
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    a_commit,
    an_exchange,
    prepared,
)

KINDS = ("digest", "exchange", "commit", "turn")
# Lists that are given with the question, or are few.
SHORT = ("SCAN json_each", "SCAN had", "SCAN bank")


def plans(path: Path, ask: Callable[[SqliteStore], object]) -> list[str]:
    """The plan of every statement that a question runs."""
    asked: list[str] = []
    with closing(SqliteStore(path)) as store:
        connection = cast(sqlite3.Connection, store.__dict__["_raw"])
        connection.set_trace_callback(asked.append)
        ask(store)
        connection.set_trace_callback(None)
        # What the full-text index asks of its own tables is told as a comment.
        asked = [sql for sql in asked if not sql.startswith("--")]
        return [row[3] for sql in asked for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with prepared(lambda: SqliteStore(path)) as store, store.transaction():
        store.derived.put(BANK, SESSION, [an_exchange()])
        store.git.put_commits([a_commit("c1", "raise the anchor")])
    return path


@pytest.mark.parametrize(
    "filter",
    [
        RecordFilter(file="table.py"),
        RecordFilter(file="src/table.py"),
        RecordFilter(file="/src/table.py"),
        RecordFilter(file="src/"),
        RecordFilter(concept="tide"),
        RecordFilter(type="bugfix"),
        RecordFilter(since="2026", until="2027"),
        RecordFilter("table.py", "tide utc", "bugfix", "2026", "2027"),
    ],
)
def test_filtering_records_scans_no_whole_table(path: Path, filter: RecordFilter) -> None:
    for bank in (BANK, None):
        told = plans(path, lambda store, bank=bank: store.records.filter(bank, filter))
        assert told
        assert not [step for step in told if "SCAN" in step and not step.startswith(SHORT)]


@pytest.mark.parametrize("wanted", [CommitFilter(), CommitFilter(author="ada")])
def test_the_commit_history_is_read_in_index_order(path: Path, wanted: CommitFilter) -> None:
    for bank in (BANK, None):
        told = plans(path, lambda store, bank=bank: store.overview.commit_ids(bank, wanted, 40))
        assert "SEARCH commit USING COVERING INDEX commit_time (bank=?)" in told
        assert "USE TEMP B-TREE FOR ORDER BY" not in told
    assert any("COVERING INDEX" in step for step in plans(path, lambda s: s.overview.authors(BANK)))


def test_counting_vectors_reads_a_stored_count(path: Path) -> None:
    told = plans(path, lambda store: store.vectors.span(BANK, "model"))
    assert "SEARCH c USING PRIMARY KEY (bank=? AND model=?)" in told
    with closing(sqlite3.connect(path)) as store:
        # Where all of them were counted, the table itself would be asked.
        store.execute("INSERT INTO vector_count VALUES (?, 'model', 7)", (BANK,))
        store.commit()
    with closing(SqliteStore(path)) as store:
        assert store.vectors.span(BANK, "model") == VectorSpan(7, 0, 0)
        store.vectors.put(BANK, "model", [("a", 0, b"")])
        assert store.check_integrity().derived == ("1 banks whose vectors are not counted",)
        store.derived.drop_all()
        assert store.vectors.span(BANK, "model").total == 1


def test_a_timeline_reads_each_side_from_its_position_by_index(path: Path) -> None:
    moment = TimelinePosition(NOON, "exchange", "x1", BANK)
    told = plans(path, lambda store: store.passages.around(BANK, moment, KINDS, 5, 5))
    searches = [step for step in told if step.startswith("SEARCH")]
    assert len(searches) == 8
    assert all("passage_time (bank=? AND kind=? AND time" in step for step in searches)
    assert not [step for step in told if "SCAN" in step]


def test_removing_an_exchange_removes_its_labels(path: Path) -> None:
    with closing(SqliteStore(path)) as store, store.transaction():
        store.derived.put(BANK, SESSION, [])
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT kind FROM record_labels").fetchall() == [("commit",)]
        assert raw.execute("SELECT DISTINCT kind FROM labelled_record").fetchall() == [("commit",)]
        assert {row[0] for row in raw.execute("SELECT text FROM label")} == {"a.py", "b.py"}


def test_a_search_within_a_time_range_queries_the_index_once(path: Path) -> None:
    """By row the index would be asked anew for every passage of that time: seconds, not
    milliseconds, in a bank of a few thousand."""
    told = plans(path, lambda store: store.passages.search(BANK, ["anchor"], (), 5, "2026", "2027"))
    virtual = [step for step in told if "VIRTUAL TABLE" in step]
    assert virtual and not [step for step in virtual if "=" in step.partition("INDEX")[2]]


def test_the_model_of_a_bank_is_found_by_the_hashes_of_its_passages(path: Path) -> None:
    found = plans(path, lambda store: store.vectors.bank_model(BANK))
    of_vectors = [line for line in found if line.startswith(("SEARCH vector ", "SCAN vector "))]
    assert of_vectors and all("model=? AND hash=?" in line for line in of_vectors)


def test_the_words_of_the_only_bank_are_not_compared_with_a_list_of_its_passages(
    path: Path,
) -> None:
    asked: list[str] = []

    def ask(store: SqliteStore) -> tuple[list[str], list[int]]:
        asked.clear()
        connection = cast(sqlite3.Connection, store.__dict__["_raw"])
        connection.set_trace_callback(asked.append)
        found = [match.passage.id for match in store.passages.search(BANK, ["anchor"])]
        counted = store.passages.term_frequencies(BANK, ["anchor", "none"], 10)
        connection.set_trace_callback(None)
        return found, counted

    with closing(SqliteStore(path)) as store:
        alone = ask(store)
        assert alone == (["c1"], [1, 0])
        assert not any("zzbank" in sql for sql in asked)
        with store.transaction():
            store.git.put_commits([a_commit("c2", "drop the anchor", bank=OTHER)])
        assert ask(store) == alone
        assert sum("zzbank" in sql for sql in asked) == 2 + 4
