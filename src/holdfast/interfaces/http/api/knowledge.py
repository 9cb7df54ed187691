"""Facts, concepts, keywords, entities, opinions, memories, commits and the code audit."""

from __future__ import annotations

from typing import Annotated, Any, get_type_hints

from fastapi import Query
from pydantic import Field

from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.app.search.audit import AuditReport, audit
from holdfast.interfaces.http.api.listing import (
    concepts_page,
    entities_page,
    facts_page,
    latest_records,
    memories_page,
    page_json,
)
from holdfast.interfaces.http.api.requests import (
    ApiRouter,
    Bank,
    Cursor,
    Id,
    Json,
    Limit,
    QueryText,
    RequestBody,
    author,
    paginate,
)
from holdfast.interfaces.http.api.schema import model_of, model_with_uri, open_model, page_model
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.model.curation import Curation
from holdfast.model.graph import Entity, EntityKind
from holdfast.model.knowledge import Fact, FactKind, Kind, Memory, Network
from holdfast.model.opinions import Opinion
from holdfast.model.records import Exchange
from holdfast.model.team import Commit
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import uri
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.recall.lookup.topics import KeywordHits
from holdfast.store.knowledge.concepts import Keyword

router = ApiRouter(tags=["knowledge"])
_Concept = open_model(
    "ConceptRecord",
    uri=str,
    name=str,
    summary=str,
    exchanges=int,
    founded=str,
    updated=str,
    files=list[str],
    keywords=list[str],
    trust=str,
    bank=str,
)
_StoredMemory = open_model("Kept", "A memory that was kept.", uri=str, bank=str, record=Memory)
_Entity = model_with_uri(Entity, "bank")


