"""Concepts and keywords: all of a bank are replaced at once, only changes are written, a concept
is found by its earlier ids, and keywords lead to their records."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.curation import CurationState
from holdfast.model.knowledge import Concept, ConceptEvent, Memory, Network
from holdfast.model.query import RecordFilter
from holdfast.model.trust import Status, Trust
from holdfast.store.across_tables.erasure import Erasure
from holdfast.store.knowledge.concepts import DerivedConcept, KeywordMatch
from holdfast.store.protocol import Store
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_passage,
    an_exchange,
    expect,
    prepared,
)


def a_concept(id: str = "c1", bank: str = BANK, name: str = "Tide table") -> Concept:
    """A concept with something in every field."""
    return Concept(
        bank, id, name, 'It was "off" by one hour, ünïcode 🦜.', NOON, Trust.TOOL,
        ("holdfast://exchange/x1", "holdfast://memory/m1"), ("src/table.py",), ("tide", "UTC"),
        "2026-02-01T12:00:00.000Z",
        (ConceptEvent(NOON, "founded", "by x1"), ConceptEvent(NOON, "named")),
    )  # fmt: skip


def _made(concept: Concept, *aliases: str) -> DerivedConcept:
    passage = a_passage(concept.id, concept.name, concept.bank, "concept", "")
    return DerivedConcept(concept, passage, aliases or ("c1", "c9"))


def _filled(store: Store) -> None:
    store.derived.put(BANK, SESSION, [an_exchange()])
    store.concepts.put(BANK, [_made(a_concept())])


def check_features_are_kept_until_their_exchange_is_derived_anew(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.derived.put(BANK, SESSION, [an_exchange()])
            store.derived.put(OTHER, SESSION, [an_exchange(bank=OTHER)])
        expect(store.concepts.features(BANK), {}, "before any was read")
        with store.transaction():
            store.concepts.put_features(BANK, {"x1": 'v1 ["ünï 🦜"]', "gone": "v1 []"})
        expect(store.concepts.features(BANK), {"x1": 'v1 ["ünï 🦜"]'}, "the kept features")
        expect(store.concepts.features(OTHER), {}, "those of another bank")
        with store.transaction():
            store.derived.put(BANK, SESSION, [an_exchange()])
        expect(store.concepts.features(BANK), {}, "after deriving anew")


def check_a_concept_is_returned_complete(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            _filled(store)
        expect(store.concepts.latest(BANK), [a_concept()], "the concepts")
        expect(store.concepts.latest(OTHER), [], "the concepts of another bank")
        expect(
            store.concepts.of_record(BANK, "exchange", "x1"), a_concept(), "the concept of a member"
        )
        expect(store.concepts.of_record(BANK, "exchange", "x2"), None, "the concept of another")
        expect(store.records.find(None, "concept", "c"), [a_concept()], "the start of an id")
        found = [match.passage.id for match in store.passages.search(BANK, ["tide"], ["summaries"])]
        expect(found, ["c1"], "a search of what sums up")


def check_a_concept_is_found_by_the_id_of_one_merged_into_it(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            _filled(store)
        expect(
            store.records.find(BANK, "concept", "c9"),
            [a_concept()],
            "the id of one that went into it",
        )
        expect(store.records.find(BANK, "", "c9"), [], "the same without a word")
        expect(store.records.find(BANK, "concept", "c8"), [], "an id that nobody had")


def check_only_changed_concepts_are_written(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        one, other = a_concept(), a_concept("c2", name="Moon")
        other = replace(other, members=("holdfast://exchange/x2",), keywords=("lunar",))
        both = [_made(one), _made(other, "c2")]
        expect(store.concepts.put(BANK, both), 2, "the first time")
        expect(store.concepts.put(BANK, both), 0, "the same again")
        longer = [_made(replace(one, name="Tides")), both[1]]
        expect(store.concepts.put(BANK, longer), 1, "another name")
        expect(store.concepts.put(BANK, both[1:]), 1, "one less")
        expect([c.id for c in store.concepts.latest(BANK)], ["c2"], "what is left")
        expect(store.passages.search(BANK, ["tides"]), [], "the words of what is gone")
        expect(
            store.concepts.records_with_keywords(BANK, "tides"), [], "the keywords of what is gone"
        )


def check_a_forgotten_concept_is_not_returned(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            _filled(store)
            store.curation.put_state(CurationState(BANK, "concept", "c1", forgotten=True))
        expect(store.concepts.latest(BANK), [], "the concepts")
        expect(store.records.find(None, "concept", "c1"), [], "its id")
        expect(store.concepts.of_record(BANK, "exchange", "x1"), None, "the concept of a member")
        expect(store.passages.search(BANK, ["tide"], ["summaries"]), [], "a search")
        expect(
            [b.kind for b in store.concepts.records_with_keywords(BANK, "tide")],
            ["exchange"],
            "the keyword",
        )
        expect(
            [c.id for c in store.curation.find_hidden(BANK, "concept", "c1")],
            ["c1"],
            "what is put away",
        )


def check_keywords_lead_to_their_records(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            _filled(store)
            memory = Memory(
                BANK, "m1", Network.WORLD, "Tides are in UTC", Trust.USER, when=NOON,
                status=Status.VERIFIED,
            )  # fmt: skip
            store.memories.put_remembered(memory)
            store.passages.replace(memory, a_passage("m1", memory.what, BANK, "memory", ""))
        all_three = [KeywordMatch(BANK, kind, id, NOON) for kind, id in
                     (("concept", "c1"), ("exchange", "x1"), ("memory", "m1"))]  # fmt: skip
        expect(
            store.concepts.records_with_keywords(BANK, "tides"), all_three, "a word in another form"
        )
        expect(
            store.concepts.records_with_keywords(BANK, "tide tables"), all_three[:1], "two words"
        )
        expect(store.concepts.records_with_keywords(OTHER, "tide"), [], "another bank")
        expect(store.concepts.records_with_keywords(BANK, "..."), [], "no word")
        counted = {k.word: dict(k.counts) for k in store.concepts.keywords(BANK)}
        expect(counted["tide"], {"concept": 1, "exchange": 1, "memory": 1}, "the keyword")
        found = store.records.filter(BANK, RecordFilter(concept="tide"))
        expect([record.id for record in found], ["x1"], "finding by concept")


def check_erasing_removes_the_concepts_of_a_bank(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            _filled(store)
            store.progress.mark_seen(
                BANK, "concepts", 1, store.progress.unseen_changes(BANK, "concepts", 1)[-1].number
            )
            store.concepts.save_members(BANK, "c1")
        expect(
            store.concepts.saved_members(BANK),
            {"c1": ["holdfast://exchange/x1", "holdfast://memory/m1"]},
            "the members of then",
        )
        with store.transaction():
            store.erasure.erase(Erasure(BANK, memories=("m1",)))
        expect(store.concepts.latest(BANK), [], "the concepts")
        expect(store.progress.banks_behind("concepts", 1), [BANK], "the banks behind")
        expect(
            store.concepts.saved_members(BANK),
            {"c1": ["holdfast://exchange/x1"]},
            "the members of then",
        )
        with store.transaction():
            store.concepts.put(BANK, [_made(a_concept())])
            store.derived.drop_all()
        expect(store.concepts.latest(BANK), [], "concepts after dropping")
        expect(
            store.concepts.saved_members(BANK),
            {"c1": ["holdfast://exchange/x1"]},
            "what is not derived",
        )
