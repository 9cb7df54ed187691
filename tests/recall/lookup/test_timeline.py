from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, NotFoundError
from holdfast.model.query import TimelinePosition
from holdfast.model.records import Exchange, Session
from holdfast.recall.lookup.timeline import Timeline, timeline
from holdfast.recall.query.iso_dates import IsoSpan, read_iso_span
from holdfast.settings import Settings
from holdfast.store.protocol import Store
from holdfast.store.sqlite.store import SqliteStore
from tests.store.conformance.samples import (
    BANK,
    OTHER,
    SESSION,
    a_commit,
    a_digest,
    a_passage,
    a_session,
    a_turn,
    an_exchange,
    prepared,
)


def at(minute: int) -> str:
    return f"2026-03-01T12:{minute:02}:00.000Z"


def fill(store: Store) -> None:
    """A session of six turns in two exchanges, a commit between them, and an undated rest."""
    turns = [replace(a_turn(n, f"word {n}"), id=f"t{n}", time=at(n * 10)) for n in range(1, 6)]
    turns.append(replace(a_turn(6, "the same moment"), id="s6", time=at(50)))
    works = [
        replace(an_exchange("x1"), started=at(10)),
        replace(an_exchange("x2"), started=at(40), first_seq=4, title="Raise the mast"),
    ]
    lost = replace(an_exchange("x3"), started="", first_seq=7)
    digest = replace(a_digest("d1"), started=at(10))
    commit, passage = a_commit("c1" + "0" * 38, "Move the buoy")
    spoken = [
        *(a_passage(t.id, t.text, time=t.time) for t in turns),
        *(a_passage(x.id, x.title, kind="exchange", time=x.started) for x in (*works, lost)),
        a_passage("d1", digest.request, kind="digest", time=digest.started),
    ]
    theirs = replace(an_exchange("y1", OTHER), started=at(20))
    with store.transaction():
        store.turns.put(turns)
        store.derived.put(BANK, SESSION, [*works, lost, digest, *spoken])
        store.git.put_commits([(replace(commit, time=at(30)), passage._replace(time=at(30)))])
        shown = a_passage("y1", theirs.title, OTHER, "exchange", time=theirs.started)
        store.derived.put(OTHER, SESSION, [theirs, shown])
        store.sessions.add(a_session(OTHER, "silent"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("timeline")
    with prepared(lambda: SqliteStore(folder / "memory.db")) as store:
        fill(store)
    return folder


@pytest.fixture
def memory(home: Path) -> Iterator[Holdfast]:
    with Holdfast(Settings(home, home), create=False) as opened:
        yield opened


def names(shown: Timeline) -> list[str]:
    return [
        ("*" if event.anchor else "") + event.uri.rpartition("/")[2][:2] for event in shown.events
    ]


def test_the_latest_records_are_listed_without_an_anchor(memory: Holdfast) -> None:
    shown = memory.timeline(bank="harbour")
    assert names(shown) == ["d1", "x1", "c1", "x2"]
    assert (shown.bank, shown.anchor, shown.undated) == ("harbour", "", 1)
    assert names(memory.timeline(bank="harbour", before=1, after=1)) == ["c1", "x2"]


def test_the_anchor_is_marked_among_its_neighbours(memory: Holdfast) -> None:
    assert names(memory.timeline("x1", bank="harbour")) == ["d1", "*x1", "c1", "x2"]
    assert names(memory.timeline("exchange/x1", bank="harbour", before=0, after=1)) == ["*x1", "c1"]
    shown = memory.timeline("c10", bank="harbour", before=1, after=0)
    assert names(shown) == ["x1", "*c1"] and shown.anchor == "holdfast://commit/c1" + "0" * 38


def test_every_kind_has_its_title_and_note(memory: Holdfast) -> None:
    digest, work, commit, _ = memory.timeline(bank="harbour").events
    assert (digest.title, digest.note) == ("Fix the tide table", "done")
    assert (work.title, work.note) == ("Fix the tide table", "bugfix")
    assert (commit.title, commit.note, commit.session) == ("Move the buoy", "Ada", "")
    assert work.session == f"host-of-{BANK}-{SESSION}" and work.time == at(10)
    turn = memory.timeline("t3", bank="harbour", before=0, after=0).events[0]
    assert (turn.title, turn.note, turn.anchor) == ("word 3", "user", True)


def test_a_turn_is_listed_among_the_turns_of_its_session(memory: Holdfast) -> None:
    shown = memory.timeline("t2", bank="harbour", before=3, after=3)
    assert names(shown) == ["d1", "x1", "t1", "*t2", "c1", "t3", "x2"]
    late = memory.timeline("t5", bank="harbour", before=1, after=3)
    assert names(late) == ["t4", "*t5", "s6"], "turns of one moment lie as they were spoken"


def test_requested_kinds_are_all_that_is_listed_beside_the_anchor(memory: Holdfast) -> None:
    turns = memory.timeline("t2", bank="harbour", kinds=["turn"], before=1, after=1)
    assert names(turns) == ["t1", "*t2", "t3"]
    commits = memory.timeline("x2", bank="harbour", kinds=["commit"])
    assert names(commits) == ["c1", "*x2"]
    assert "t1" in names(memory.timeline(bank="harbour", kinds=["turn"]))


def test_a_date_is_placed_between_earlier_and_later_records(memory: Holdfast) -> None:
    shown = memory.timeline("2026-03-01T12:30", bank="harbour", before=1, after=1)
    assert names(shown) == ["x1", "c1"] and shown.anchor == at(30)
    assert names(memory.timeline("2026-03-02", bank="harbour", before=1)) == ["x2"]
    assert names(memory.timeline("2026-03-01", bank="harbour", after=2)) == ["d1", "x1"]


def test_all_banks_make_one_timeline(memory: Holdfast) -> None:
    assert names(memory.timeline(bank="all")) == ["d1", "x1", "y1", "c1", "x2"]
    assert names(memory.timeline("y1", bank="all", before=1, after=1)) == ["x1", "*y1", "c1"]


def test_a_record_of_another_bank_selects_that_bank(memory: Holdfast) -> None:
    for bank in (None, "harbour"):
        shown = memory.timeline("y1", bank=bank)
        assert (shown.bank, names(shown)) == ("lighthouse", ["*y1"])
    with pytest.raises(NotFoundError):
        memory.timeline("y9", bank="harbour")


def test_a_session_is_placed_at_its_digest(memory: Holdfast) -> None:
    shown = memory.timeline(f"session/{SESSION}", bank="harbour", before=1, after=1)
    assert names(shown) == ["*d1", "x1"]
    started = Session(BANK, "s2", "h2", "claude-code", started=at(30))
    shown = timeline(memory.reader, BANK, started, before=1, after=1)
    assert names(shown) == ["x1", "c1"] and shown.anchor == at(30)


def test_the_best_hit_of_a_query_is_an_anchor(memory: Holdfast) -> None:
    shown = memory.timeline(query="raise the mast", bank="harbour", before=1)
    assert names(shown) == ["c1", "*x2"] and shown.query == "raise the mast"
    turn = memory.timeline(query="the same moment", bank="harbour", before=1)
    assert names(turn)[-1] == "*s6", "where no exchange speaks of it, a turn may"


def test_a_query_without_a_match_gives_an_empty_timeline(memory: Holdfast) -> None:
    shown = memory.timeline(query="zymurgy", bank="harbour")
    assert shown.events == () and "No results for 'zymurgy' in bank harbour." in shown.notes


def test_a_record_without_a_time_is_not_an_anchor(memory: Holdfast) -> None:
    for anchor in ("x3", "session/silent"):
        with pytest.raises(InputError, match="has no time"):
            memory.timeline(anchor, bank="all")


def test_neighbours_are_symmetric(memory: Holdfast) -> None:
    """Whoever is next after a record has that record next before it."""
    kinds = ("digest", "exchange", "commit", "turn")
    everything = memory.timeline(bank="all", kinds=kinds, before=50).events
    assert len(everything) == 11
    for one, two in pairwise(everything):
        after = memory.timeline(one.uri, bank="all", kinds=kinds, before=0, after=1)
        before = memory.timeline(two.uri, bank="all", kinds=kinds, before=1, after=0)
        assert [e.uri for e in after.events] == [one.uri, two.uri]
        assert [e.uri for e in before.events] == [one.uri, two.uri]


def test_a_record_without_a_passage_is_still_an_anchor(memory: Holdfast) -> None:
    stray = replace(an_exchange("zz"), started=at(30))
    assert isinstance(stray, Exchange)
    shown = timeline(memory.reader, BANK, stray, before=1, after=1)
    assert names(shown) == ["c1", "*zz", "x2"]
    assert names(timeline(memory.reader, BANK, TimelinePosition(""), after=1)) == ["d1"]


@pytest.mark.parametrize(
    ("text", "first", "end"),
    [
        ("2026-03-01", "2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z"),
        ("2026-02", "2026-02-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"),
        ("2026-12", "2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"),
        ("2026-03-01T12:30", "2026-03-01T12:30:00.000Z", "2026-03-01T12:30:00.001Z"),
        ("2026-03-01 12:30:15.5z", "2026-03-01T12:30:15.500Z", "2026-03-01T12:30:15.501Z"),
        ("2026-03-01T00:30+01:00", "2026-02-28T23:30:00.000Z", "2026-02-28T23:30:00.001Z"),
    ],
)
def test_a_date_covers_the_whole_period_it_names(text: str, first: str, end: str) -> None:
    assert read_iso_span(text) == IsoSpan(first, end)


@pytest.mark.parametrize(
    "text", ["", "2026", "2026-13", "2026-02-30", "2026-03T12:00", "yesterday", "9999-12-31", "1-1"]
)
def test_an_invalid_date_is_reported(text: str) -> None:
    with pytest.raises(InputError, match="is not a date"):
        read_iso_span(text)