@router.task(
    "GET /facts",
    page_model("facts", model_with_uri(Fact), bank=str, dropped=dict[str, int]),
    "Facts: rules, solutions, core logic",
)
def facts(
    memory: Holdfast,
    bank: Bank = "all",
    kind: FactKind | Kind | None = None,
    all: bool = False,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Json:
    """Those in force, the latest first; with `all` also those that ended. `kind` is that of a fact,
    or of what it says: solutions are lessons, core logic is of kind `fact`."""
    found = facts_page(memory, bank, kind.value if kind else "", all, limit, cursor)
    return {
        "bank": _bank_name(memory, bank),
        **page_json("facts", "fact", found),
        "dropped": memory.reader.facts.dropped_claims(memory.context.bank_id(bank)),
    }


@router.task("GET /concepts", page_model("concepts", _Concept, bank=str), "Concepts")
def concepts(memory: Holdfast, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = "") -> Json:
    """What a project is about; the one that was touched last first."""
    names = memory.context.bank_names()
    page, more = concepts_page(memory, bank, limit, cursor)
    endings = RecordEndings(memory.reader)
    return {
        "bank": _bank_name(memory, bank),
        "concepts": [json_shapes.concept_json(one, names, endings.of(one)) for one in page],
        "cursor": more,
    }


def _bank_name(memory: Holdfast, bank: str) -> str:
    return memory.context.bank_name(memory.context.bank_id(bank))


@router.task("GET /concepts/{id:path}", _Concept, "One concept")
def concept(memory: Holdfast, id: Id, bank: Bank = "all") -> Json:
    """By its name, a part of it, or its id; with its history and its members."""
    one = memory.browse.concept(id, bank)
    return json_shapes.concept_details_json(
        one, memory.show(uri("concept", one.id)), memory.context.bank_names()
    )


@router.task(
    "GET /keywords",
    open_model("Keywords", bank=str, keywords=list[Keyword]),
    "The keywords of a bank",
)
def keywords(memory: Holdfast, bank: Bank = "all", limit: Limit = 50) -> Json:
    """The most frequent first."""
    return {"bank": _bank_name(memory, bank), "keywords": memory.browse.keywords(bank, limit)}


@router.task("GET /keywords/leads", model_of(KeywordHits), "What words lead to")
def leads(memory: Holdfast, words: QueryText, bank: Bank = "all", limit: Limit = 10) -> Json:
    """Facts, concepts and exchanges that bear these words."""
    found = memory.browse.keyword(words, bank, limit)
    return json_shapes.keyword_hits_json(
        found, _bank_name(memory, bank), memory.context.bank_names()
    )


@router.task("GET /entities", page_model("entities", _Entity), "Entities")
def entities(
    memory: Holdfast,
    bank: Bank = "all",
    kind: EntityKind | None = None,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Json:
    """Who and what is involved; those in most records first."""
    page, more = entities_page(memory, bank, kind.value if kind else "", limit, cursor)
    return {"entities": [json_shapes.entity_json(one) for one in page], "cursor": more}


@router.task(
    "GET /entities/about",
    open_model(
        "EntityAbout", entity=_Entity, records=list[Any], together=list[Any], links=list[Any]
    ),
    "One entity",
)
def entity(memory: Holdfast, name: QueryText, bank: Bank = "all", limit: Limit = 10) -> Json:
    """By any of its spellings, its URI or its id: what mentions it, what occurs with it, and how
    that is linked."""
    return json_shapes.entity_details_json(memory.browse.about_entity(name, bank, limit))


@router.task(
    "GET /entities/communities",
    open_model("Communities", communities=list[list[_Entity]]),
    "Entities that occur together",
    MemoryPool.run,
)
def communities(memory: Holdfast, bank: Bank = "all", limit: Limit = 20) -> Json:
    """The largest groups first."""
    groups = memory.browse.communities(bank)[:limit]
    return {"communities": [[json_shapes.entity_json(one) for one in group] for group in groups]}


class EntityMerge(RequestBody):
    """Two names of one entity."""

    name: str = Field(min_length=1, max_length=300, examples=["the auth provider"])
    into: str = Field(min_length=1, max_length=300, examples=["AuthProvider"])
    bank: str = Field("all", max_length=200)


class EntitySplit(RequestBody):
    """A name that stands by itself."""

    name: str = Field(min_length=1, max_length=300)
    alias: str = Field(min_length=1, max_length=300)
    bank: str = Field("all", max_length=200)


_Decided = open_model("EntityDecided", decision=Curation, entity=_Entity)


@router.task("POST /entities/merge", _Decided, "Let two entities be one")
def merge_entities(memory: Holdfast, body: EntityMerge) -> Json:
    """Each named by any of its spellings; `POST /undo` takes it back."""
    decision = memory.curation.merge_entities(body.name, body.into, body.bank, author())
    return _decided_entity(memory, decision, body)


@router.task("POST /entities/split", _Decided, "Let a spelling stand by itself")
def split_entity(memory: Holdfast, body: EntitySplit) -> Json:
    """`POST /undo` takes it back."""
    decision = memory.curation.split_entity(body.name, body.alias, body.bank, author())
    return _decided_entity(memory, decision, body)


def _decided_entity(memory: Holdfast, decision: Curation, body: EntityMerge | EntitySplit) -> Json:
    entity = memory.browse.entity(body.name, body.bank)
    return {"decision": decision, "entity": json_shapes.entity_json(entity)}


@router.task("GET /opinions", page_model("opinions", model_with_uri(Opinion), bank=str), "Opinions")
def opinions(
    memory: Holdfast, bank: Bank = "all", all: bool = False, limit: Limit = 50, cursor: Cursor = ""
) -> Json:
    """What is believed, the firmest first; with `all` also what has faded."""
    known = memory.opinions.opinions(bank, all)
    page = paginate(known, lambda one: (one.confidence, one.id, one.bank), limit, cursor)
    return {"bank": _bank_name(memory, bank), **page_json("opinions", "memory", page)}


@router.task("GET /memories", page_model("memories", model_with_uri(Memory)), "Memories")
def memories(
    memory: Holdfast,
    bank: Bank = "all",
    kind: Kind | None = None,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Json:
    """What was remembered and retained, the latest first; of one kind, if one is named."""
    found = memories_page(memory, bank, kind.value if kind else "", limit, cursor)
    return page_json("memories", "memory", found)


_MemoryText = Annotated[
    str, Field(min_length=1, max_length=20_000, examples=["Releases are tagged on Thursdays."])
]
_BankName = Annotated[str, Field(min_length=1, max_length=200, examples=["checkout"])]


class Remembered(RequestBody):
    """A text to keep."""

    text: _MemoryText
    bank: _BankName


class Retained(RequestBody):
    """A text to keep, and as what."""

    text: _MemoryText
    bank: _BankName
    network: Network | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    where: str = Field("", max_length=2000)
    why: str = Field("", max_length=2000)


def _stored_memory_json(memory: Holdfast, stored: Memory) -> Json:
    return json_shapes.memory_json(stored, memory.context.bank_name(stored.bank))


@router.task("POST /memories", _StoredMemory, "Remember a text", status=201)
def remember(memory: Holdfast, body: Remembered) -> Json:
    """Kept with the secrets out; the same text is kept once."""
    return _stored_memory_json(memory, memory.remember(body.text, body.bank, author()))


@router.task("POST /memories/retain", _StoredMemory, "Retain a text", status=201)
def retain(memory: Holdfast, body: Retained) -> Json:
    """As a memory of a network, or of the one that its words propose. An opinion needs a
    confidence if its network is named."""
    s = body
    stored = memory.retain(s.text, s.network or "", s.confidence, s.where, s.why, s.bank, author())
    return _stored_memory_json(memory, stored)


@router.task("GET /exchanges", page_model("exchanges", model_with_uri(Exchange)), "Exchanges")
def exchanges(memory: Holdfast, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = "") -> Json:
    """Of all sessions, the latest first."""
    found = latest_records(memory, "exchange", bank, limit, cursor)
    return page_json("exchanges", "exchange", found)


@router.task("GET /commits", page_model("commits", model_with_uri(Commit)), "Commits")
def commits(memory: Holdfast, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = "") -> Json:
    """Of the histories that were read, the latest first. `GET /records/commit/{sha}` tells all of
    one."""
    found = latest_records(memory, "commit", bank, limit, cursor)
    return page_json("commits", "commit", found)


@router.task(
    "GET /audit",
    open_model("Audit", bank=str, **get_type_hints(AuditReport)),
    "Records about code that has changed since",
    MemoryPool.run,
)
def stale(
    memory: Holdfast,
    bank: Bank = "all",
    file: Annotated[str, Query(max_length=1000)] = "",
    limit: Limit = 50,
) -> Json:
    """Facts, memories, decisions and rules held against the code, the most changed first."""
    found = audit(memory.reader, memory.context.bank_id(bank), file)
    shown = found._replace(stale=found.stale[:limit])
    return {"bank": _bank_name(memory, bank), **to_jsonable(shown)}
