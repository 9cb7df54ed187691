"""Isolation of banks, transactions, and durability."""

from __future__ import annotations

from contextlib import closing

from holdfast.errors import StoreError
from holdfast.model.bank import Bank
from holdfast.model.ledgers.lines import SourceState
from holdfast.model.query import RecordFilter, TimelinePosition
from holdfast.store.across_tables.lookup import Counts
from holdfast.store.protocol import Store
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_change,
    a_commit,
    a_decision,
    a_digest,
    a_failed_line,
    a_passage,
    a_session,
    a_tool_turn,
    a_turn,
    an_exchange,
    expect,
    prepared,
)

EMPTY = "3333cccc3333cccc"
FILTERS = (
    RecordFilter(file="table.py"),
    RecordFilter(file="a.py"),
    RecordFilter(concept="tide"),
    RecordFilter(type="bugfix"),
    RecordFilter(since="2026"),
)


class _Stop(Exception):
    """Raised to end a transaction early."""


def _fill(store: Store, bank: str) -> None:
    """One of everything, under ids that are the same in every bank."""
    source = store.sources.add(f"/{bank}.jsonl", "claude-code", bank).id
    change = a_change(source, 0, 300)._replace(
        lines=3,
        captured=1,
        l1_bytes=10,
        skipped={"blank": 1},
        failed=(a_failed_line(source, 3),),
        redacted={"jwt": 1},
    )
    store.sources.advance(change)
    store.sources.set_state(source, SourceState.GONE, f"gone from {bank}")
    store.turns.put([a_turn(1, "anchor", bank), a_tool_turn(2, f"call-{bank}", bank)])
    passages = [
        a_passage("p1", "anchor", bank),
        a_passage("x1", "anchor", bank, "exchange"),
        a_passage("d1", "anchor", bank, "digest"),
    ]
    store.derived.put(bank, SESSION, [an_exchange(bank=bank), a_digest(bank=bank), *passages])
    store.git.put_commits([a_commit("c1", "anchor", bank)])
    store.curation.append(a_decision("turn/p1", bank))


def _seen(store: Store, bank: str) -> dict[str, object]:
    """Everything that the store tells of a bank."""
    ids = (SESSION, "x1", "d1", "c1", a_turn(1).id)
    return {
        "sources": store.sources.all(bank),
        "balance": store.sources.balance(bank),
        "failures": store.sources.failures(bank),
        "counts": store.records.counts(bank),
        "sessions": store.sessions.latest(bank),
        "session": store.sessions.get(bank, SESSION),
        "turns": store.turns.of_session(bank, SESSION),
        "exchanges": store.sessions.exchanges(bank, SESSION),
        "digest": store.sessions.digest(bank, SESSION),
        "found": [store.records.find(bank, "", id) for id in ids],
        "matches": {match.passage for match in store.passages.search(bank, ["anchor"])},
        "frequencies": store.passages.term_frequencies(bank, ["anchor"], 99),
        "size": store.passages.count(bank, 99),
        "recent": [store.passages.recent(bank, kind) for kind in ("turn", "exchange", "commit")],
        "around": store.passages.around(
            bank, TimelinePosition(NOON), ("turn", "exchange", "commit"), 9, 9
        ),
        "undated": store.passages.count_undated(bank, ("turn", "exchange", "commit"), 9),
        "sifted": [store.records.filter(bank, filter) for filter in FILTERS],
        "curations": store.curation.log(bank),
        "event": store.sessions.last_end(bank),
        "known": store.turns.known(bank, [a_turn(1).id]),
        "next": store.turns.next_seq(bank, SESSION),
        "stale": [stale for stale in store.sessions.stale() if stale[0] == bank],
    }


