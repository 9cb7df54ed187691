"""The order of records in time, and records by file, concept, type and date."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from holdfast.model.query import Passage, RecordFilter, TimelinePosition
from holdfast.model.records import Exchange, ExchangeType
from holdfast.model.team import Commit
from holdfast.store.protocol import Store
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_commit,
    a_passage,
    a_turn,
    an_exchange,
    expect,
    prepared,
)

KINDS = ("commit", "digest", "exchange")


def _hour(hour: int, day: int = 1) -> str:
    return f"2026-03-{day:02}T{hour:02}:00:00.000Z"


def _put(store: Store, *passages: Passage, bank: str = BANK) -> None:
    with store.transaction():
        store.derived.put(bank, SESSION, [passage._replace(bank=bank) for passage in passages])


def _names(found: Sequence[Passage | Exchange | Commit]) -> list[str]:
    return [one.id for one in found]


def _work(id: str, hour: int, **more: object) -> Exchange:
    plain = replace(an_exchange(id), keywords=(), files_read=(), files_modified=())
    return replace(plain, started=_hour(hour), first_seq=hour, last_seq=hour, **more)


def _sift(store: Store, filter: RecordFilter, bank: str | None = BANK) -> list[str]:
    return _names(store.records.filter(bank, filter))


def check_records_around_a_time_are_in_order(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(
            store,
            *(a_passage(f"x{h}", "anchor", kind="exchange", time=_hour(h)) for h in range(1, 7)),
            a_passage("d3", "anchor", kind="digest", time=_hour(3)),
            a_passage("t4", "anchor", time=_hour(4)),
        )
        moment = TimelinePosition(_hour(3), "exchange", "x3", BANK)
        expect(
            _names(store.passages.around(BANK, moment, KINDS, 2, 2)),
            ["x2", "d3", "x4", "x5"],
            "around",
        )
        expect(
            _names(store.passages.around(BANK, moment, KINDS, 9, 0)), ["x1", "x2", "d3"], "around"
        )
        expect(_names(store.passages.around(BANK, moment, KINDS, 0, 1)), ["x4"], "around")
        expect(_names(store.passages.around(BANK, moment, ["turn"], 1, 1)), ["t4"], "around")
        expect(store.passages.around(BANK, moment, [], 5, 5), [], "around without a kind")
        expect(store.passages.around(BANK, moment, ["unheard of"], 5, 5), [], "around")
        at = TimelinePosition(_hour(3))
        expect(
            _names(store.passages.around(BANK, at, KINDS, 1, 2)),
            ["x2", "d3", "x3"],
            "around a time",
        )
        twice = store.passages.around(BANK, at, ["digest", "digest"], 5, 5)
        expect(_names(twice), ["d3"], "a kind that is named twice")


def check_records_of_the_same_time_have_a_fixed_order(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        ids = ("b", "d", "a", "c")
        for bank in (BANK, OTHER):
            _put(
                store,
                *(a_passage(id, "anchor", kind=kind) for kind in KINDS[1:] for id in ids),
                bank=bank,
            )
        places = [
            TimelinePosition(NOON, kind, id, bank)
            for kind in KINDS[1:]
            for id in sorted(ids)
            for bank in (BANK, OTHER)
        ]
        for number, moment in enumerate(places):
            found = store.passages.around(None, moment, KINDS, 3, 3)
            near = [TimelinePosition(p.time, p.kind, p.id, p.bank) for p in found]
            wanted = places[max(0, number - 3) : number] + places[number + 1 : number + 4]
            expect(near, wanted, f"around {moment}")


def check_records_without_a_time_are_on_no_timeline_and_are_counted(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(
            store,
            a_passage("x1", "anchor", kind="exchange"),
            *(a_passage(f"u{n}", "anchor", kind="exchange", time="") for n in range(3)),
            a_passage("t1", "anchor", time=""),
        )
        for moment in (
            TimelinePosition(""),
            TimelinePosition(NOON, "exchange", "x1", BANK),
            TimelinePosition("~"),
        ):
            expect(
                "u0" in _names(store.passages.around(BANK, moment, KINDS, 9, 9)), False, "around"
            )
        expect(
            _names(store.passages.around(BANK, TimelinePosition(""), KINDS, 9, 9)),
            ["x1"],
            "around no time",
        )
        expect(
            _names(store.passages.around(BANK, TimelinePosition("~"), KINDS, 9, 9)),
            ["x1"],
            "around the end",
        )
        counted = [store.passages.count_undated(bank, KINDS, 99) for bank in (BANK, OTHER, None)]
        expect(counted, [3, 0, 3], "undated")
        expect(store.passages.count_undated(None, (*KINDS, "turn"), 99), 4, "undated")
        expect(store.passages.count_undated(None, (*KINDS, "turn"), 2), 2, "undated(most=2)")


def check_work_is_found_by_the_file_it_touched(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        commit, passage = a_commit("c5", "move the buoy")
        commit = replace(commit, time=_hour(5), files=("src/ui/rest.js", "docs/100%_done.md"))
        with store.transaction():
            store.derived.put(
                BANK,
                SESSION,
                [
                    _work("x1", 1, files_read=("src/ui/rest.js",)),
                    _work("x2", 2, files_modified=("src/ui/rest.js", "src/ui/arrest.js")),
                    _work("x3", 3, files_modified=("rest.js",)),
                    _work("x4", 4, files_read=("src\\ui\\list.js", "./src/uid/a.js")),
                    _work("x6", 6, files_read=("/abs/rest.js",)),
                ],
            )
            store.git.put_commits([(commit, passage)])
        for file, wanted in {
            "src/ui/rest.js": ["c5", "x2", "x1"],
            "ui/rest.js": ["c5", "x2", "x1"],
            "rest.js": ["x6", "c5", "x3", "x2", "x1"],
            "./rest.js": ["x6", "c5", "x3", "x2", "x1"],
            "/abs/rest.js": ["x6"],
            "/rest.js": [],
            "src/ui/": ["c5", "x4", "x2", "x1"],
            "src/ui": [],
            "src\\ui\\": ["c5", "x4", "x2", "x1"],
            "src/ui/list.js": ["x4"],
            "src/uid/a.js": ["x4"],
            "ui/": [],
            "arrest.js": ["x2"],
            "i/rest.js": [],
            "REST.JS": [],
            "rest.j_": [],
            "%": [],
            "/": ["x6"],
            "\ud83e/rest.js": [],
            "docs/100%_done.md": ["c5"],
        }.items():
            expect(_sift(store, RecordFilter(file=file)), wanted, f"sift by {file}")
        expect(store.records.filter(BANK, RecordFilter(file="docs/"))[0], commit, "sift")


def check_a_commit_of_very_many_files_is_found_by_any(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        commit, passage = a_commit("c1", "sort the archive")
        commit = replace(commit, files=tuple(f"archive/{n}.txt" for n in range(5000)))
        with store.transaction():
            store.git.put_commits([(commit, passage)])
        for file in ("0.txt", "archive/4999.txt", "archive/"):
            expect(store.records.filter(BANK, RecordFilter(file=file)), [commit], f"sift by {file}")
        expect(store.records.filter(BANK, RecordFilter(file="5000.txt")), [], "sift")


def check_work_is_found_by_a_very_long_path_and_keyword(make_store: MakeStore) -> None:
    # Digits of hashes: a server compresses texts that repeat themselves before it indexes them.
    digits = "".join(hashlib.sha256(str(n).encode()).hexdigest() for n in range(80))
    path = "/".join(digits[n : n + 50] for n in range(0, len(digits), 50))
    with prepared(make_store) as store:
        work = _work("x1", 1, files_modified=(f"/{path}/crane.py",), keywords=(f"k{digits}",))
        with store.transaction():
            store.derived.put(BANK, SESSION, [work])
        for file in ("crane.py", f"{path[-20:]}/crane.py", f"/{path}/crane.py"):
            expect(_sift(store, RecordFilter(file=file)), ["x1"], "sift by a long path")
        expect(_sift(store, RecordFilter(concept=f"k{digits}")), ["x1"], "sift by a long keyword")
        expect(_sift(store, RecordFilter(file="winch.py")), [], "sift by another file")


def check_work_is_found_by_its_concepts(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.derived.put(
                BANK,
                SESSION,
                [
                    _work("x1", 1, keywords=("cache", "height_m")),
                    _work("x2", 2, keywords=("caching", "Übermut")),
                    _work("x3", 3, keywords=("rate-limit",)),
                    _work("x4", 4, summary="the cache is only spoken of"),
                ],
            )
        for concept, wanted in {
            "cached": ["x2", "x1"],
            "CACHES": ["x2", "x1"],
            "übermut": ["x2"],
            "height": ["x1"],
            "height_m": ["x1"],
            "rate limits": ["x3"],
            "rate cache": [],
            "tide": [],
            "?!": [],
            "\ud83e": [],
        }.items():
            expect(_sift(store, RecordFilter(concept=concept)), wanted, f"sift by {concept!r}")


def check_work_is_found_by_type_and_time_and_filters_combine(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        fix, feature = ExchangeType.BUGFIX, ExchangeType.FEATURE
        with store.transaction():
            store.derived.put(
                BANK,
                SESSION,
                [
                    _work("x1", 1, type=fix, files_read=("a.py",), keywords=("tide",)),
                    _work("x2", 2, type=feature, files_read=("a.py",), keywords=("tide",)),
                    _work("x3", 3, type=fix, files_read=("b.py",), keywords=("tide",)),
                    replace(_work("x4", 4, type=fix, files_read=("a.py",)), started=""),
                ],
            )
            store.git.put_commits([a_commit("c1", "raise the anchor")])
        for filter, wanted in (
            (RecordFilter(type="bugfix"), ["x3", "x1", "x4"]),
            (RecordFilter(type="refactor"), []),
            (RecordFilter(type="unheard of"), []),
            (RecordFilter(file="a.py"), ["c1", "x2", "x1", "x4"]),
            (RecordFilter(file="a.py", type="bugfix"), ["x1", "x4"]),
            (RecordFilter(file="a.py", type="bugfix", concept="tides"), ["x1"]),
            (RecordFilter(file="a.py", concept="unheard"), []),
            (RecordFilter(since=_hour(2)), ["x3", "x2"]),
            (RecordFilter(until=_hour(2)), ["x1"]),
            (RecordFilter(since=_hour(2), until=_hour(3)), ["x2"]),
            (RecordFilter(file="a.py", since=_hour(2)), ["c1", "x2"]),
        ):
            expect(_sift(store, filter), wanted, f"sift by {filter}")
        expect(
            _names(store.records.filter(BANK, RecordFilter(file="a.py"), 2)),
            ["c1", "x2"],
            "sift(limit=2)",
        )
        expect(
            _names(store.records.filter(BANK, RecordFilter(concept="tide"), 1)),
            ["x3"],
            "sift(limit=1)",
        )


def check_work_of_all_banks_is_found_together(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        for bank, hours in ((BANK, (1, 3)), (OTHER, (2, 3))):
            work = [_work(f"x{hour}", hour, keywords=(bank[:4],)) for hour in hours]
            with store.transaction():
                store.derived.put(bank, SESSION, [replace(x, bank=bank) for x in work])
        found = [(x.id, x.bank) for x in store.records.filter(None, RecordFilter(type="bugfix"), 3)]
        expect(found, [("x3", BANK), ("x3", OTHER), ("x2", OTHER)], "sift")
        both = RecordFilter(type="bugfix", concept=OTHER[:4])
        expect([x.bank for x in store.records.filter(None, both)], [OTHER, OTHER], "sift")
        expect(store.records.filter("", RecordFilter(type="bugfix")), [], "sift of no bank")


def check_work_derived_again_is_found_again(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        early = _work("x1", 1, files_read=("a.py",), keywords=("tide",))
        late = _work("x2", 2, files_read=("a.py", "gone.py"), keywords=("mast",))
        by_file, by_word = RecordFilter(file="a.py"), RecordFilter(concept="mast")
        with store.transaction():
            store.turns.put([a_turn(1), a_turn(2)])
            store.derived.put(BANK, SESSION, [early, late])
        expect((_sift(store, by_file), _sift(store, by_word)), (["x2", "x1"], ["x2"]), "sift")
        with store.transaction():
            store.derived.put(BANK, SESSION, [replace(late, keywords=("keel",))], first=2)
        expect(_sift(store, by_file), ["x2", "x1"], "sift")
        expect(_sift(store, by_word), [], "sift by a word that is gone")
        with store.transaction():
            store.derived.put(BANK, SESSION, [], first=2)
        expect(_sift(store, by_file), ["x1"], "sift")
        expect(_sift(store, RecordFilter(file="gone.py")), [], "sift by a file that is gone")
        with store.transaction():
            store.git.put_commits([a_commit("c1", "raise the anchor")])
            store.derived.drop_all()
        expect(_sift(store, by_file), ["c1"], "sift after everything derived was dropped")
        with store.transaction():
            store.derived.put(BANK, SESSION, [early])
        expect(_sift(store, by_file), ["c1", "x1"], "sift after it was made again")
        with store.transaction():
            store.derived.put(BANK, SESSION, [replace(early, files_read=()), early, early])
        expect(_sift(store, by_file), ["c1", "x1"], "sift of what is given twice")
