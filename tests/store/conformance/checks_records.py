"""Sessions, turns, commits, derived rows, and the log of decisions."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.records import Origin, Role, Session, ToolCall
from holdfast.model.trust import Trust
from holdfast.store.across_tables.lookup import Counts
from holdfast.store.records.sessions import SessionExtent
from tests.store.conformance.samples import (
    BANK,
    OTHER,
    SESSION,
    MakeStore,
    a_commit,
    a_decision,
    a_digest,
    a_passage,
    a_session,
    a_tool_turn,
    a_turn,
    an_exchange,
    expect,
    prepared,
    stale_names,
)

EARLY, LATE = "2026-03-01T08:00:00.000Z", "2026-03-01T20:00:00.000Z"


def check_a_session_is_returned_as_it_was_stored(make_store: MakeStore) -> None:
    session = Session(
        BANK, "s9", "h9", "claude-code", "h8", "reviewer", "Ünï 🦜", "/src", "main", "2.1",
        EARLY, LATE, 7,
    )  # fmt: skip
    with prepared(make_store) as store:
        with store.transaction():
            store.sessions.add(session)
        expect(store.sessions.get(BANK, "s9"), session, "session")
        expect(store.sessions.get(BANK, "unheard of"), None, "session")


def check_the_span_of_a_session_only_widens(make_store: MakeStore) -> None:
    spans = ((EARLY, LATE), ("", ""), ("2026-03-01T09:00:00.000Z", "2026-03-01T10:00:00.000Z"))
    with prepared(make_store) as store:
        for started, ended in (*reversed(spans), *spans):
            with store.transaction():
                store.sessions.add(replace(a_session(), started=started, ended=ended))
        session = store.sessions.get(BANK, SESSION)
        expect(session and (session.started, session.ended), (EARLY, LATE), "session")


def check_only_the_title_of_a_known_session_changes(make_store: MakeStore) -> None:
    known = Session(
        BANK, "s9", "h9", "claude-code", "h8", "reviewer", "old", "/src", "main", "2.1", EARLY, LATE
    )
    later = Session(
        BANK, "s9", "h0", "other", "h0", "other", "new", "/other", "other", "9", EARLY, LATE
    )
    with prepared(make_store) as store:
        with store.transaction():
            store.sessions.add(known)
            store.sessions.add(later)
            store.sessions.add(replace(later, title=""))
        expect(store.sessions.get(BANK, "s9"), replace(known, title="new"), "session")


def check_missing_fields_of_a_session_are_filled_in(make_store: MakeStore) -> None:
    full = replace(
        a_session(), subagent="reviewer", title="t", cwd="/src", branch="main", version="2.1"
    )
    with prepared(make_store) as store:
        with store.transaction():
            store.sessions.add(full)
        expect(store.sessions.get(BANK, SESSION), full, "session")


def check_the_parent_of_a_session_is_filled_in(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.sessions.add(replace(a_session(), parent="h8"))
        session = store.sessions.get(BANK, SESSION)
        expect(session and session.parent, "h8", "session")


def check_sessions_are_listed_latest_first(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for hour in (9, 11, 10):
                ended = f"2026-03-01T{hour:02}:00:00.000Z"
                store.sessions.add(replace(a_session(BANK, f"at-{hour}"), ended=ended))
        found = [session.id for session in store.sessions.latest(BANK)]
        expect(found, ["at-11", "at-10", "at-9", SESSION], "sessions")
        found = [session.id for session in store.sessions.latest(BANK, limit=2)]
        expect(found, ["at-11", "at-10"], "sessions(limit=2)")


def check_turns_are_returned_complete_and_in_order(make_store: MakeStore) -> None:
    tool = ToolCall("Edit", "a.py", "1-9", "replace", "done", False, 12, "call-2")
    turns = [
        a_turn(1, "Ünï 🦜 \x00 'quoted' \"twice\"\r\n\ttabbed"),
        replace(a_tool_turn(2, "call-2"), tool=tool, speaker="agent", branch="main"),
        replace(a_turn(3, ""), role=Role.ASSISTANT, trust=Trust.EXTERNAL, time=""),
    ]
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put([turns[2], turns[0], turns[1]])
        expect(store.turns.of_session(BANK, SESSION), turns, "turns")
        expect(store.turns.of_session(BANK, SESSION, 2), turns[1:], "turns(first=2)")
        expect(store.turns.of_session(BANK, SESSION, 1, 2), turns[:2], "turns(first=1, last=2)")
        expect(store.turns.of_session(BANK, SESSION, 4), [], "turns(first=4)")
        expect(store.turns.of_session(BANK, "unheard of"), [], "turns")
        counts = [("assistant", "", 1), ("tool", "Edit", 1), ("user", "", 1)]
        expect(store.turns.counts(BANK, SESSION), counts, "turns of each role and tool")
        expect(store.turns.counts(BANK, "unheard of"), [], "turns of each role and tool")
        expect(store.turns.speakers(BANK), ["agent"], "speakers")
        expect(store.turns.speakers("unheard of"), [], "speakers")


def check_a_summary_is_kept_beside_the_conversation(make_store: MakeStore) -> None:
    summary = replace(a_turn(2, "So far."), role=Role.SUMMARY, trust=Trust.ASSISTANT)
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put([a_turn(1), summary, a_turn(3)])
        said = [a_turn(1), a_turn(3)]
        expect(store.turns.of_session(BANK, SESSION), said, "turns")
        expect(list(store.turns.stream(BANK, SESSION)), said, "the turns one by one")
        expect(store.turns.summaries(BANK, SESSION), [summary], "summaries")
        expect(store.turns.summaries(BANK, "unheard of"), [], "summaries")
        uncurated = list(store.turns.stream_uncurated(BANK, SESSION))
        expect(uncurated, [a_turn(1), summary, a_turn(3)], "the turns as they were read")
        expect(store.records.counts(BANK), Counts(sessions=1, turns=2), "counts")
        expect(store.sessions.extent(BANK, SESSION), SessionExtent(2, 1, 3), "extent")
        expect(store.sessions.turn_window(BANK, SESSION, 2, 1), (3, 3), "turn_window")
        expect(store.sessions.turn_window_before(BANK, SESSION, 3, 1), 1, "turn_window_before")


def check_a_turn_stored_twice_exists_once(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        for _ in range(2):
            with store.transaction():
                store.turns.put([a_turn(1), a_turn(2)])
        expect(store.turns.of_session(BANK, SESSION), [a_turn(1), a_turn(2)], "turns")
        expect(store.records.counts(BANK), Counts(sessions=1, turns=2), "counts")


def check_only_result_and_trust_of_a_stored_turn_change(make_store: MakeStore) -> None:
    known = a_tool_turn(1, "call-1")
    assert known.tool is not None
    done = known.tool._replace(result="42 passed", ok=True, duration_ms=900)
    changed = replace(
        known,
        time=LATE,
        text="other",
        speaker="other",
        branch="other",
        trust=Trust.EXTERNAL,
        tool=done._replace(name="Other", target="other", action="other", call="call-9"),
    )
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put([known])
            store.turns.put([changed])
        expect(
            store.turns.of_session(BANK, SESSION),
            [replace(known, tool=done, trust=Trust.EXTERNAL)],
            "turns",
        )


def check_the_origin_of_a_stored_turn_changes_as_a_whole(make_store: MakeStore) -> None:
    moved = replace(a_turn(1), origin=Origin(2, 7, 777, "other-ref"))
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put([a_turn(1)])
            store.turns.put([moved])
        expect(store.turns.of_session(BANK, SESSION), [moved], "turns")


def check_the_next_position_is_after_the_last_turn(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        expect(store.turns.next_seq(BANK, SESSION), 1, "next_seq")
        with store.transaction():
            store.turns.put([a_turn(1), a_turn(5)])
            expect(store.turns.next_seq(BANK, SESSION), 6, "next_seq in a transaction")
        expect(store.turns.next_seq(BANK, SESSION), 6, "next_seq")
        expect(store.turns.next_seq(BANK, "unheard of"), 1, "next_seq")


def check_stored_turns_are_distinguished_from_new_ones(make_store: MakeStore) -> None:
    turns = [replace(a_turn(n), origin=Origin(n % 3, n)) for n in range(1, 1501)]
    ids = [turn.id for turn in turns]
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put(turns)
        wanted = {turn.id: turn.origin for turn in turns}
        expect(store.turns.known(BANK, [*ids, "new", "new"]), wanted, "known_turns")
        expect(store.turns.known(BANK, []), {}, "known_turns")


def check_a_tool_call_leads_to_its_turn(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.sessions.add(a_session(BANK, "s2"))
            store.turns.put([a_turn(1), a_tool_turn(2, "call-2"), a_tool_turn(3, "")])
        expect(store.turns.of_tool_call(BANK, SESSION, "call-2"), a_tool_turn(2, "call-2"), "call")
        expect(store.turns.of_tool_call(BANK, "s2", "call-2"), None, "call in another session")
        expect(store.turns.of_tool_call(BANK, SESSION, ""), None, "call of no name")
        expect(store.turns.has_tool_call(BANK, "call-2"), True, "knows_call")
        expect(store.turns.has_tool_call(BANK, "call-9"), False, "knows_call")
        expect(store.turns.has_tool_call(BANK, ""), False, "knows_call of no name")


def check_the_last_session_end_is_the_latest_of_all(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        expect(store.sessions.last_end(), "", "last_event of an empty store")
        with store.transaction():
            for seq, bank in ((2, BANK), (1, BANK), (4, OTHER)):
                store.sessions.add(replace(a_session(bank), ended=a_turn(seq).time))
        expect(store.sessions.last_end(BANK), a_turn(2).time, "last_event(bank)")
        expect(store.sessions.last_end(), a_turn(4).time, "last_event()")


def check_turns_make_their_session_stale_until_it_is_derived(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for bank, session, _ in store.sessions.stale():
                store.derived.put(bank, session, [])
        expect(store.sessions.stale(), [], "stale_sessions")
        with store.transaction():
            store.turns.put([a_turn(1), a_turn(2), a_turn(1, bank=OTHER)])
        expect(stale_names(store), [(BANK, SESSION), (OTHER, SESSION)], "stale_sessions")
        expect(len(store.sessions.stale(limit=1)), 1, "stale_sessions(limit=1)")
        with store.transaction():
            store.derived.put(BANK, SESSION, [])
        expect(stale_names(store), [(OTHER, SESSION)], "stale_sessions")


def check_a_session_is_stale_from_the_first_turn_that_changed(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.derived.put(BANK, SESSION, [])
            store.turns.put([a_turn(4), a_turn(3)])
            store.turns.put([a_turn(5)])
        expect(store.sessions.stale()[0], (BANK, SESSION, 3), "stale_sessions")
        with store.transaction():
            store.derived.put(BANK, SESSION, [])
            store.sessions.add(a_session())
        assert store.sessions.stale()[0].first > 5, "a title alone changes no turn"


def check_turns_can_be_read_one_by_one_while_the_store_is_written(make_store: MakeStore) -> None:
    turns = [a_turn(seq) for seq in range(1, 6)]
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put(reversed(turns))
        expect(list(store.turns.stream(BANK, SESSION, 3)), turns[2:], "turns_from")
        with store.transaction():
            made = (a_passage(turn.id, "anchor") for turn in store.turns.stream(BANK, SESSION))
            store.derived.put(BANK, SESSION, made)
        expect(store.passages.count(BANK, 100), 5, "size")


def check_deriving_from_a_position_keeps_what_is_before_it(make_store: MakeStore) -> None:
    early, late = an_exchange("x1"), replace(an_exchange("x2"), first_seq=3, last_seq=4)
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put([a_turn(1), a_turn(3)])
            texts = [a_passage(turn.id, "anchor") for turn in (a_turn(1), a_turn(3))]
            texts += [a_passage(id, "anchor", kind="exchange") for id in ("x1", "x2")]
            texts += [a_passage("d1", "anchor", kind="digest")]
            store.derived.put(BANK, SESSION, [early, late, a_digest(), *texts])
        with store.transaction():
            store.derived.put(BANK, SESSION, [], first=3)
        expect(store.sessions.exchanges(BANK, SESSION), [early], "exchanges")
        expect(store.sessions.digest(BANK, SESSION), None, "digest_of")
        left = {match.passage.id for match in store.passages.search(BANK, ["anchor"])}
        expect(left, {a_turn(1).id, "x1"}, "search")


def check_derived_rows_are_returned_as_they_were_stored(make_store: MakeStore) -> None:
    later = replace(an_exchange("x0"), first_seq=3, last_seq=4)
    with prepared(make_store) as store:
        with store.transaction():
            store.derived.put(BANK, SESSION, [later, an_exchange(), a_digest()])
        expect(store.sessions.exchanges(BANK, SESSION), [an_exchange(), later], "exchanges")
        expect(store.sessions.digest(BANK, SESSION), a_digest(), "digest_of")
        expect(store.sessions.digest(BANK, "unheard of"), None, "digest_of")
        expect(store.records.counts(BANK), Counts(sessions=1, exchanges=2, digests=1), "counts")


def check_deriving_again_replaces_derived_rows(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.sessions.add(a_session(BANK, "s2"))
            kept = a_passage("p2", "anchor", session="s2")
            store.derived.put(BANK, "s2", [an_exchange("x2", session="s2"), kept])
            first = [a_passage("p0", "anchor"), a_passage("p1", "anchor")]
            store.derived.put(BANK, SESSION, [an_exchange(), a_digest(), *first])
            second = a_passage("p1", "buoy")
            store.derived.put(BANK, SESSION, [an_exchange("x9"), second])
        expect([x.id for x in store.sessions.exchanges(BANK, SESSION)], ["x9"], "exchanges")
        expect(store.sessions.digest(BANK, SESSION), None, "digest_of")
        expect(
            [match.passage for match in store.passages.search(BANK, ["anchor"])], [kept], "search"
        )
        expect(
            [match.passage for match in store.passages.search(BANK, ["buoy"])], [second], "search"
        )
        expect([x.id for x in store.sessions.exchanges(BANK, "s2")], ["x2"], "exchanges")


def check_dropping_derived_rows_keeps_everything_else(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put([a_turn(1)])
            made = [
                a_passage("p1", "anchor"),
                a_passage("x1", "anchor", kind="exchange"),
                a_passage("d1", "anchor", kind="digest"),
            ]
            store.derived.put(BANK, SESSION, [an_exchange(), a_digest(), *made])
            store.derived.put(OTHER, SESSION, [])
            commit, passage = a_commit("c1", "drop the anchor")
            store.git.put_commits([(commit, passage)])
            decision = store.curation.append(a_decision("holdfast://exchange/x1"))
        with store.transaction():
            store.derived.drop_all()
        expect(store.sessions.exchanges(BANK, SESSION), [], "exchanges")
        expect(store.sessions.digest(BANK, SESSION), None, "digest_of")
        expect(
            [match.passage for match in store.passages.search(None, ["anchor"])],
            [passage],
            "search",
        )
        expect(store.passages.count(None, 100), 1, "size")
        expect(stale_names(store), [(BANK, SESSION), (OTHER, SESSION)], "stale_sessions")
        expect(store.turns.of_session(BANK, SESSION), [a_turn(1)], "turns")
        expect(store.records.find(BANK, "commit", "c1"), [commit], "find")
        expect(store.curation.log(BANK), [decision], "curations")


def check_a_commit_stored_twice_exists_once(make_store: MakeStore) -> None:
    first, second = a_commit("c1", "raise the anchor"), a_commit("c2", "paint the buoy")
    with prepared(make_store) as store:
        with store.transaction():
            expect(store.git.put_commits([first, first]), 1, "put_commits")
            expect(store.git.put_commits([first, second]), 1, "put_commits")
            expect(store.git.put_commits([]), 0, "put_commits")
        expect(store.records.counts(BANK), Counts(sessions=1, commits=2), "counts")
        expect(store.records.find(BANK, "commit", "c1"), [first[0]], "find")
        expect(
            [match.passage for match in store.passages.search(BANK, ["anchor"])],
            [first[1]],
            "search",
        )


def check_decisions_are_numbered_and_kept_in_order(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            entries = [
                store.curation.append(a_decision("turn/1", bank)) for bank in (BANK, OTHER, BANK)
            ]
        numbers = [entry.seq for entry in entries]
        assert numbers == sorted(set(numbers)), f"numbers rise: {numbers}"
        assert numbers[0] > 0, "numbers begin above zero"
        expect(entries[0], replace(a_decision("turn/1"), seq=numbers[0]), "curate")
        expect(store.curation.log(BANK), [entries[0], entries[2]], "curations")
        with store.transaction():
            later = store.curation.append(entries[0])
        assert later.seq > numbers[-1], "a number that was given is not taken over"
        expect(store.curation.log(BANK), [entries[0], entries[2], later], "curations")
