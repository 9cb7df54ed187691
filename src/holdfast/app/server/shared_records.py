"""A server's side of sharing: it takes what people hand in, and tells it to who may read it.

Whose it is, is known by the key that it came with, never by what it says. What is for the whole
organisation lies in a bank of its own, which everybody with a key may ask for it; all else lies in
the bank that it was handed in to. Only what was shared is told here: what lies in a bank without a
scope is nobody else's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError
from holdfast.learn.share_intake import ShareSource, import_shares, plan_import
from holdfast.model.bank import Bank
from holdfast.model.ids import content_id
from holdfast.model.query import Hit, Layer
from holdfast.model.team import Scope, SharedRecord
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.recall.core.plan import Budget, Plan
from holdfast.refine.ingest.erasure_marks import ErasedNames
from holdfast.sources.share_format import decode_from_client, newer

ORGANISATION_BANK = content_id("bank", "scope:organisation")
_NAME = "organisation"
_AHEAD = timedelta(days=2)


class Receipt(NamedTuple):
    """What became of a line: `taken`, `known` already, `erased` here once and so not taken, or
    `refused`, and why."""

    id: str
    state: str
    uri: str = ""
    why: str = ""


class SharedHit(NamedTuple):
    """A shared record that speaks of a question."""

    uri: str
    kind: str
    text: str
    time: str
    score: float
    trust: Trust
    shared: str
    scope: Scope


def receive(
    memory: Holdfast, bank: str, lines: Sequence[Mapping[str, Any]], person: str, who: str
) -> list[Receipt]:
    """Take what a person hands in to a bank; what became of each line, in the same order. To hand
    in the same twice is to do it once."""
    id = _one(memory, bank)
    latest = (datetime.fromisoformat(memory.now()) + _AHEAD).isoformat()
    read = [decode_from_client(dict(line), person) for line in lines]
    read = [
        "dated in the future" if isinstance(one, SharedRecord) and one.shared > latest else one
        for one in read
    ]
    records = [one for one in read if isinstance(one, SharedRecord)]
    done = _taken(memory, id, records, f"{person}'s memory", who)
    return [
        Receipt(str(line.get("id", ""))[:64], "refused", why=one)
        if isinstance(one, str)
        else Receipt(one.version, done[one.version], uri("shared", one.id))
        for line, one in zip(lines, read, strict=True)
    ]


def _taken(
    memory: Holdfast, bank: str, records: Sequence[SharedRecord], place: str, who: str
) -> dict[str, str]:
    """What became of some records, by their versions."""
    store = memory.store
    states: dict[str, str] = {}
    if any(one.scope is Scope.ORGANISATION and not one.gone for one in records):
        with store.transaction():
            store.add_bank(Bank(ORGANISATION_BANK, _NAME, memory.now()))
    banks = (bank, ORGANISATION_BANK) if store.bank(ORGANISATION_BANK) else (bank,)
    for one_bank in dict.fromkeys(banks):
        wanted: dict[str, SharedRecord] = {}
        for record in records:
            meant = _meant(record, one_bank == ORGANISATION_BANK)
            wanted[record.id] = newer(wanted.get(record.id, meant), meant)
        redactor = Redactor(memory.settings.redact_patterns)
        source = ShareSource(place)
        planned = plan_import(store, one_bank, (wanted, ()), source, memory.now(), redactor, "")
        import_shares(store, one_bank, planned, memory.now, who)
        erased = ErasedNames(store, one_bank, [("shared", id) for id in wanted])
        changed = {one.version for one in (*planned.added, *planned.changed, *planned.gone)}
        for record in records:
            if record.version in changed:
                states[record.version] = "taken"
            elif erased.has("shared", record.id):
                states.setdefault(record.version, "erased")
    return {one.version: states.get(one.version, "known") for one in records}


def _meant(record: SharedRecord, organisation: bool) -> SharedRecord:
    """What a record means to a bank: what is for others than this bank's readers is gone there."""
    here = (record.scope is Scope.ORGANISATION) is organisation
    return record if here or record.gone else replace(record, gone=True)


def recall_shared(memory: Holdfast, question: str, bank: str, limit: int) -> list[SharedHit]:
    """What was shared with whoever reads a bank, or with all, and speaks of a question; best
    first."""
    how = Plan((Layer.TEAM,), limit, Budget.MID, kinds=("shared",), anchors=False)
    found: list[SharedHit] = []
    for id in (_one(memory, bank), ORGANISATION_BANK):
        if memory.reader.bank(id) is None:
            continue
        hits = memory.search.recall_by_words_first(question, id, how).hits
        found += _told(memory, id, hits)
    return sorted(found, key=lambda told: -told.score)[:limit]


def _told(memory: Holdfast, bank: str, hits: Iterable[Hit]) -> Iterable[SharedHit]:
    for hit in hits:
        id = hit.uri.rpartition("/")[2]
        known = memory.reader.find(bank, "shared", id, 1) if hit.kind == "shared" else []
        record = known[0] if known else None
        if not isinstance(record, SharedRecord) or (record.scope is Scope.ORGANISATION) is not (
            bank == ORGANISATION_BANK
        ):
            continue
        trust = Trust.EXTERNAL if hit.trust is Trust.EXTERNAL else Trust.TEAM
        yield SharedHit(
            hit.uri, record.kind, hit.text, hit.time, hit.score, trust, hit.shared, record.scope
        )


def _one(memory: Holdfast, bank: str) -> str:
    id = memory.context.bank_id(bank) if bank else None
    if not id or id == ORGANISATION_BANK:
        raise InputError("This is done in one bank, which people work in.", "Name it.")
    return id
