"""The outbox: items are kept until they are sent, in order, and an erasure removes their text."""

from __future__ import annotations

from holdfast.store.across_tables.erasure import Erasure
from holdfast.store.records.outbox import OutboxItem, OutboxState
from tests.store.conformance.samples import BANK, NOON, OTHER, MakeStore, expect, prepared

_LATER = "2026-03-02T12:00:00.000Z"
_ONE = OutboxItem(
    BANK, "acme", "h1", "holdfast://memory/m1", '{"text":"Paint the yawl."}', "w1", False,
    OutboxState.WAITING, NOON, 2, _LATER, "It cannot be reached.",
)  # fmt: skip
_TWO = _ONE._replace(id="h2", origin="holdfast://fact/f1", line='{"text":"Tar it."}', queued=_LATER)
_GONE = _ONE._replace(id="h3", line="{}", gone=True, queued=_LATER)


def check_an_outbox_item_is_kept_unchanged_until_it_is_dropped(make_store: MakeStore) -> None:
    elsewhere = _ONE._replace(bank=OTHER, remote="other", queued=_LATER)
    there = _ONE._replace(line="", state=OutboxState.SENT, there="holdfast://shared/s1")
    with prepared(make_store) as store:
        with store.transaction():
            for parcel in (_TWO, _ONE, elsewhere):
                store.outbox.put(parcel)
        expect(store.outbox.items(), [_ONE, _TWO, elsewhere], "all parcels")
        expect(store.outbox.items("acme"), [_ONE, _TWO], "those for one server")
        with store.transaction():
            store.outbox.put(there)
            store.derived.drop_all()
            store.outbox.drop(_TWO)
        expect(store.outbox.items("acme"), [there], "what is left, as it is now")


def check_erasure_removes_text_that_waits_to_be_sent(make_store: MakeStore) -> None:
    kept = _ONE._replace(id="h4", origin="holdfast://memory/m2")
    with prepared(make_store) as store:
        with store.transaction():
            for parcel in (_ONE, _TWO, _GONE, kept):
                store.outbox.put(parcel)
            store.erasure.erase(Erasure(BANK, memories=("m1",), targets=("holdfast://memory/m1",)))
        expect(store.outbox.items(), [kept, _GONE], "what may still be sent")
        with store.transaction():
            store.erasure.scrub(lambda text: text.replace("yawl", "[erased]"))
        expect(store.outbox.items(), [_GONE], "what may be sent of what was scrubbed")
