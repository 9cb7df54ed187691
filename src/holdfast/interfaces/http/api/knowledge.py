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

router = ApiRouter("knowledge")
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
_StoredMemory = open_model("Kept", "A saved memory.", uri=str, bank=str, record=Memory)
_Entity = model_with_uri(Entity, "bank")


@router.task(
    "GET /facts",
    page_model("facts", model_with_uri(Fact), bank=str, dropped=dict[str, int]),
    "List facts",
)
def facts(
    memory: Holdfast,
    bank: Bank = "all",
    kind: FactKind | Kind | None = None,
    all: bool = False,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Json:
    """Rules, solutions and core logic in force, the latest first; with `all` also superseded and
    retracted ones. As a `kind`, `lesson` includes solutions, and `fact` core logic."""
    found = facts_page(memory, bank, kind.value if kind else "", all, limit, cursor)
    return {
        "bank": _bank_name(memory, bank),
        **page_json("facts", "fact", found),
        "dropped": memory.reader.facts.dropped_claims(memory.context.bank_id(bank)),
    }


@router.task("GET /concepts", page_model("concepts", _Concept, bank=str), "List concepts")
def concepts(memory: Holdfast, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = "") -> Json:
    """The topics of a project, the latest changed first."""
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


@router.task("GET /concepts/{id:path}", _Concept, "Get a concept")
def concept(memory: Holdfast, id: Id, bank: Bank = "all") -> Json:
    """By its name, a part of the name, or its id; with its history and members."""
    one = memory.browse.concept(id, bank)
    return json_shapes.concept_details_json(
        one, memory.show(uri("concept", one.id)), memory.context.bank_names()
    )


@router.task(
    "GET /keywords",
    open_model("Keywords", bank=str, keywords=list[Keyword]),
    "List keywords",
)
def keywords(memory: Holdfast, bank: Bank = "all", limit: Limit = 50) -> Json:
    """Those of a bank, the most frequent first."""
    return {"bank": _bank_name(memory, bank), "keywords": memory.browse.keywords(bank, limit)}


@router.task("GET /keywords/leads", model_of(KeywordHits), "Find records by keywords")
def leads(memory: Holdfast, words: QueryText, bank: Bank = "all", limit: Limit = 10) -> Json:
    """Facts, concepts and exchanges with these keywords."""
    found = memory.browse.keyword(words, bank, limit)
    return json_shapes.keyword_hits_json(
        found, _bank_name(memory, bank), memory.context.bank_names()
    )


@router.task("GET /entities", page_model("entities", _Entity), "List entities")
def entities(
    memory: Holdfast,
    bank: Bank = "all",
    kind: EntityKind | None = None,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Json:
    """People, components, files and concepts; those in most records first."""
    page, more = entities_page(memory, bank, kind.value if kind else "", limit, cursor)
    return {"entities": [json_shapes.entity_json(one) for one in page], "cursor": more}


@router.task(
    "GET /entities/about",
    open_model(
        "EntityAbout", entity=_Entity, records=list[Any], together=list[Any], links=list[Any]
    ),
    "Get an entity",
)
def entity(memory: Holdfast, name: QueryText, bank: Bank = "all", limit: Limit = 10) -> Json:
    """By any of its names, its URI or its id: the records that mention it, entities that occur
    with it, and links."""
    return json_shapes.entity_details_json(memory.browse.about_entity(name, bank, limit))


class EntityMerge(RequestBody):
    """Two names of one entity."""

    name: str = Field(min_length=1, max_length=300, examples=["the auth provider"])
    into: str = Field(min_length=1, max_length=300, examples=["AuthProvider"])
    bank: str = Field("all", max_length=200)


class EntitySplit(RequestBody):
    """A name to separate from an entity."""

    name: str = Field(min_length=1, max_length=300)
    alias: str = Field(min_length=1, max_length=300)
    bank: str = Field("all", max_length=200)


_Decided = open_model("EntityDecided", decision=Curation, entity=_Entity)


@router.task("POST /entities/merge", _Decided, "Merge two entities")
def merge_entities(memory: Holdfast, body: EntityMerge) -> Json:
    """Each is given by any of its names. `POST /undo` reverts it."""
    decision = memory.curation.merge_entities(body.name, body.into, body.bank, author())
    return _decided_entity(memory, decision, body)


@router.task("POST /entities/split", _Decided, "Split a name from an entity")
def split_entity(memory: Holdfast, body: EntitySplit) -> Json:
    """`POST /undo` reverts it."""
    decision = memory.curation.split_entity(body.name, body.alias, body.bank, author())
    return _decided_entity(memory, decision, body)


def _decided_entity(memory: Holdfast, decision: Curation, body: EntityMerge | EntitySplit) -> Json:
    entity = memory.browse.entity(body.name, body.bank)
    return {"decision": decision, "entity": json_shapes.entity_json(entity)}


@router.task(
    "GET /opinions", page_model("opinions", model_with_uri(Opinion), bank=str), "List opinions"
)
def opinions(
    memory: Holdfast, bank: Bank = "all", all: bool = False, limit: Limit = 50, cursor: Cursor = ""
) -> Json:
    """The highest confidence first; with `all` also those that no longer count."""
    known = memory.opinions.opinions(bank, all)
    page = paginate(known, lambda one: (one.confidence, one.id, one.bank), limit, cursor)
    return {"bank": _bank_name(memory, bank), **page_json("opinions", "memory", page)}


@router.task("GET /memories", page_model("memories", model_with_uri(Memory)), "List memories")
def memories(
    memory: Holdfast,
    bank: Bank = "all",
    kind: Kind | None = None,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Json:
    """The latest first; with `kind` only memories of that kind."""
    found = memories_page(memory, bank, kind.value if kind else "", limit, cursor)
    return page_json("memories", "memory", found)


_MemoryText = Annotated[
    str, Field(min_length=1, max_length=20_000, examples=["Releases are tagged on Thursdays."])
]
_BankName = Annotated[str, Field(min_length=1, max_length=200, examples=["checkout"])]


class Remembered(RequestBody):
    """A text to save."""

    text: _MemoryText
    bank: _BankName


class Retained(RequestBody):
    """A text to save, with its network."""

    text: _MemoryText
    bank: _BankName
    network: Network | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    where: str = Field("", max_length=2000)
    why: str = Field("", max_length=2000)


def _stored_memory_json(memory: Holdfast, stored: Memory) -> Json:
    return json_shapes.memory_json(stored, memory.context.bank_name(stored.bank))


@router.task("POST /memories", _StoredMemory, "Save a text", status=201)
def remember(memory: Holdfast, body: Remembered) -> Json:
    """Secrets are redacted. The same text is saved once."""
    return _stored_memory_json(memory, memory.remember(body.text, body.bank, author()))


@router.task("POST /memories/retain", _StoredMemory, "Save a text in a network", status=201)
def retain(memory: Holdfast, body: Retained) -> Json:
    """Without `network`, it is chosen by the wording. With the network `opinion`, `confidence` is
    required."""
    s = body
    stored = memory.retain(s.text, s.network or "", s.confidence, s.where, s.why, s.bank, author())
    return _stored_memory_json(memory, stored)


@router.task("GET /exchanges", page_model("exchanges", model_with_uri(Exchange)), "List exchanges")
def exchanges(memory: Holdfast, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = "") -> Json:
    """Those of all sessions, the latest first."""
    found = latest_records(memory, "exchange", bank, limit, cursor)
    return page_json("exchanges", "exchange", found)


@router.task("GET /commits", page_model("commits", model_with_uri(Commit)), "List commits")
def commits(memory: Holdfast, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = "") -> Json:
    """Those of all histories that were read, the latest first. `GET /records/commit/{sha}` has the
    details of one."""
    found = latest_records(memory, "commit", bank, limit, cursor)
    return page_json("commits", "commit", found)


@router.task(
    "GET /audit",
    open_model("Audit", bank=str, **get_type_hints(AuditReport)),
    "List outdated records",
    MemoryPool.run,
)
def stale(
    memory: Holdfast,
    bank: Bank = "all",
    file: Annotated[str, Query(max_length=1000)] = "",
    limit: Limit = 50,
) -> Json:
    """Facts, memories, decisions and rules whose code has changed, the most changed first."""
    found = audit(memory.reader, memory.context.bank_id(bank), file)
    shown = found._replace(stale=found.stale[:limit])
    return {"bank": _bank_name(memory, bank), **to_jsonable(shown)}
