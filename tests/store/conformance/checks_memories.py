"""Retained memories go with what they were made of, opinions keep their history, and settings of
a bank are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.model.bank import Disposition
from holdfast.model.curation import CurationState
from holdfast.model.graph import Node
from holdfast.model.knowledge import RECAP_KEY, Kind, Memory, Network, StatusChange
from holdfast.model.opinions import MemoryOccurrence, Opinion, OpinionRevision, Trend
from holdfast.model.query import Passage
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import uri
from holdfast.store.across_tables.erasure import Erasure
from holdfast.store.knowledge.facts import DerivedFacts
from holdfast.store.protocol import Store
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_session,
    an_exchange,
    expect,
    prepared,
)


def _occurrence(key: str, what: str = "The yawl is blue", seq: int = 1) -> MemoryOccurrence:
    return MemoryOccurrence(
        key, seq, NOON, Network.WORLD, what, Trust.USER, evidence=("holdfast://turn/t",),
        worth=0.25,
    )  # fmt: skip


def _memory(id: str, what: str, bank: str = BANK) -> Memory:
    return Memory(bank, id, Network.WORLD, what, Trust.USER, when=NOON)


def _passage(id: str, body: str, session: str = SESSION, bank: str = BANK) -> Passage:
    return Passage(bank, "memory", id, session, NOON, body, trust=Trust.USER, role="world")


def _opinion(id: str = "o1", bank: str = BANK, confidence: float = 0.7) -> Opinion:
    return Opinion(
        bank, id, "yawl is slow", "because", confidence, Trend.NEW, Status.OBSERVED, Trust.USER,
        NOON, NOON, NOON, 2, ("holdfast://turn/t",),
    )  # fmt: skip


def _show(store: Store, key: str, id: str, what: str) -> None:
    store.memories.put_retained(BANK, key, _memory(id, what), _passage(id, what))


def _nothing(what: str, *found: Sequence[object]) -> None:
    """None of these has anything in it."""
    expect([list(one) for one in found if one], [], what)


def _found(store: Store, word: str) -> list[str]:
    return [match.passage.id for match in store.passages.search(BANK, [word])]


def check_retained_memories_are_found_and_filtered_by_network(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.memories.put_occurrences(BANK, SESSION, [_occurrence("world:1")])
            expect(store.memories.changed_keys(BANK), ["world:1"], "what is to be shown")
            _show(store, "world:1", "m1", "The yawl is blue")
        expect(store.memories.changed_keys(BANK), [], "what is left to be shown")
        expect(store.memories.occurrences(BANK, SESSION), [_occurrence("world:1")], "sightings")
        expect(_found(store, "yawl"), ["m1"], "search")
        expect([m.what for m in store.memories.retained(BANK)], ["The yawl is blue"], "retained")
        expect(store.memories.retained(BANK, "opinion"), [], "of another network")
        expect([r.id for r in store.records.find(BANK, "memory", "m1")], ["m1"], "find")
        expect(
            (store.records.counts(BANK).retained, store.records.counts(BANK).memories),
            (1, 0),
            "counts",
        )
        expect(store.memories.retained(OTHER), [], "another bank")


def check_memories_are_listed_and_counted_by_kind(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for id, kind in (("m1", Kind.LESSON), ("m2", Kind.LESSON), ("m3", Kind.TODO)):
                one = replace(_memory(id, f"The yawl {id}"), kind=kind, worth=0.25)
                store.memories.put_retained(BANK, id, one, _passage(id, one.what))
            _show(store, "world:1", "m4", "The yawl is blue")
        found = store.memories.retained(BANK, kind="lesson")
        expect(sorted(one.id for one in found), ["m1", "m2"], "those of a kind")
        expect({one.kind for one in found}, {Kind.LESSON}, "their kind")
        expect({one.worth for one in found}, {0.25}, "what they are worth")
        expect(store.memories.counts_by_kind(BANK), {"lesson": 2, "todo": 1}, "how many of each")
        expect(store.memories.counts_by_kind(OTHER), {}, "those of another bank")


def check_recaps_are_listed_with_their_place_and_without_changed_ones(
    make_store: MakeStore,
) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            keys = [f"{RECAP_KEY}1", f"{RECAP_KEY}2", "world:1"]
            sightings = [_occurrence(key) for key in keys]
            store.memories.put_occurrences(BANK, SESSION, sightings)
            for key, id in zip(keys, ("m1", "m2", "m3"), strict=True):
                one = replace(_memory(id, f"The yawl {id}"), kind=Kind.DECISION)
                store.memories.put_retained(BANK, key, one, _passage(id, one.what))
            changed = StatusChange("memory", "m1", NOON, Status.SUPERSEDED, uri("memory", "m2"))
            store.facts.replace(BANK, DerivedFacts(status_changes=[changed]))
        (recap,) = store.memories.recaps(BANK)
        place = sightings[1].seq
        expect((recap.memory.id, recap.session, recap.seq), ("m2", SESSION, place), "what holds")
        all = {one.memory.id: one.memory for one in store.memories.recaps(BANK, only_open=False)}
        expect(sorted(all), ["m1", "m2"], "with what was changed")
        expect(all["m1"].superseded_by, uri("memory", "m2"), "by which")
        expect(store.memories.recaps(OTHER), [], "another bank")


def check_closed_tasks_are_left_out_of_open_ones_and_linked_both_ways(
    make_store: MakeStore,
) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for id, kind in (("m1", Kind.TODO), ("m2", Kind.TODO), ("m3", Kind.OUTCOME)):
                one = replace(_memory(id, f"The yawl {id}"), kind=kind)
                store.memories.put_retained(BANK, id, one, _passage(id, one.what))
            closed = StatusChange("memory", "m1", NOON, Status.SUPERSEDED, uri("memory", "m3"))
            store.facts.replace(BANK, DerivedFacts(status_changes=[closed]))
        tasks = {one.id: one for one in store.memories.retained(BANK, kind="todo")}
        expect(tasks["m1"].status, Status.SUPERSEDED, "the status of a closed task")
        expect(tasks["m1"].validity.until, NOON, "when it was closed")
        expect(tasks["m2"].status, Status.OBSERVED, "the status of an open task")
        still = store.memories.retained(BANK, kind="todo", only_open=True)
        expect([one.id for one in still], ["m2"], "those that are open")
        expect(store.memories.counts_by_kind(BANK), {"outcome": 1, "todo": 1}, "how many")
        for id, by, before in (("m1", uri("memory", "m3"), ()), ("m3", "", (uri("memory", "m1"),))):
            (record,) = store.records.find(BANK, "memory", id, 1)
            assert isinstance(record, Memory)
            expect((record.superseded_by, record.supersedes), (by, before), f"the links of {id}")


def check_memories_are_found_by_their_exchange(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        store.derived.put(BANK, SESSION, [an_exchange("x1")])
        store.graph.put_nodes(BANK, [Node("exchange", "x1", SESSION, NOON, "h", ())])
        inside = [_occurrence("world:1"), _occurrence("world:2", "The mast is long", 90)]
        store.memories.put_occurrences(BANK, SESSION, inside)
        _show(store, "world:1", "m1", "The yawl is blue")
        _show(store, "world:2", "m2", "The mast is long")
        place = store.graph.record(BANK, "exchange", "x1")
        assert place is not None
        found = store.graph.node_memory_passages(BANK, [place.node])
        expect([(n, p.id) for n, p in found], [(place.node, "m1")], "memories")
        expect(store.graph.node_memory_passages(OTHER, [place.node]), [], "those of another bank")


def check_no_retained_memory_outlives_its_session(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        store.memories.put_occurrences(BANK, SESSION, [_occurrence("world:1")])
        _show(store, "world:1", "m1", "The yawl is blue")
        store.derived.put(BANK, SESSION, [])
        _nothing("derived anew", store.memories.occurrences(BANK, SESSION))
        _nothing("what was shown", _found(store, "yawl"), store.memories.retained(BANK))
        store.memories.put_occurrences(BANK, SESSION, [_occurrence("world:1")])
        _show(store, "world:1", "m1", "The yawl is blue")
        store.erasure.erase(Erasure(BANK, sessions=(SESSION,)))
        _nothing("erased", store.memories.occurrences(BANK, SESSION))
        _nothing("what was shown", _found(store, "yawl"), store.memories.retained(BANK))


def check_a_memory_of_two_sessions_is_shown_from_the_remaining_one(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        store.sessions.add(a_session(id="other"))
        store.memories.put_occurrences(BANK, SESSION, [_occurrence("world:1")])
        store.memories.put_occurrences(BANK, "other", [_occurrence("world:1")])
        _show(store, "world:1", "m1", "The yawl is blue")
        expect(len(store.memories.occurrences_of_key(BANK, "world:1")), 2, "sightings of the key")
        store.derived.put(BANK, SESSION, [])
        expect(store.memories.retained(BANK), [], "what is shown")
        expect(store.memories.changed_keys(BANK), ["world:1"], "what is to be shown")
        expect(
            [met.session for met in store.memories.occurrences_of_key(BANK, "world:1")],
            ["other"],
            "what is left",
        )


def check_dropping_derived_rows_keeps_opinions_and_requests_to_retain(
    make_store: MakeStore,
) -> None:
    with prepared(make_store) as store, store.transaction():
        wished = replace(
            _memory("w1", "sails are red"), network=Network.OPINION, confidence=0.5, why="law"
        )
        store.memories.put_remembered(wished)
        store.passages.replace(wished, _passage("w1", "sails are red", ""))
        store.opinions.put(_opinion(), OpinionRevision(NOON, 0.7, 1, 0, "formed"), None)
        store.memories.put_occurrences(BANK, SESSION, [_occurrence("world:1")])
        _show(store, "world:1", "m1", "The yawl is blue")
        store.progress.mark_seen(BANK, "retain", 1, 99)
        expect(store.progress.has_progress(BANK, "retain"), True, "a stage that was there")
        store.derived.drop_all()
        expect(store.progress.has_progress(BANK, "retain"), False, "a stage that must begin anew")
        expect(_found(store, "yawl"), [], "what was retained")
        expect(_found(store, "sails"), ["w1"], "what was wished for")
        expect([o.id for o in store.opinions.all(BANK)], ["o1"], "opinions")
        kept = store.memories.remembered(BANK)
        expect([(m.network, m.confidence, m.why) for m in kept], [(Network.OPINION, 0.5, "law")])
        expect(
            store.memories.remembered_uncurated(BANK)[0].network, Network.OPINION, "as it was given"
        )


def check_an_opinion_keeps_its_history_until_it_is_dropped(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        first, second = (
            OpinionRevision(NOON, 0.6, 1, 0, "formed"),
            OpinionRevision(NOON, 0.7, 2, 0, "strengthened"),
        )
        store.opinions.put(_opinion(confidence=0.6), first, _passage("o1", "yawl is slow", ""))
        store.opinions.put(_opinion(), second, _passage("o1", "yawl is slow", ""))
        store.opinions.put(_opinion("o2", OTHER), None, None)
        expect(store.opinions.all(BANK), [_opinion()], "opinions")
        expect(store.opinions.history(BANK, "o1"), [first, second], "history")
        expect(_found(store, "slow"), ["o1"], "search")
        (found,) = store.records.find(BANK, "memory", "o1")
        assert isinstance(found, Memory)
        expect((found.network, found.confidence), (Network.OPINION, 0.7), "as a memory")
        store.curation.put_state(CurationState(BANK, "memory", "o1", forgotten=True))
        _nothing("forgotten", store.opinions.all(BANK), store.records.find(BANK, "memory", "o1"))
        expect(len(store.opinions.all_uncurated(BANK)), 1, "hidden or not")
        store.opinions.drop(BANK, "o1")
        _nothing("dropped", store.opinions.all_uncurated(BANK), store.opinions.history(BANK, "o1"))
        expect(len(store.opinions.all(OTHER)), 1, "another bank's")


def check_scrubbing_removes_text_from_opinions(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        store.opinions.put(_opinion(), None, None)
        store.erasure.scrub(lambda text: text.replace("yawl", "[erased]"))
        (left,) = store.opinions.all_uncurated(BANK)
        assert "yawl" not in f"{left.what} {left.why}", left


def check_the_settings_of_a_bank_are_stored(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        known = store.banks.get(BANK)
        other = store.banks.get(OTHER)
        assert known is not None
        changed = replace(
            known, background="a yard", disposition=Disposition(5, 1, 2), retention=12,
            aliases=("name:yard",),
        )  # fmt: skip
        store.banks.update(changed)
        expect(store.banks.get(BANK), changed, "the bank")
        expect(store.banks.get(OTHER), other, "another bank")
        expect(store.banks.id_by_alias("name:yard"), BANK, "its alias")
