"""Banks and their aliases, sources, and the ledger of input lines."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.bank import Bank, Disposition
from holdfast.model.curation import Action, Curation
from holdfast.model.ledgers.lines import SourceState
from holdfast.model.records import Origin
from holdfast.store.across_tables.lookup import Counts
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_change,
    a_digest,
    a_failed_line,
    a_passage,
    a_session,
    a_turn,
    an_exchange,
    expect,
    prepared,
    stale_names,
)


def check_a_bank_is_returned_as_it_was_created(make_store: MakeStore) -> None:
    bank = Bank("b9", "Ünï 🦜", NOON, "Ships.", Disposition(5, 1, 2), ("name:a", "name:b"))
    with prepared(make_store) as store:
        with store.transaction():
            store.banks.add(bank)
        expect(store.banks.get("b9"), bank, "bank")
        expect(store.banks.get("unheard of"), None, "bank")


def check_banks_are_listed_by_name(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.banks.add(Bank("0", "zebra", NOON))
            store.banks.add(Bank("z", "anchor", NOON))
        names = [bank.name for bank in store.banks.all()]
        expect(names, ["anchor", "harbour", "lighthouse", "zebra"], "banks")


def check_adding_a_known_bank_changes_nothing(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.banks.add(Bank(BANK, "renamed", "2030-01-01T00:00:00Z", "new"))
        expect(store.banks.get(BANK), Bank(BANK, "harbour", NOON), "bank")


def check_an_alias_leads_to_its_bank(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.banks.add_alias(BANK, "folder:/src/harbour")
            store.banks.add_alias(BANK, "folder:/src/harbour")
        expect(store.banks.id_by_alias("folder:/src/harbour"), BANK, "bank_of")
        expect(store.banks.id_by_alias("folder:/src"), None, "bank_of")
        bank = store.banks.get(BANK)
        expect(bank and bank.aliases, ("folder:/src/harbour",), "aliases")


def check_an_alias_in_use_is_not_reassigned(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.banks.add_alias(BANK, "remote:x")
            store.banks.add_alias(OTHER, "remote:x")
            store.banks.add(Bank("b9", "third", NOON, aliases=("remote:x",)))
        expect(store.banks.id_by_alias("remote:x"), BANK, "bank_of")
        expect([bank.aliases for bank in store.banks.all()], [("remote:x",), (), ()], "aliases")


def check_a_host_id_leads_to_the_bank_of_its_session(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        expect(store.banks.id_by_host_session(a_session(OTHER).host), OTHER, "bank_of_host")
        expect(store.banks.id_by_host_session("unheard of"), None, "bank_of_host")


def check_a_source_is_added_once(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            first = store.sources.add("/logs/b.jsonl", "claude-code", BANK)
            again = store.sources.add("/logs/b.jsonl", "another", OTHER)
            other = store.sources.add("/logs/a.jsonl", "claude-code", OTHER)
        expect(again, first, "add_source")
        expect((first.offset, first.lines, first.state), (0, 0, SourceState.LIVE), "add_source")
        expect(store.sources.get(first.id), first, "source")
        expect(store.sources.at_path("/logs/a.jsonl"), other, "source_at")
        expect(store.sources.get(first.id + other.id + 1), None, "source")
        expect(store.sources.at_path("/logs"), None, "source_at")
        expect(store.sources.all(), [other, first], "sources")


def check_a_moved_source_keeps_its_cursor(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            id = store.sources.add("/old.jsonl", "claude-code", BANK).id
            store.sources.advance(a_change(id, 0, 500, 5))
            store.sources.set_state(id, SourceState.GONE, "it is gone")
            store.sources.move(id, "/new.jsonl")
        expect(store.sources.at_path("/old.jsonl"), None, "source_at")
        moved = store.sources.at_path("/new.jsonl")
        assert moved is not None, "a moved source is found at its new path"
        expect((moved.id, moved.offset, moved.lines), (id, 500, 5), "source_at")
        expect((moved.state, moved.problem), (SourceState.LIVE, ""), "source_at")


def check_a_marked_source_is_a_problem_until_it_is_read_again(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            id = store.sources.add("/a.jsonl", "claude-code", BANK).id
            store.sources.set_state(id, SourceState.UNREADABLE, "no permission")
        source = store.sources.get(id)
        expect(source and source.state, SourceState.UNREADABLE, "source")
        expect(source and source.problem, "no permission", "source")
        problems = store.sources.balance().problems
        expect(len(problems), 1, "balance().problems")
        assert "/a.jsonl" in problems[0], "a problem names its file"
        assert "no permission" in problems[0], "a problem says what it is"
        with store.transaction():
            store.sources.set_state(id, SourceState.LIVE, "")
        expect(store.sources.balance().problems, (), "balance().problems")


def check_reading_a_source_clears_its_problem(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            id = store.sources.add("/a.jsonl", "claude-code", BANK).id
            store.sources.set_state(id, SourceState.GONE, "it is gone")
            store.sources.advance(a_change(id, 0, 100, 1))
        expect(store.sources.balance().problems, (), "balance().problems")


def check_advance_moves_the_cursor_and_adds_to_the_counts(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            id = store.sources.add("/a.jsonl", "claude-code", BANK).id
            expect(store.sources.advance(a_change(id, 0, 300, 3)), True, "advance")
            expect(store.sources.advance(a_change(id, 300, 500, 2)), True, "advance")
        source = store.sources.get(id)
        assert source is not None, "a source stays known"
        expect((source.offset, source.lines, source.l1_bytes), (500, 5, 50), "source")
        expect((source.prefix, source.stamp), ("hash-500", "stamp-500"), "source")
        expect(source.read_at, NOON, "source")


def check_advance_counts_nothing_when_another_moved_the_cursor_first(
    make_store: MakeStore,
) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            id = store.sources.add("/a.jsonl", "claude-code", BANK).id
            store.sources.advance(a_change(id, 0, 300, 3))
        before = store.sources.get(id), store.sources.balance()
        late = a_change(id, 0, 400, 4)._replace(
            skipped={"blank": 1}, failed=(a_failed_line(id, 1),), redacted={"key": 1}
        )
        with store.transaction():
            expect(store.sources.advance(late), False, "advance")
        expect((store.sources.get(id), store.sources.balance()), before, "a late advance")
        expect(store.sources.failures(), [], "failures")


def check_advance_of_an_unknown_source_is_refused(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            expect(store.sources.advance(a_change(404, 0, 300, 3)), False, "advance")
        expect(store.sources.balance().accounted, 0, "balance().accounted")


def check_the_balance_adds_up(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for path, bank in (("/a", BANK), ("/b", OTHER)):
                id = store.sources.add(path, "claude-code", bank).id
                first = a_change(id, 0, 700)._replace(
                    lines=7,
                    captured=3,
                    skipped={"blank": 2, "thinking": 1},
                    failed=(a_failed_line(id, 4),),
                )
                second = a_change(id, 700, 900)._replace(lines=2, skipped={"blank": 2})
                store.sources.advance(first)
                store.sources.advance(second)
        one, all = store.sources.balance(BANK), store.sources.balance()
        expect((one.files, one.lines, one.accounted), (1, 9, 9), "balance(bank)")
        expect((one.captured, one.failed), (3, 1), "balance(bank)")
        expect(one.skipped, {"blank": 4, "thinking": 1}, "balance(bank).skipped")
        expect((all.files, all.lines, all.accounted), (2, 18, 18), "balance()")
        expect(all.pending, 0, "balance().pending")


def check_the_counts_of_an_empty_ledger_are_zero(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        balance = store.sources.balance()
        expect((balance.files, balance.lines, balance.accounted), (0, 0, 0), "balance")
        assert not balance.skipped, "nothing was skipped"
        assert not balance.redacted, "nothing was redacted"
        expect(store.records.counts(), Counts(sessions=2), "counts")


def check_failed_lines_can_be_listed(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            id = store.sources.add("/a.jsonl", "claude-code", BANK).id
            lines = [a_failed_line(id, line) for line in (2, 5, 7)]
            store.sources.advance(a_change(id, 0, 700)._replace(lines=3, failed=lines))
        expect(store.sources.failures(), lines, "failures")
        expect(store.sources.failures(limit=2), lines[:2], "failures(limit=2)")


def check_sources_that_an_older_parser_failed_on_are_listed(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            old = store.sources.add("/old", "claude-code", BANK).id
            new = store.sources.add("/new", "claude-code", BANK).id
            store.sources.advance(a_change(old, 0, 9)._replace(failed=(a_failed_line(old, 1, 1),)))
            store.sources.advance(a_change(new, 0, 9)._replace(failed=(a_failed_line(new, 1, 2),)))
        expect(store.sources.failed_before(1), set[int](), "sources_failed_before(1)")
        expect(store.sources.failed_before(2), {old}, "sources_failed_before(2)")
        expect(store.sources.failed_before(3), {old, new}, "sources_failed_before(3)")


def check_redactions_are_counted_by_kind(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            id = store.sources.add("/a.jsonl", "claude-code", BANK).id
            store.sources.advance(a_change(id, 0, 1)._replace(redacted={"aws-key": 2, "jwt": 1}))
            store.sources.advance(a_change(id, 1, 2)._replace(redacted={"aws-key": 3}))
        expect(store.sources.balance().redacted, {"aws-key": 5, "jwt": 1}, "balance().redacted")


def check_a_restarted_source_has_fresh_counts(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            id = store.sources.add("/a.jsonl", "claude-code", BANK).id
            kept = store.sources.add("/b.jsonl", "claude-code", BANK).id
            for source in (id, kept):
                change = a_change(source, 0, 300)._replace(
                    lines=2,
                    captured=1,
                    failed=(a_failed_line(source, 2),),
                    redacted={"jwt": 1},
                )
                store.sources.advance(change)
            store.sources.restart(id)
        source = store.sources.get(id)
        assert source is not None, "a restarted source stays known"
        expect((source.offset, source.lines, source.l1_bytes), (0, 0, 0), "source")
        expect((source.prefix, source.stamp, source.rewrites), ("", "", 1), "source")
        balance = store.sources.balance()
        expect((balance.files, balance.lines, balance.accounted), (2, 2, 2), "balance")
        expect(balance.redacted, {"jwt": 1}, "balance().redacted")
        expect([failure.source for failure in store.sources.failures()], [kept], "failures")
        with store.transaction():
            expect(store.sources.advance(a_change(id, 0, 200, 2)), True, "advance after a restart")


def check_the_turns_of_a_restarted_source_stay_without_a_line(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            id = store.sources.add("/a.jsonl", "claude-code", BANK).id
            mine = replace(a_turn(1), origin=Origin(id, 4, 400, "ref"))
            other = replace(a_turn(2), origin=Origin(id + 1, 4, 400, "ref"))
            store.turns.put([mine, other])
            store.sources.restart(id)
        lost = replace(mine, origin=Origin(id, 0, 0, "ref"))
        expect(store.turns.of_session(BANK, SESSION), [lost, other], "turns")
        with store.transaction():
            store.turns.put([mine])
        expect(store.turns.of_session(BANK, SESSION), [mine, other], "turns that were met again")


def check_everything_from_a_source_moves_to_its_new_bank(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            id = store.sources.add("/a.jsonl", "claude-code", BANK).id
            change = a_change(id, 0, 300)._replace(
                lines=3, captured=2, failed=(a_failed_line(id, 3),), redacted={"jwt": 1}
            )
            store.sources.advance(change)
            session = replace(a_session(BANK, "s2"), title="t", source=id)
            store.sessions.add(session)
            turn = replace(a_turn(1, "anchor", session="s2"), origin=Origin(id, 1))
            store.turns.put([turn])
            made = [a_passage("p1", "anchor", session="s2")]
            exchange, digest = an_exchange(session="s2"), a_digest(session="s2")
            store.derived.put(BANK, "s2", [exchange, digest, *made])
            store.derived.move_source(id, OTHER)
        expect(store.turns.of_session(OTHER, "s2"), [replace(turn, bank=OTHER)], "turns")
        expect(store.sessions.get(OTHER, "s2"), replace(session, bank=OTHER), "session")
        assert (OTHER, "s2") in stale_names(store), "a moved session is derived again"
        balance = store.sources.balance(OTHER)
        expect((balance.files, balance.accounted), (1, 3), "balance of the new bank")
        expect(balance.redacted, {"jwt": 1}, "redactions of the new bank")
        expect(store.records.counts(BANK), Counts(sessions=1), "counts of the old bank")
        expect(store.sources.balance(BANK).accounted, 0, "balance of the old bank")
        expect(store.passages.search(BANK, ["anchor"]), [], "search in the old bank")
        assert (BANK, "s2") not in stale_names(store), "nothing is left to derive"


def check_verdicts_move_with_their_source_once(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            id = store.sources.add("/a.jsonl", "claude-code", BANK).id
            store.sessions.add(replace(a_session(BANK, "s2"), source=id))
            store.turns.put([replace(a_turn(1, session="s2"), origin=Origin(id, 1))])
            store.derived.put(BANK, "s2", [an_exchange(session="s2"), a_digest(session="s2")])
            for name in ("exchange/x1", "digest/d1", "digest/other"):
                entry = Curation(
                    0, BANK, NOON, Action.JUDGE, f"holdfast://{name}", "useful: why\nwords", "ada"
                )
                store.curation.append(entry)
            wanted = store.curation.judgements(BANK)
            del wanted["holdfast://digest/other"]
            store.derived.move_source(id, OTHER)
            expect(store.curation.judgements(OTHER), wanted, "verdicts in the new bank")
            store.derived.put(OTHER, "s2", [an_exchange(bank=OTHER, session="s2")])
            store.derived.move_source(id, BANK)
        expect(len(store.curation.log(BANK)), 3, "verdicts in the old bank, where they stood")


def check_a_session_of_two_files_moves_with_one_of_them(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            ids = [store.sources.add(path, "claude-code", BANK).id for path in ("/a", "/b")]
            store.sessions.add(replace(a_session(BANK, "s2"), source=ids[0]))
            turns = [
                replace(a_turn(seq, session="s2"), origin=Origin(id, 1))
                for seq, id in enumerate(ids, 1)
            ]
            store.turns.put(turns)
        for id, turn in zip(reversed(ids), reversed(turns), strict=True):
            with store.transaction():
                store.derived.move_source(id, OTHER)
            assert replace(turn, bank=OTHER) in store.turns.of_session(OTHER, "s2"), (
                "a turn has moved"
            )
            expect(store.records.counts().turns, 2, "counts")


def check_a_bank_that_takes_over_a_source_loses_no_turn(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            id = store.sources.add("/a.jsonl", "claude-code", BANK).id
            store.sessions.add(replace(a_session(BANK, "s2"), source=id))
            store.sessions.add(a_session(OTHER, "s2"))
            moving = replace(a_turn(1, "moves", session="s2"), id="m", origin=Origin(id, 1))
            staying = replace(a_turn(1, "stays", OTHER, "s2"), origin=Origin(id + 1, 1))
            store.turns.put([moving, staying])
        with store.transaction():
            store.derived.move_source(id, OTHER)
        texts = {turn.text for turn in store.turns.of_session(OTHER, "s2")}
        expect(texts, {"moves", "stays"}, "turns")


def check_counts_include_how_much_was_read(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for path, bank in (("/a", BANK), ("/b", BANK), ("/c", OTHER)):
                id = store.sources.add(path, "claude-code", bank).id
                store.sources.advance(a_change(id, 0, 300, 3))
        expect(store.records.counts(BANK), Counts(sessions=1, raw_bytes=600, l1_bytes=60), "counts")
        expect(store.records.counts(), Counts(sessions=2, raw_bytes=900, l1_bytes=90), "counts")


def check_sources_are_found_by_the_names_of_their_files(make_store: MakeStore) -> None:
    paths = ("/a/s_1.jsonl", "/b/S_1.jsonl", "/b/as_1.jsonl", "/b/s_1.jsonl", "/b/sx1.jsonl")
    with prepared(make_store) as store:
        with store.transaction():
            for path in paths:
                store.sources.add(path, "claude-code", BANK)
        found = [source.path for source in store.sources.named("s_1.jsonl")]
        expect(found, ["/a/s_1.jsonl", "/b/s_1.jsonl"], "sources of the name")
        expect(store.sources.named("s_1.jsonl", OTHER), [], "sources of another bank")
        places = [
            (one.id, one.path, one.agent, one.state, one.stamp) for one in store.sources.all()
        ]
        expect(store.sources.places(), places, "what tells whether they changed")
        with store.transaction():
            store.sources.set_state(places[1][0], SourceState.GONE.value, "")
            store.sources.set_state(places[2][0], SourceState.UNREADABLE.value, "")
        left = [one.path for one in store.sources.places(with_gone=False)]
        expect(left, sorted({*paths} - {places[1][1]}), "those that are not gone")
        expect(store.sources.places(OTHER, with_gone=False), [], "those of another bank")


def check_the_folders_of_sessions_are_listed_once_without_those_of_subagents(
    make_store: MakeStore,
) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for id, cwd, parent, ended in (
                ("s2", "/a", "", "2026-03-01"),
                ("s3", "/b", "", "2026-03-03"),
                ("s4", "/a", "", "2026-03-02"),
                ("s5", "/c", "s4", "2026-03-04"),
            ):
                session = replace(a_session(id=id), cwd=cwd, parent=parent, ended=ended)
                store.sessions.add(session)
        expect(store.banks.session_folders(BANK), ["/b", "/a"], "the folders")
        expect(store.banks.session_folders(OTHER), [], "those of another bank")
