"""Imported records: every version stays, the latest is current, and an undone import hides what
it brought."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.curation import CurationState
from holdfast.model.imports import ImportBatch, ImportedRecord
from holdfast.model.query import Passage, RecordFilter
from holdfast.model.trust import Trust
from holdfast.store.across_tables.erasure import Erasure
from tests.store.conformance.samples import BANK, NOON, OTHER, MakeStore, expect, prepared

_LATER = "2026-03-02T12:00:00.000Z"
_ONE = ImportedRecord(
    BANK, "k1", "v1", "claude-mem", "observation", "Hull", "Paint the yawl blue.", _LATER,
    "claude-mem://observation/1", "s1", ("yawl.py",), ("decision",), Trust.IMPORT, NOON,
)  # fmt: skip
_TWO = replace(_ONE, id="k2", text="Tar the ketch.", time=NOON, origin="claude-mem://observation/2")
_ANEW = replace(_ONE, version="v2", text="Paint the yawl red.", taken=_LATER)
_FIRST = ImportBatch(
    BANK, "i1", "claude-mem", "/a.db", NOON, {"observation": 2}, {"empty": 1}, {}, 3
)
_SECOND = _FIRST._replace(id="i2", time=_LATER)


def check_imported_records_are_returned_unchanged(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.imports.put_batch(_FIRST)
            store.imports.put("i1", [_ONE, _TWO])
        expect(store.imports.all(BANK), [_ONE, _TWO], "what was imported")
        expect(store.imports.all(OTHER), [], "that of another bank")
        expect(store.imports.batches(), [_FIRST], "the imports")
        expect(store.imports.batches(OTHER), [], "those of another bank")
        expect(store.imports.batch_ids(BANK, "i1"), ["k1", "k2"], "what it brought")
        expect(store.records.find(BANK, "imported", "k"), [_ONE, _TWO], "those of a name")
        expect(store.records.counts(BANK).imported, 2, "how many")
        name = "claude-mem://observation/2"
        expect(store.imports.by_origin(None, name), [_TWO], "what another program calls so")
        expect(store.imports.by_origin(OTHER, name), [], "the same in another bank")
        expect(store.imports.in_session(BANK, "s1"), [_ONE, _TWO], "what is of a session")
        expect(store.imports.by_ids(BANK, ["k2", "k9"]), [_TWO], "some of them")


def check_imported_records_are_filtered_by_file_concept_type_and_time(
    make_store: MakeStore,
) -> None:
    labelled = replace(_TWO, files=("hull/ketch.py",), labels=("bugfix", "trade-off"))
    with prepared(make_store) as store:
        with store.transaction():
            store.imports.put_batch(_FIRST)
            store.imports.put("i1", [_ONE, labelled])
        for filter, found in (
            (RecordFilter("yawl.py"), [_ONE]),
            (RecordFilter("hull/"), [labelled]),
            (RecordFilter("hull"), []),
            (RecordFilter("awl.py"), []),
            (RecordFilter(type="bugfix"), [labelled]),
            (RecordFilter(concept="trade-offs"), [labelled]),
            (RecordFilter(concept="?"), []),
            (RecordFilter(since=_LATER), [_ONE]),
            (RecordFilter(until=_LATER), [labelled]),
            (RecordFilter("yawl.py", type="bugfix"), []),
            (RecordFilter(since=NOON), [_ONE, labelled]),
        ):
            expect(store.imports.filter(BANK, filter), found, f"what passes {filter}")
        expect(store.imports.filter(None, RecordFilter(since=NOON), 1), [_ONE], "the latest")
        expect(store.imports.filter(OTHER, RecordFilter(since=NOON)), [], "that of another bank")
        expect(store.imports.latest(BANK, "observation", 1), [_ONE], "the latest of a kind")
        expect(store.imports.latest(BANK, "prompt", 1), [], "those of another kind")


def check_the_latest_import_of_a_record_counts_until_it_is_undone(
    make_store: MakeStore,
) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for importing, records in ((_FIRST, [_ONE, _TWO]), (_SECOND, [_ANEW])):
                store.imports.put_batch(importing)
                store.imports.put(importing.id, records)
        expect(store.imports.all(BANK), [_ANEW, _TWO], "what is shown")
        expect(store.imports.versions(BANK), {"k1": "v2", "k2": "v1"}, "what holds")
        undone = CurationState(BANK, "importing", "i2", forgotten=True)
        with store.transaction():
            store.curation.put_state(undone)
        expect(store.imports.all(BANK), [_ONE, _TWO], "what is shown without the second import")
        with store.transaction():
            store.curation.put_state(undone._replace(forgotten=False))
            store.curation.put_state(CurationState(BANK, "imported", "k1", forgotten=True))
        expect(store.imports.all(BANK), [_TWO], "what is shown of what is forgotten")
        expect(store.imports.versions(BANK), {"k1": "v2", "k2": "v1"}, "what holds of it")


def check_an_imported_record_is_found_by_its_passage_and_erased_completely(
    make_store: MakeStore,
) -> None:
    with prepared(make_store) as store:
        body = Passage(BANK, "imported", "k1", "", NOON, "paint the yawl", trust=Trust.IMPORT)
        with store.transaction():
            for importing, records in ((_FIRST, [_ONE, _TWO]), (_SECOND, [_ANEW])):
                store.imports.put_batch(importing)
                store.imports.put(importing.id, records)
            for _ in range(2):
                store.imports.put_passages(BANK, ["k1"], [body])
            store.derived.drop_all()
        found = [match.passage for match in store.passages.search(BANK, ["yawl"], ["observations"])]
        expect(found, [body], "what is found, once everything derived is dropped")
        with store.transaction():
            store.erasure.erase(Erasure(BANK, imported=("k1",), marks=("m",)))
        expect(store.passages.search(BANK, ["yawl"]), [], "what is found of what is erased")
        expect(store.imports.all(BANK), [_TWO], "what is left")
        with store.transaction():
            store.erasure.scrub(lambda text: text.replace("ketch", "[erased]"))
        expect([i.text for i in store.imports.all(BANK)], ["Tar the [erased]."], "what is scrubbed")
