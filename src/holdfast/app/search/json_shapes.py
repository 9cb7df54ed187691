"""The shapes in which records are told to programs, the same on the command line and by HTTP.

It imports next to nothing, because `holdfast recall` pays for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

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

Names = Mapping[str, str]
Told = dict[str, Any]
# Said of a hit only where there is something to say.
_UNSAID = (
    "corrected", "shared", "imported", "superseded_by", "supersedes", "agent", "provider", "since",
    "astray",
)  # fmt: skip


def recalled(found: RecallResult, names: Names) -> Told:
    """A recall. The bank of each hit is told only where there is more than one, and that it was
    corrected only where it was."""
    whole: Told = to_jsonable(found)
    for hit in (*whole["hits"], *whole["misses"]):
        bank = hit.pop("bank")
        if bank in names:
            hit["bank"] = names[bank]
        for name in _UNSAID:
            if not hit[name]:
                del hit[name]
    return whole


def sifted(found: Found, names: Names) -> Told:
    """What passes a filter."""
    return _in_banks(to_jsonable(found), "findings", names)


def timeline(told: Timeline, names: Names) -> Told:
    """What came before and after."""
    return _in_banks(to_jsonable(told), "events", names)


def leads(found: KeywordHits, bank: str, names: Names) -> Told:
    """What words lead to."""
    return {"bank": bank, **_in_banks(to_jsonable(found), "leads", names)}


def _in_banks(whole: Told, list: str, names: Names) -> Told:
    for item in whole[list]:
        item["bank"] = names.get(item["bank"], item["bank"])
    return whole


def named(word: str, record: object) -> Told:
    """A record under its name."""
    whole: Told = to_jsonable(record)
    return {"uri": uri(word, whole["id"]), **whole}


def kept(memory: Memory, bank: str) -> Told:
    """A memory that was just kept, and the name of the bank that it is in."""
    return {"uri": uri("memory", memory.id), "bank": bank, "record": to_jsonable(memory)}


def proposal(proposal: Proposal, bank: str) -> Told:
    """What waits to become a rule, in brief."""
    p = proposal
    return {
        "id": p.id,
        "bank": bank,
        "kind": p.kind.value,
        "path": p.path,
        "text": p.text,
        "reason": p.reason,
    }


def concept(concept: Concept, names: Names) -> Told:
    """A concept in brief."""
    c = concept
    return {
        "uri": uri("concept", c.id),
        "name": c.name,
        "summary": c.summary,
        "exchanges": exchanges_of(c),
        "founded": c.founded,
        "updated": c.updated,
        "files": list(c.files),
        "keywords": list(c.keywords),
        "trust": c.trust.value,
        "bank": names.get(c.bank, c.bank),
    }


def exchanges_of(concept: Concept) -> int:
    """How many exchanges belong to a concept."""
    known = [parse_uri(member) for member in concept.members]
    return sum(name is not None and name.kind == "exchange" for name in known)


def whole_concept(one: Concept, found: Trace, names: Names) -> Told:
    """A concept with how it came about, what belongs to it, and what was decided about it."""
    return {
        **concept(one, names),
        "history": [to_jsonable(told) for told in one.history],
        "members": [member(record) for record in found.below],
        "decided": [to_jsonable(entry) for entry in found.history],
    }


def member(record: object) -> Told:
    """What belongs to a concept, in brief."""
    whole = to_jsonable(record)
    kind = type(record).__name__.removesuffix("Record").lower()
    title = whole.get("title") or whole.get("what", "")
    time = whole.get("started") or whole.get("when", "")
    return {"uri": uri(kind, whole["id"]), "kind": kind, "title": title, "time": time}


def entity(entity: Entity) -> Told:
    """An entity."""
    whole = named("entity", entity)
    del whole["bank"]
    return whole


def about(found: EntityDetails) -> Told:
    """An entity with what mentions it, what occurs with it, and how that is linked."""
    whole: Told = to_jsonable(found)
    whole["entity"] = entity(found.entity)
    for link in whole["links"]:
        del link["bank"]
    return whole


def anchored(anchor: CodeAnchor) -> Told:
    """An anchor, with what its files come to."""
    return {"freshness": anchor.freshness.value, **to_jsonable(anchor)}


def traced(found: Trace, anchor: CodeAnchor, by_rules: object = None) -> Told:
    """A record and the way down from it."""
    return {
        "uri": uri(found.kind, found.record.id),
        "kind": found.kind,
        "record": to_jsonable(found.record),
        **({"by_rules": to_jsonable(by_rules)} if by_rules is not None else {}),
        "above": list(found.above),
        "below": [named(type(record).__name__.removesuffix("Record").lower(), record) for record in found.below],
        "raw": to_jsonable(found.raw),
        "superseded": found.superseded,
        **({"note": found.note} if found.note else {}),
        "history": [_decision(entry) for entry in found.history],
        "life": [_change(life) for life in found.lives],
        "bearings": [_bearing(bearing) for bearing in found.bearings],
        **({"beliefs": to_jsonable(found.beliefs)} if found.beliefs else {}),
        **({"commit": to_jsonable(found.story)} if found.story else {}),
        **({"commits": to_jsonable(found.commits)} if found.commits else {}),
        **({"anchor": anchored(anchor)} if anchor.is_known else {}),
    }


def _decision(entry: Curation) -> Told:
    whole: Told = to_jsonable(entry)
    del whole["bank"]
    return whole


def _change(life: StatusChange) -> Told:
    return {"time": life.time, "status": life.status.value, "because": life.because}


def _bearing(bearing: FactEvidence) -> Told:
    side = "against" if bearing.against else "for"
    told = {"time": bearing.time, "side": side, "how": bearing.how.value}
    return {**told, "uri": bearing.uri}
