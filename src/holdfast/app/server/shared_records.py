"""The server's side of sharing: accepts the records that people share, and searches them.

The author of a record is the owner of the key it came with; what the record says about that is
ignored. Records for the whole organisation are stored in a bank of their own, which every key may
search; all others in the bank they were sent to. Only shared records are searched here, never the
other records of a bank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.learn.share_intake import ShareSource, import_shares, plan_import
from holdfast.model.bank import Bank
from holdfast.model.ids import content_id
from holdfast.model.query import Hit, Layer
from holdfast.model.team import Scope, SharedRecord
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.refine.ingest.erasure_marks import ErasedNames
from holdfast.sources.share_format import decode_from_client, newer

ORGANISATION_BANK = content_id("bank", "scope:organisation")
_ORGANISATION_NAME = "organisation"
# A record dated further in the future than this is refused: it would win over every later version.
# Two days allow for time zones and clocks that are a little wrong.
_MAX_AHEAD = timedelta(days=2)


class Receipt(NamedTuple):
    """What became of a line (`state`): taken, known already, erased here earlier and therefore not
    taken, or refused with the reason `why`. Field names and states are part of the REST API."""

    id: str
    state: str
    uri: str = ""
    why: str = ""


class SharedHit(NamedTuple):
    """A shared record that matches a question."""

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
    """Store the records that a person shares with a bank; returns a receipt for each line, in the
    same order. Sending a record twice has the effect of sending it once."""
    id = _shared_bank_id(memory, bank)
    latest = (datetime.fromisoformat(memory.now()) + _MAX_AHEAD).isoformat()
    decoded = [decode_from_client(dict(line), person) for line in lines]
    decoded = [
        "dated in the future" if isinstance(one, SharedRecord) and one.shared > latest else one
        for one in decoded
    ]
    records = [one for one in decoded if isinstance(one, SharedRecord)]
    states = _import(memory, id, records, f"{person}'s memory", who)
    return [
        Receipt(str(line.get("id", ""))[:64], "refused", why=one)
        if isinstance(one, str)
        else Receipt(one.version, states[one.version], uri("shared", one.id))
        for line, one in zip(lines, decoded, strict=True)
    ]


def _import(
    memory: Holdfast, bank: str, records: Sequence[SharedRecord], origin: str, who: str
) -> dict[str, str]:
    """Import records into a bank and the organisation's bank; returns the state of each version."""
    store = memory.store
    states: dict[str, str] = {}
    if any(one.scope is Scope.ORGANISATION and not one.gone for one in records):
        with store.transaction():
            store.banks.add(Bank(ORGANISATION_BANK, _ORGANISATION_NAME, memory.now()))
    banks = (bank, ORGANISATION_BANK) if store.banks.get(ORGANISATION_BANK) else (bank,)
    for one_bank in dict.fromkeys(banks):
        wanted: dict[str, SharedRecord] = {}
        for record in records:
            version = _version_for(record, one_bank == ORGANISATION_BANK)
            wanted[record.id] = newer(wanted.get(record.id, version), version)
        redactor = memory.context.redactor()
        source = ShareSource(origin)
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


def _version_for(record: SharedRecord, organisation: bool) -> SharedRecord:
    """The record as a bank stores it: as withdrawn, if its scope is not that of the bank."""
    in_scope = (record.scope is Scope.ORGANISATION) is organisation
    return record if in_scope or record.gone else replace(record, gone=True)


def recall_shared(memory: Holdfast, question: str, bank: str, limit: int) -> list[SharedHit]:
    """The records shared with the readers of a bank or with the organisation that match a question,
    best first."""
    plan = RecallPlan((Layer.TEAM,), limit, Budget.MID, kinds=("shared",), anchors=False)
    found: list[SharedHit] = []
    for id in (_shared_bank_id(memory, bank), ORGANISATION_BANK):
        if memory.reader.banks.get(id) is None:
            continue
        hits = memory.search.recall_by_words_first(question, id, plan).hits
        found += _shared_hits(memory, id, hits)
    return sorted(found, key=lambda hit: -hit.score)[:limit]


def _shared_hits(memory: Holdfast, bank: str, hits: Iterable[Hit]) -> Iterable[SharedHit]:
    for hit in hits:
        id = hit.uri.rpartition("/")[2]
        records = memory.reader.records.find(bank, "shared", id, 1) if hit.kind == "shared" else []
        record = records[0] if records else None
        if not isinstance(record, SharedRecord) or (record.scope is Scope.ORGANISATION) is not (
            bank == ORGANISATION_BANK
        ):
            continue
        trust = Trust.EXTERNAL if hit.trust is Trust.EXTERNAL else Trust.TEAM
        yield SharedHit(
            hit.uri, record.kind, hit.text, hit.time, hit.score, trust, hit.shared, record.scope
        )


def _shared_bank_id(memory: Holdfast, bank: str) -> str:
    """The id of the one bank that is named; an error for all banks and the organisation's bank."""
    id = memory.context.bank_id(bank) if bank else None
    if not id or id == ORGANISATION_BANK:
        raise InputError("This needs one bank of a project.", "Name it.")
    return id