def check_no_method_returns_records_of_another_bank(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.banks.add(Bank(EMPTY, "empty", NOON))
            before = _seen(store, OTHER), _seen(store, EMPTY)
            _fill(store, BANK)
        expect((_seen(store, OTHER), _seen(store, EMPTY)), before, "another bank")
        expect(store.turns.of_tool_call(OTHER, SESSION, f"call-{BANK}"), None, "call")
        expect(store.turns.has_tool_call(OTHER, f"call-{BANK}"), False, "knows_call")
        with store.transaction():
            mine = _seen(store, BANK)
            _fill(store, OTHER)
        expect(_seen(store, BANK), mine, "the first bank")


def check_everything_returned_for_a_bank_belongs_to_it(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            _fill(store, BANK)
            _fill(store, OTHER)
        for bank in (BANK, OTHER):
            records = [
                record for id in ("x1", "d1", "c1") for record in store.records.find(bank, "", id)
            ]
            passages = [match.passage for match in store.passages.search(bank, ["anchor"])]
            expect({record.bank for record in (*records, *passages)}, {bank}, "a bank")
            expect((len(records), len(passages)), (3, 4), "a bank")
            expect([source.bank for source in store.sources.all(bank)], [bank], "sources")
            call = store.turns.of_tool_call(bank, SESSION, f"call-{bank}")
            expect(call and call.bank, bank, "call")


def check_no_bank_means_all_banks(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            _fill(store, BANK)
            _fill(store, OTHER)
        both = {BANK, OTHER}
        expect({source.bank for source in store.sources.all()}, both, "sources")
        expect({session.bank for session in store.sessions.latest(None)}, both, "sessions")
        expect({record.bank for record in store.records.find(None, "commit", "c1")}, both, "find")
        expect({m.passage.bank for m in store.passages.search(None, ["anchor"])}, both, "search")
        expect({passage.bank for passage in store.passages.recent(None, "turn")}, both, "recent")
        expect(len(store.sources.failures()), 2, "failures")
        expect(store.passages.term_frequencies(None, ["anchor"], 99), [8], "frequencies")
        expect(store.passages.count(None, 99), 8, "size")
        expect(store.records.counts(), Counts(2, 4, 2, 2, 2, 600, 20), "counts")


def check_banks_with_similar_ids_are_separate_in_search(make_store: MakeStore) -> None:
    ids = ["note", "notes", "NOTE", "no-te", "no te", "noté", "---", "", "日本", "a*", "note OR x"]
    with closing(make_store()) as store:
        with store.transaction():
            for id in ids:
                store.banks.add(Bank(id, f"bank {id}", NOON))
                store.sessions.add(a_session(id))
                store.derived.put(id, SESSION, [a_passage("p", "anchor", id)])
        found = {id: [m.passage.bank for m in store.passages.search(id, ["anchor"])] for id in ids}
        expect(found, {id: [id] for id in ids}, "search")
        expect(
            [store.passages.term_frequencies(id, ["anchor"], 99) for id in ids], [[1]] * len(ids)
        )


def check_an_exception_rolls_back_everything(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        before = store.banks.all(), store.sessions.stale(), _seen(store, BANK)
        try:
            with store.transaction():
                store.banks.add(Bank("b9", "new", NOON, aliases=("name:new",)))
                store.banks.add_alias(BANK, "name:other")
                _fill(store, BANK)
                store.derived.drop_all()
                raise _Stop
        except _Stop:
            pass
        after = (store.banks.all(), store.sessions.stale(), _seen(store, BANK))
        expect(after, before, "a rollback")
        with store.transaction():
            _fill(store, BANK)
        expect(store.records.counts(BANK).turns, 2, "counts after a rollback")


def check_a_refused_write_rolls_back_everything(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        try:
            with store.transaction():
                store.turns.put([a_turn(1)])
                store.turns.put([a_turn(2, session="unheard of")])
        except StoreError as error:
            assert error.message, "an error says what happened"
        else:
            raise AssertionError("a turn needs its session")
        expect(store.turns.of_session(BANK, SESSION), [], "turns")


def check_nested_transactions_are_one_transaction(make_store: MakeStore) -> None:
    with prepared(make_store) as store, closing(make_store()) as other:
        try:
            with store.transaction():
                with store.transaction():
                    store.turns.put([a_turn(1)])
                expect(other.turns.of_session(BANK, SESSION), [], "another handle, within")
                raise _Stop
        except _Stop:
            pass
        expect(store.turns.of_session(BANK, SESSION), [], "turns")
        with store.transaction(), store.transaction():
            store.turns.put([a_turn(1)])
        expect(other.turns.of_session(BANK, SESSION), [a_turn(1)], "another handle")


def check_a_second_store_sees_a_transaction_completely_or_not_at_all(make_store: MakeStore) -> None:
    with prepared(make_store) as store, closing(make_store()) as other:
        before = _seen(other, BANK)
        with store.transaction():
            _fill(store, BANK)
            inside = _seen(store, BANK)
            expect(_seen(other, BANK), before, "another handle before the commit")
        expect(_seen(other, BANK), inside, "another handle after the commit")
        with other.transaction():
            other.turns.put([a_turn(3, "written by another handle")])
        expect(store.turns.next_seq(BANK, SESSION), 4, "next_seq")


def check_lines_read_by_two_processes_are_counted_once(make_store: MakeStore) -> None:
    with prepared(make_store) as store, closing(make_store()) as other:
        with store.transaction():
            id = store.sources.add("/a.jsonl", "claude-code", BANK).id
        with store.transaction():
            expect(store.sources.advance(a_change(id, 0, 300, 3)), True, "advance")
        with other.transaction():
            expect(
                other.sources.advance(a_change(id, 0, 300, 3)), False, "advance by another handle"
            )
        expect(
            (store.sources.balance(), store.sources.balance().accounted),
            (other.sources.balance(), 3),
            "balance",
        )


def check_a_reopened_store_has_kept_everything(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.banks.add_alias(BANK, "name:x")
            _fill(store, BANK)
        before = store.banks.all(), _seen(store, BANK), _seen(store, OTHER)
    with closing(make_store()) as again:
        expect((again.banks.all(), _seen(again, BANK), _seen(again, OTHER)), before, "opened again")
        with again.transaction():
            number = again.curation.append(a_decision("turn/p1")).seq
        assert number > again.curation.log(BANK)[0].seq, "numbers go on where they stopped"
