"""Browsing of sessions: filters, pages, windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.model.records import Outcome
from holdfast.store.across_tables.derived import Derived, HiddenTurn
from holdfast.store.records.sessions import SessionExtent, SessionFilter
from tests.store.conformance.samples import (
    BANK,
    OTHER,
    SESSION,
    MakeStore,
    a_change,
    a_digest,
    a_session,
    a_turn,
    expect,
    prepared,
)

_EARLY, _LATE = "2026-02-01T08:00:00.000Z", "2026-04-01T20:00:00.000Z"


def check_sessions_are_listed_by_filter(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        early = replace(a_session(id="a"), branch="main", started=_EARLY, ended=_EARLY)
        late = replace(a_session(id="b"), agent="other", branch="dev", started=_LATE, ended=_LATE)
        child = replace(a_session(id="a:1"), host=early.host, parent="a", subagent="1")
        orphan = replace(a_session(id="z:1"), parent="z", started=_EARLY, ended="")
        with store.transaction():
            for session in (early, late, child, orphan):
                store.sessions.add(session)
            store.turns.put([a_turn(1, session="a"), a_turn(2, session="a")])
            digest = replace(a_digest(session="a"), outcome=Outcome.FAILED, request="Mend it")
            store.derived.put(BANK, "a", [digest])

        def ids(sieve: SessionFilter, limit: int = 9, offset: int = 0) -> list[str]:
            return [one.session.id for one in store.sessions.page(sieve, limit, offset)]

        known = [id for id in ids(SessionFilter()) if id != SESSION]
        expect(known, ["b", "a", "z:1"], "all of them, those of subagents left out")
        expect(ids(SessionFilter(branch="main")), ["a"], "those of a branch")
        expect(ids(SessionFilter(agent="other")), ["b"], "those of an agent")
        expect(ids(SessionFilter(outcome="failed")), ["a"], "those of an outcome")
        expect(ids(SessionFilter(since="2026-04-01")), ["b"], "those since a day")
        expect(ids(SessionFilter(until="2026-02-01")), ["a", "z:1"], "those up to a day")
        expect(ids(SessionFilter(bank=OTHER, branch="main")), [], "those of another bank")
        expect(ids(SessionFilter(until="2026-02-01"), 1, 1), ["z:1"], "the second page")
        one = store.sessions.page(SessionFilter(outcome="failed"), 1)[0]
        expect(one[1:], ("Mend it", "failed", digest.exchanges, 2, 1), "what is told of it")
        facets = store.sessions.facets(BANK)
        expect(set(facets.branches) >= {"dev", "main"}, True, "the branches")
        expect("other" in facets.agents, True, "the agents")
        expect([s.id for s in store.sessions.subagents(BANK, "a")], ["a:1"], "the subagents")
        expect([s.id for s in store.sessions.named("a:1")], ["a:1"], "a session by its id")
        expect([s.id for s in store.sessions.named(early.host)][:1], ["a"], "one by its host's id")
        expect(store.sessions.named("nobody"), [], "one that is not there")


def check_a_session_is_split_into_windows_of_visible_turns(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        turns = [a_turn(seq) for seq in range(1, 8)]
        hidden: Sequence[Derived] = [HiddenTurn(turns[2].id)]
        with store.transaction():
            store.sessions.add(a_session())
            store.turns.put(turns)
            store.derived.put(BANK, SESSION, hidden)
        expect(store.sessions.extent(BANK, SESSION), SessionExtent(6, 1, 7), "the extent")
        expect(
            store.sessions.extent(OTHER, SESSION),
            SessionExtent(0, 0, 0),
            "that of what is not there",
        )
        expect(
            store.sessions.turn_window(BANK, SESSION, 2, 3),
            (2, 5),
            "a window over what is not shown",
        )
        expect(store.sessions.turn_window(BANK, SESSION, 8, 3), None, "one behind the end")
        expect(store.sessions.turn_window_before(BANK, SESSION, 5, 2), 2, "the one before")
        expect(store.sessions.turn_window_before(BANK, SESSION, 1, 2), None, "one before the start")


def check_redactions_are_counted_by_file(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            one = store.sources.add("/a.jsonl", "claude-code", BANK)
            other = store.sources.add("/b.jsonl", "claude-code", BANK)
            store.sources.advance(a_change(one.id, 0, 10)._replace(redacted={"jwt": 2, "email": 3}))
        expect(store.sources.redaction_counts(one.id), {"email": 3, "jwt": 2}, "what was taken out")
        expect(store.sources.redaction_counts(other.id), dict[str, int](), "that of another")


def check_sessions_are_found_by_when_their_file_was_read(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        for number, id in enumerate(("early", "late")):
            source = store.sources.add(f"/transcripts/{id}.jsonl", "claude-code", BANK)
            store.sessions.add(replace(a_session(id=id), source=source.id, ended=_EARLY))
            change = a_change(source.id, 0, 9)._replace(read_at=(_EARLY, _LATE)[number])
            store.sources.advance(change)
        expect(store.sources.sessions_read_after(BANK, _EARLY), {"late"}, "those after a time")
        expect(store.sources.sessions_read_after(BANK, ""), set[str](), "those that went on since")
        expect(store.sources.sessions_read_after(OTHER, ""), set[str](), "those of another bank")
