"""Shared records: every version stays, the latest is current, and an undone share import hides
what it brought."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.curation import CurationState
from holdfast.model.query import Passage
from holdfast.model.team import Scope, SharedRecord
from holdfast.model.trust import Trust
from holdfast.store.across_tables.erasure import Erasure
from holdfast.store.records.shares import ShareImport
from tests.store.conformance.samples import BANK, NOON, OTHER, MakeStore, expect, prepared

_LATER = "2026-03-02T12:00:00.000Z"
_ONE = SharedRecord(
    BANK, "k1", "v1", "fact", "Paint the yawl blue.", "Ann", "ann@x.org", NOON,
    "holdfast://fact/f1", NOON, Trust.TEAM, Trust.ASSISTANT, ("yawl.py",), "mind this",
    scope=Scope.TEAM,
)  # fmt: skip
_TWO = replace(_ONE, id="k2", text="Tar the ketch.", trust=Trust.EXTERNAL)
_ANEW = replace(_ONE, version="v2", text="Paint the yawl red.", shared=_LATER)
_FIRST = ShareImport(BANK, "t1", "origin", ("c1",), NOON)
_SECOND = ShareImport(BANK, "t2", "origin", ("c2",), _LATER)


def check_imported_shares_are_returned_unchanged(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.shares.put_import(_FIRST, [_ONE, _TWO])
            store.shares.put_sent(BANK, ["k9", "k9"])
        expect(store.shares.all(BANK), [_ONE, _TWO], "what is shared")
        expect(store.shares.all(OTHER), [], "that of another bank")
        expect(store.shares.imports(BANK), [_FIRST], "the takings")
        expect(store.shares.import_ids(BANK, "t1"), ["k1", "k2"], "what it brought")
        expect(store.records.find(BANK, "shared", "k"), [_ONE, _TWO], "those of a name")
        expect(store.records.counts(BANK).shared, 2, "how many")
        expect(
            (store.shares.sent_ids(BANK), store.shares.sent_ids(OTHER)),
            ({"k9"}, set[str]()),
            "what was sent",
        )


def check_the_latest_version_counts_until_its_import_is_undone(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        gone = replace(_TWO, version="v2", shared=_LATER, gone=True)
        with store.transaction():
            store.shares.put_import(_FIRST, [_ONE, _TWO])
            store.shares.put_import(_SECOND, [_ANEW, gone])
        expect(store.shares.all(BANK), [_ANEW], "what is shown")
        expect(store.shares.current(BANK), [_ANEW, gone], "what holds")
        undone = CurationState(BANK, "taking", "t2", forgotten=True)
        with store.transaction():
            store.curation.put_state(undone)
        expect(store.shares.all(BANK), [_ONE, _TWO], "what is shown without the second taking")
        with store.transaction():
            store.curation.put_state(undone._replace(forgotten=False))
            store.curation.put_state(CurationState(BANK, "shared", "k1", forgotten=True))
        expect(store.shares.all(BANK), [], "what is shown of what is forgotten")
        expect(store.shares.current(BANK), [_ANEW, gone], "what holds of what is forgotten")


def check_a_shared_record_is_found_by_its_passage_and_erased_completely(
    make_store: MakeStore,
) -> None:
    with prepared(make_store) as store:
        body = Passage(BANK, "shared", "k1", "", NOON, "paint the yawl", trust=Trust.TEAM)
        with store.transaction():
            store.shares.put_import(_FIRST, [_ONE, _TWO])
            store.shares.put_import(_SECOND, [_ANEW])
            for _ in range(2):
                store.shares.put_passages(BANK, ["k1"], [body])
            store.derived.drop_all()
        found = [match.passage for match in store.passages.search(BANK, ["yawl"], ["team"])]
        expect(found, [body], "what is found, once everything derived is dropped")
        with store.transaction():
            store.erasure.erase(Erasure(BANK, shared=("k1",), marks=("m",)))
        expect(store.passages.search(BANK, ["yawl"]), [], "what is found of what is erased")
        expect(store.shares.current(BANK), [_TWO], "what is left")
        with store.transaction():
            store.erasure.scrub(lambda text: text.replace("ketch", "[erased]"))
        expect([s.text for s in store.shares.all(BANK)], ["Tar the [erased]."], "what is scrubbed")


def check_records_without_a_scope_or_personal_ones_are_not_shown(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        hers = replace(_TWO, scope=Scope.PERSONAL)
        with store.transaction():
            store.shares.put_import(_FIRST, [_ONE, hers])
        expect(store.shares.all(BANK), [_ONE], "what is shown")
        expect(store.records.find(BANK, "shared", "k"), [_ONE], "what is found by name")
        expect(store.shares.current(BANK), [_ONE, hers], "what holds")
