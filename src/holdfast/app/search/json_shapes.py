"""The shapes in which records are told to programs, the same on the command line and by HTTP.

It imports next to nothing, because `holdfast recall` pays for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.model.kinds import record_kind
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import parse_uri, uri

if TYPE_CHECKING:
    from holdfast.model.anchors import CodeAnchor
    from holdfast.model.curation import Curation
    from holdfast.model.graph import Entity
    from holdfast.model.knowledge import Concept, FactEvidence, Memory, Proposal, StatusChange
    from holdfast.model.query import RecallResult
    from holdfast.recall.lookup.entities import EntityDetails
    from holdfast.recall.lookup.filters import Found
    from holdfast.recall.lookup.timeline import Timeline
    from holdfast.recall.lookup.topics import KeywordHits
    from holdfast.recall.lookup.trace import Trace

BankNames = Mapping[str, str]
Json = dict[str, Any]
# Said of a hit only where there is something to say.
_OMITTED_IF_EMPTY = (
    "corrected", "shared", "imported", "superseded_by", "supersedes", "agent", "provider", "since",
    "astray",
)  # fmt: skip


def recall_json(found: RecallResult, names: BankNames) -> Json:
    """A recall. The bank of each hit is told only where there is more than one, and that it was
    corrected only where it was."""
    whole: Json = to_jsonable(found)
    for hit in (*whole["hits"], *whole["misses"]):
        bank = hit.pop("bank")
        if bank in names:
            hit["bank"] = names[bank]
        for name in _OMITTED_IF_EMPTY:
            if not hit[name]:
                del hit[name]
    return whole


def found_json(found: Found, names: BankNames) -> Json:
    """What passes a filter."""
    return _with_bank_names(to_jsonable(found), "findings", names)


def timeline_json(told: Timeline, names: BankNames) -> Json:
    """What came before and after."""
    return _with_bank_names(to_jsonable(told), "events", names)


def keyword_hits_json(found: KeywordHits, bank: str, names: BankNames) -> Json:
    """What words lead to."""
    return {"bank": bank, **_with_bank_names(to_jsonable(found), "leads", names)}


def _with_bank_names(whole: Json, list: str, names: BankNames) -> Json:
    for item in whole[list]:
        item["bank"] = names.get(item["bank"], item["bank"])
    return whole


def record_json(word: str, record: object) -> Json:
    """A record under its name."""
    whole: Json = to_jsonable(record)
    return {"uri": uri(word, whole["id"]), **whole}


def memory_json(memory: Memory, bank: str) -> Json:
    """A memory that was just kept, and the name of the bank that it is in."""
    return {"uri": uri("memory", memory.id), "bank": bank, "record": to_jsonable(memory)}


def proposal_json(proposal_json: Proposal, bank: str) -> Json:
    """What waits to become a rule, in brief."""
    p = proposal_json
    return {
        "id": p.id,
        "bank": bank,
        "kind": p.kind.value,
        "path": p.path,
        "text": p.text,
        "reason": p.reason,
    }


def concept_json(concept_json: Concept, names: BankNames) -> Json:
    """A concept in brief."""
    c = concept_json
    return {
        "uri": uri("concept", c.id),
        "name": c.name,
        "summary": c.summary,
        "exchanges": count_exchanges(c),
        "founded": c.founded,
        "updated": c.updated,
        "files": list(c.files),
        "keywords": list(c.keywords),
        "trust": c.trust.value,
        "bank": names.get(c.bank, c.bank),
    }


def count_exchanges(concept_json: Concept) -> int:
    """How many exchanges belong to a concept."""
    known = [parse_uri(member_json) for member_json in concept_json.members]
    return sum(name is not None and name.kind == "exchange" for name in known)


def concept_details_json(one: Concept, found: Trace, names: BankNames) -> Json:
    """A concept with how it came about, what belongs to it, and what was decided about it."""
    return {
        **concept_json(one, names),
        "history": [to_jsonable(told) for told in one.history],
        "members": [member_json(record) for record in found.below],
        "decided": [to_jsonable(entry) for entry in found.history],
    }


def member_json(record: object) -> Json:
    """What belongs to a concept, in brief."""
    whole = to_jsonable(record)
    kind = record_kind(record)
    title = whole.get("title") or whole.get("what", "")
    time = whole.get("started") or whole.get("when", "")
    return {"uri": uri(kind, whole["id"]), "kind": kind, "title": title, "time": time}


def entity_json(entity_json: Entity) -> Json:
    """An entity."""
    whole = record_json("entity", entity_json)
    del whole["bank"]
    return whole


def entity_details_json(found: EntityDetails) -> Json:
    """An entity with what mentions it, what occurs with it, and how that is linked."""
    whole: Json = to_jsonable(found)
    whole["entity"] = entity_json(found.entity)
    for link in whole["links"]:
        del link["bank"]
    return whole


def anchor_json(anchor: CodeAnchor) -> Json:
    """An anchor, with what its files come to."""
    return {"freshness": anchor.freshness.value, **to_jsonable(anchor)}


def trace_json(found: Trace, anchor: CodeAnchor, by_rules: object = None) -> Json:
    """A record and the way down from it."""
    return {
        "uri": uri(found.kind, found.record.id),
        "kind": found.kind,
        "record": to_jsonable(found.record),
        **({"by_rules": to_jsonable(by_rules)} if by_rules is not None else {}),
        "above": list(found.above),
        "below": [record_json(record_kind(record), record) for record in found.below],
        "raw": to_jsonable(found.raw),
        "superseded": found.superseded,
        **({"note": found.note} if found.note else {}),
        "history": [_curation_json(entry) for entry in found.history],
        "life": [_status_change_json(life) for life in found.lives],
        "bearings": [_evidence_json(bearing) for bearing in found.bearings],
        **({"beliefs": to_jsonable(found.beliefs)} if found.beliefs else {}),
        **({"commit": to_jsonable(found.story)} if found.story else {}),
        **({"commits": to_jsonable(found.commits)} if found.commits else {}),
        **({"anchor": anchor_json(anchor)} if anchor.is_known else {}),
    }


def _curation_json(entry: Curation) -> Json:
    whole: Json = to_jsonable(entry)
    del whole["bank"]
    return whole


def _status_change_json(life: StatusChange) -> Json:
    return {"time": life.time, "status": life.status.value, "because": life.because}


def _evidence_json(bearing: FactEvidence) -> Json:
    side = "against" if bearing.against else "for"
    told = {"time": bearing.time, "side": side, "how": bearing.how.value}
    return {**told, "uri": bearing.uri}
