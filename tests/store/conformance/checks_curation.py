"""Decisions, hidden records, remembered texts and erasure."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.curation import Action, CurationState, Judgement, Verdict
from holdfast.model.knowledge import Memory, Network, Validity
from holdfast.model.trust import Status, Trust
from holdfast.store.across_tables.derived import HiddenTurn, SupersededText
from holdfast.store.across_tables.erasure import Erasure, ScrubMatch
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_commit,
    a_decision,
    a_passage,
    a_session,
    a_tool_turn,
    a_turn,
    expect,
    prepared,
)


def a_memory(id: str = "m1", text: str = "tea is at four", bank: str = BANK) -> Memory:
    """What a person asked to remember."""
    return Memory(
        bank, id, Network.WORLD, text, Trust.USER, when=NOON, who="ada", status=Status.VERIFIED,
        validity=Validity(since=NOON, learned=NOON),
    )  # fmt: skip


def check_a_hidden_turn_is_in_no_result_but_still_stored(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put([a_turn(1), a_turn(2), a_turn(3)])
            store.derived.put(BANK, SESSION, [HiddenTurn("s1-turn-2")])
        shown = [a_turn(1), a_turn(3)]
        expect(store.turns.of_session(BANK, SESSION), shown, "turns")
        expect(list(store.turns.stream(BANK, SESSION)), shown, "turns_from")
        expect(store.turns.before_line(BANK, 1, 2), a_turn(1), "turn_before")
        expect(store.records.find(BANK, "", "s1-turn-2"), [], "find")
        expect(store.records.counts(BANK).turns, 2, "counts")
        expect(store.turns.get_uncurated(BANK, "s1-turn-2"), a_turn(2), "turn")
        expect([t.seq for t in store.turns.stream_uncurated(BANK, SESSION)], [1, 2, 3], "all_turns")
        away = CurationState(BANK, "turn", "s1-turn-2", SESSION)
        expect(store.curation.find_hidden(None, "turn", "s1-turn-2"), [away], "put_away")
        with store.transaction():
            store.derived.put(BANK, SESSION, [], first=3)
        expect(store.turns.of_session(BANK, SESSION), shown, "turns after a change further on")
        with store.transaction():
            store.derived.put(BANK, SESSION, [])
        expect(len(store.turns.of_session(BANK, SESSION)), 3, "turns derived again")


def check_a_hidden_session_hides_its_turns_and_subagents(make_store: MakeStore) -> None:
    gone = CurationState(BANK, "session", SESSION, SESSION, forgotten=True)
    with prepared(make_store) as store:
        with store.transaction():
            store.sessions.add(replace(a_session(id="child"), parent=SESSION))
            store.turns.put([a_turn(1), a_turn(1, bank=OTHER)])
            store.curation.put_state(gone)
        expect(store.sessions.get(BANK, SESSION), None, "session")
        expect(store.sessions.get(BANK, "child"), None, "session of a child")
        expect(store.turns.of_session(BANK, SESSION), [], "turns")
        expect(store.sessions.subagent_ids_uncurated(BANK, SESSION), ["child"], "children")
        expect(len(store.turns.of_session(OTHER, SESSION)), 1, "turns of another bank")
        with store.transaction():
            store.curation.put_state(gone._replace(forgotten=False))
        expect(len(store.sessions.latest(BANK)), 2, "sessions")


def check_a_corrected_text_is_returned(make_store: MakeStore) -> None:
    said = CurationState(BANK, "turn", "s1-turn-1", SESSION, text="goodbye", time=NOON, who="ada")
    done = said._replace(id="s1-turn-2", text="it worked")
    commit, passage = a_commit("c1", "raise the anchor")
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put([a_turn(1), a_tool_turn(2, "call")])
            store.git.put_commits([(commit, passage)])
            for curated in (
                said,
                done,
                CurationState(BANK, "commit", "c1", text="lower it\n\nslowly"),
            ):
                store.curation.put_state(curated)
            store.derived.put(BANK, SESSION, [SupersededText("turn", "s1-turn-1", "hello")])
        first, second = store.turns.of_session(BANK, SESSION)
        expect((first.text, first.trust), ("goodbye", Trust.USER), "turns")
        expect(second.tool and second.tool.result, "it worked", "turns")
        expect(list(store.turns.stream(BANK, SESSION)), [first, second], "turns_from")
        expect(store.records.find(BANK, "turn", "s1-turn-1"), [first], "find")
        expect(store.turns.get_uncurated(BANK, "s1-turn-1"), a_turn(1), "turn")
        expect(
            store.curation.state(BANK, "turn", "s1-turn-1"), said._replace(was="hello"), "curated"
        )
        told = replace(commit, subject="lower it", body="slowly")
        expect(store.records.find(BANK, "commit", "c1"), [told], "find")
        expect(store.git.commit_uncurated(BANK, "c1"), commit, "commit")
        expect(
            [c.id for c in store.curation.states_in_session(BANK, SESSION)],
            [said.id, done.id],
            "curated_in",
        )


def check_a_memory_of_an_agent_stays_marked(make_store: MakeStore) -> None:
    ours = replace(a_memory(), trust=Trust.ASSISTANT, status=Status.OBSERVED, who="agent")
    with prepared(make_store) as store:
        with store.transaction():
            store.memories.put_remembered(ours)
        expect(store.memories.remembered_uncurated(BANK), [ours], "memories")
        expect(store.memories.remembered(BANK), [ours], "remembered")
        expect(store.records.find(BANK, "memory", "m1"), [ours], "find")


def check_a_memory_is_stored_found_and_hidden(make_store: MakeStore) -> None:
    memory, passage = a_memory(), a_passage("m1", "tea is at four", kind="memory", session="")
    with prepared(make_store) as store:
        with store.transaction():
            store.memories.put_remembered(memory)
            store.memories.put_remembered(a_memory(text="another text"))
            store.passages.replace(memory, passage)
        expect(store.memories.remembered_uncurated(BANK), [memory], "memories")
        expect(store.records.find(BANK, "memory", "m"), [memory], "find")
        expect(store.records.counts(BANK).memories, 1, "counts")
        expect([m.passage for m in store.passages.search(BANK, ["tea"])], [passage], "search")
        with store.transaction():
            store.derived.drop_all()
            store.curation.put_state(CurationState(BANK, "memory", "m1", forgotten=True))
            store.passages.replace(memory, None)
        expect(store.records.find(BANK, "memory", "m1"), [], "find")
        expect(store.passages.search(BANK, ["tea"]), [], "search")
        expect(store.memories.remembered_uncurated(BANK), [memory], "memories")


def check_an_erased_record_is_gone_and_known_by_its_mark(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put([a_turn(1), a_turn(2), a_turn(1, bank=OTHER)])
            store.memories.put_remembered(a_memory())
            about = "holdfast://turn/s1-turn-1"
            store.curation.append(a_decision(about))
            store.curation.append(
                replace(a_decision("holdfast://memory/m1"), action=Action.REMEMBER)
            )
            store.erasure.erase(
                Erasure(BANK, (), ("s1-turn-1",), (), ("m1",), (about,), ("mark-1", "mark-2"))
            )
        store.erasure.overwrite_deleted()
        expect(list(store.turns.stream_uncurated(BANK, SESSION)), [a_turn(2)], "all_turns")
        expect(len(store.turns.of_session(OTHER, SESSION)), 1, "turns of another bank")
        expect(store.memories.remembered_uncurated(BANK), [], "memories")
        first, second = store.curation.log(BANK)
        expect((first.target, first.text), (about, ""), "curations")
        assert "m1" not in second.target, "the name of an erased memory is made of its words"
        expect(store.curation.erased_marks(BANK, ("mark-0", "mark-1")), {"mark-1"}, "erased")
        expect(
            store.curation.erased_marks(OTHER, ("mark-1",)), set[str](), "erased in another bank"
        )


def check_a_scrub_removes_text_from_every_row(make_store: MakeStore) -> None:
    def clean(text: str) -> str:
        return text.replace("swordfish", "X")

    commit, passage = a_commit("c1", "use swordfish")
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put([a_turn(1, "say swordfish"), a_turn(2)])
            store.git.put_commits([(replace(commit, files=('a "swordfish".py',)), passage)])
            store.memories.put_remembered(a_memory(text="swordfish!"))
            store.curation.append(replace(a_decision("turn/1"), text="not swordfish"))
        touched = store.erasure.rows_to_scrub(clean)
        expect(ScrubMatch("turn", BANK, "s1-turn-1", SESSION) in touched, True, "holding")
        tables = sorted(one.table for one in touched)
        expect(tables, ["commit", "curation", "remembered_memory", "turn"], "holding")
        with store.transaction():
            store.erasure.block_marks(BANK, ["mark"], ["s1-turn-1"])
            store.erasure.scrub(clean)
        expect(store.erasure.rows_to_scrub(clean), [], "holding")
        expect(store.turns.of_session(BANK, SESSION), [a_turn(1, "say X"), a_turn(2)], "turns")
        found = store.git.commit_uncurated(BANK, "c1")
        expect(found and (found.subject, found.files), ("use X", ('a "X".py',)), "commit")
        expect([e.text for e in store.curation.log(BANK)], ["not X"], "curations")
        expect(store.curation.is_raw_line_withheld(BANK, "s1-turn-1"), True, "withheld")
        expect(store.curation.is_raw_line_withheld(BANK, "s1-turn-2"), False, "withheld")
        expect(store.curation.find_hidden(BANK, "", "s1-turn-1"), [], "put_away")


def check_verdicts_are_read_by_bank_and_as_far_as_they_are_in_effect(
    make_store: MakeStore,
) -> None:
    about = "holdfast://memory/m1"
    judged = replace(a_decision(about), action=Action.JUDGE, text="outdated: tea is gone")
    with prepared(make_store) as store:
        with store.transaction():
            store.curation.append(replace(judged, text="useful"))
            made = store.curation.append(judged)
        outdated = {about: Judgement(Verdict.OUTDATED, NOON, "ada", "tea is gone")}
        expect(store.curation.judgements(BANK), outdated, "judgements")
        expect(store.curation.judgements(OTHER), {}, "judgements of another bank")
        with store.transaction():
            store.curation.append(replace(a_decision(str(made.seq)), action=Action.UNDO))
        useful = {about: Judgement(Verdict.USEFUL, NOON, "ada")}
        expect(store.curation.judgements(BANK), useful, "judgements after an undo")
        with store.transaction():
            store.curation.append(a_decision(about))
        expect(store.curation.judgements(BANK), {}, "judgements after a correction")
