"""Records and results as JSON, the same for the command line and the HTTP API. A hit is in
`hit_view`.

It imports next to nothing, because `holdfast recall` imports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from holdfast.app.search.hit_view import Json, ended_lines, full_json
from holdfast.lazy_dataclass import replace
from holdfast.model.kinds import knowledge_kind, record_kind
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import parse_uri, uri

if TYPE_CHECKING:
    from holdfast.model.anchors import CodeAnchor
    from holdfast.model.graph import Entity
    from holdfast.model.knowledge import Concept, EndedSentence, FactEvidence, Memory, Proposal
    from holdfast.model.query import RecallResult
    from holdfast.recall.lookup.entities import EntityDetails
    from holdfast.recall.lookup.filters import Found
    from holdfast.recall.lookup.timeline import Timeline
    from holdfast.recall.lookup.topics import KeywordHits
    from holdfast.recall.lookup.trace import Trace

# The names of banks by their ids.
BankNames = Mapping[str, str]


def recall_json(found: RecallResult, names: BankNames) -> Json:
    """The result of a recall. A hit names its bank only if the bank is in `names`."""
    whole: Json = to_jsonable(replace(found, hits=()))
    whole["hits"] = [full_json(hit, names.get(hit.bank, "")) for hit in found.hits]
    return whole


def found_json(found: Found, names: BankNames) -> Json:
    """The records that match a filter."""
    return _with_bank_names(to_jsonable(found), "findings", names)


def timeline_json(found: Timeline, names: BankNames) -> Json:
    """A timeline."""
    return _with_bank_names(to_jsonable(found), "events", names)


def keyword_hits_json(found: KeywordHits, bank: str, names: BankNames) -> Json:
    """The records that have certain keywords."""
    return {"bank": bank, **_with_bank_names(to_jsonable(found), "leads", names)}


def _with_bank_names(result: Json, key: str, names: BankNames) -> Json:
    for item in result[key]:
        item["bank"] = names.get(item["bank"], item["bank"])
    return result


def _select(record: object, *names: str) -> Json:
    return {name: to_jsonable(getattr(record, name)) for name in names}


def record_json(kind: str, record: object) -> Json:
    """A record with its URI."""
    whole: Json = to_jsonable(record)
    return {"uri": uri(kind, whole["id"]), **whole}


def memory_json(memory: Memory, bank: str) -> Json:
    """A memory that was just stored, with the name of its bank."""
    return {"uri": uri("memory", memory.id), "bank": bank, "record": to_jsonable(memory)}


def proposal_json(proposal: Proposal, bank: str) -> Json:
    """The summary of a proposed rule."""
    return {"id": proposal.id, "bank": bank, **_select(proposal, "kind", "path", "text", "reason")}


def concept_json(concept: Concept, names: BankNames, ended: Sequence[EndedSentence] = ()) -> Json:
    """The summary of a concept, and what of that does not hold any more."""
    return {
        "uri": uri("concept", concept.id),
        **_select(concept, "name", "summary"),
        "exchanges": count_exchanges(concept),
        **_select(concept, "founded", "updated", "files", "keywords", "trust"),
        "bank": names.get(concept.bank, concept.bank),
        **({"ended": ended_lines(concept.updated, ended)} if ended else {}),
    }


def count_exchanges(concept: Concept) -> int:
    """How many exchanges belong to a concept."""
    known = [parse_uri(member) for member in concept.members]
    return sum(name is not None and name.kind == "exchange" for name in known)


def concept_details_json(concept: Concept, found: Trace, names: BankNames) -> Json:
    """A concept with its history, its members, and the decisions about it."""
    return {
        **concept_json(concept, names, found.ended),
        "history": [to_jsonable(event) for event in concept.history],
        "members": [member_json(record) for record in found.below],
        "decided": [to_jsonable(entry) for entry in found.history],
    }


def member_json(record: object) -> Json:
    """The summary of a member of a concept."""
    whole = to_jsonable(record)
    kind = record_kind(record)
    title = whole.get("title") or whole.get("what", "")
    time = whole.get("started") or whole.get("when", "")
    return {"uri": uri(kind, whole["id"]), "kind": kind, "title": title, "time": time}


def entity_json(entity: Entity) -> Json:
    """An entity, without its bank."""
    return {"uri": uri("entity", entity.id), **_without_bank(entity)}


def entity_details_json(found: EntityDetails) -> Json:
    """An entity with the records that mention it, the entities beside it, and its links."""
    whole: Json = to_jsonable(found)
    whole |= {
        "entity": entity_json(found.entity),
        "links": [_without_bank(link) for link in found.links],
    }
    return whole


def anchor_json(anchor: CodeAnchor) -> Json:
    """A code anchor, with the freshness of its files together."""
    return {"freshness": anchor.freshness.value, **to_jsonable(anchor)}


def trace_json(found: Trace, anchor: CodeAnchor, by_rules: object = None) -> Json:
    """A record and the chain from it down to its raw line."""
    says = knowledge_kind(found.record)
    return {
        "uri": uri(found.kind, found.record.id),
        "kind": found.kind,
        **({"knowledge": says.value} if says else {}),
        "record": to_jsonable(found.record),
        **({"by_rules": to_jsonable(by_rules)} if by_rules is not None else {}),
        "above": list(found.above),
        "below": [record_json(record_kind(record), record) for record in found.below],
        "raw": to_jsonable(found.raw),
        "superseded": found.superseded,
        **({"note": found.note} if found.note else {}),
        **({"ended": to_jsonable(found.ended)} if found.ended else {}),
        "history": [_without_bank(entry) for entry in found.history],
        "life": [_select(change, "time", "status", "because") for change in found.lives],
        "bearings": [_evidence_json(evidence) for evidence in found.bearings],
        **({"beliefs": to_jsonable(found.beliefs)} if found.beliefs else {}),
        **({"commit": to_jsonable(found.story)} if found.story else {}),
        **({"commits": to_jsonable(found.commits)} if found.commits else {}),
        **({"anchor": anchor_json(anchor)} if anchor.is_known else {}),
    }


def _evidence_json(evidence: FactEvidence) -> Json:
    side = "against" if evidence.against else "for"
    return {"time": evidence.time, "side": side, "how": evidence.how.value, "uri": evidence.uri}


def _without_bank(record: object) -> Json:
    whole: Json = to_jsonable(record)
    del whole["bank"]
    return whole
