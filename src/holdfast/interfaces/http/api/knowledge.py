"""Facts, concepts, keywords, entities, opinions, memories, commits and the code audit."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.app.search.audit import StaleRecord, audit
from holdfast.interfaces.http.api.listing import concepts_page, entities_page, facts_page, latest
from holdfast.interfaces.http.api.requests import (
    ApiRequestDep,
    Bank,
    Cursor,
    Id,
    JsonObject,
    Limit,
    QueryText,
    RequestBody,
    paginate,
)
from holdfast.interfaces.http.api.schema import (
    model_of,
    model_with_uri,
    open_model,
    page_model,
    schema_type,
)
from holdfast.model.curation import Curation
from holdfast.model.graph import Entity, EntityKind
from holdfast.model.knowledge import Fact, FactKind, Memory, Network
from holdfast.model.opinions import Opinion
from holdfast.model.records import Exchange
from holdfast.model.team import Commit
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import uri
from holdfast.recall.lookup.topics import KeywordHits
from holdfast.store.protocol.concepts import Keyword

router = APIRouter(tags=["knowledge"])
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


@router.get(
    "/facts",
    response_model=page_model("facts", model_with_uri(Fact), bank=str, dropped=dict[str, int]),
    summary="Facts: rules, solutions, core logic",
)
async def facts(
    request: ApiRequestDep,
    bank: Bank = "all",
    kind: FactKind | None = None,
    all: bool = False,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Response:
    """Those in force, the latest first; with `all` also those that ended."""
    wanted = kind.value if kind is not None else ""

    def load(memory: Holdfast) -> JsonObject:
        id = memory.context.bank_id(bank)
        page, more = facts_page(memory, bank, wanted, all, limit, cursor)
        return {
            "bank": memory.context.bank_name(id),
            "facts": [json_shapes.record_json("fact", fact) for fact in page],
            "dropped": memory.reader.dropped_claims(id),
            "cursor": more,
        }

    return await request.read(load)


@router.get(
    "/concepts", response_model=page_model("concepts", _Concept, bank=str), summary="Concepts"
)
async def concepts(
    request: ApiRequestDep, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = ""
) -> Response:
    """What a project is about; the one that was touched last first."""

    def load(memory: Holdfast) -> JsonObject:
        names = memory.context.bank_names()
        page, more = concepts_page(memory, bank, limit, cursor)
        return {
            "bank": memory.context.bank_name(memory.context.bank_id(bank)),
            "concepts": [json_shapes.concept_json(one, names) for one in page],
            "cursor": more,
        }

    return await request.read(load)


@router.get("/concepts/{id:path}", response_model=_Concept, summary="One concept")
async def concept(request: ApiRequestDep, id: Id, bank: Bank = "all") -> Response:
    """By its name, a part of it, or its id; with its history and its members."""

    def load(memory: Holdfast) -> JsonObject:
        one = memory.browse.concept(id, bank)
        return json_shapes.concept_details_json(
            one, memory.show(uri("concept", one.id)), memory.context.bank_names()
        )

    return await request.read(load)


@router.get(
    "/keywords",
    response_model=open_model("Keywords", bank=str, keywords=list[Keyword]),
    summary="The keywords of a bank",
)
async def keywords(request: ApiRequestDep, bank: Bank = "all", limit: Limit = 50) -> Response:
    """The most frequent first."""

    def load(memory: Holdfast) -> JsonObject:
        name = memory.context.bank_name(memory.context.bank_id(bank))
        return {"bank": name, "keywords": memory.browse.keywords(bank, limit)}

    return await request.read(load)


@router.get("/keywords/leads", response_model=model_of(KeywordHits), summary="What words lead to")
async def leads(
    request: ApiRequestDep, words: QueryText, bank: Bank = "all", limit: Limit = 10
) -> Response:
    """Facts, concepts and exchanges that bear these words."""

    def load(memory: Holdfast) -> JsonObject:
        name = memory.context.bank_name(memory.context.bank_id(bank))
        return json_shapes.keyword_hits_json(
            memory.browse.keyword(words, bank, limit), name, memory.context.bank_names()
        )

    return await request.read(load)


@router.get("/entities", response_model=page_model("entities", _Entity), summary="Entities")
async def entities(
    request: ApiRequestDep,
    bank: Bank = "all",
    kind: EntityKind | None = None,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Response:
    """Who and what is involved; those in most records first."""
    wanted = kind.value if kind is not None else ""

    def load(memory: Holdfast) -> JsonObject:
        page, more = entities_page(memory, bank, wanted, limit, cursor)
        return {"entities": [json_shapes.entity_json(one) for one in page], "cursor": more}

    return await request.read(load)


@router.get(
    "/entities/about",
    response_model=open_model(
        "EntityAbout", entity=_Entity, records=list[Any], together=list[Any], links=list[Any]
    ),
    summary="One entity",
)
async def entity(
    request: ApiRequestDep, name: QueryText, bank: Bank = "all", limit: Limit = 10
) -> Response:
    """By any of its spellings, its URI or its id: what mentions it, what occurs with it, and how
    that is linked."""
    return await request.read(
        lambda memory: json_shapes.entity_details_json(
            memory.browse.about_entity(name, bank, limit)
        )
    )


@router.get(
    "/entities/communities",
    response_model=open_model("Communities", communities=list[list[_Entity]]),
    summary="Entities that occur together",
)
async def communities(request: ApiRequestDep, bank: Bank = "all", limit: Limit = 20) -> Response:
    """The largest groups first."""

    def load(memory: Holdfast) -> JsonObject:
        groups = memory.browse.communities(bank)[:limit]
        return {
            "communities": [[json_shapes.entity_json(one) for one in group] for group in groups]
        }

    return await request.run(load)


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


@router.post("/entities/merge", response_model=_Decided, summary="Let two entities be one")
async def merge_entities(request: ApiRequestDep, body: EntityMerge) -> Response:
    """Each named by any of its spellings; `POST /undo` takes it back."""

    def change(memory: Holdfast) -> JsonObject:
        decision = memory.curation.merge_entities(body.name, body.into, body.bank, request.who)
        return {
            "decision": decision,
            "entity": json_shapes.entity_json(memory.browse.entity(body.name, body.bank)),
        }

    return await request.run(change)


@router.post("/entities/split", response_model=_Decided, summary="Let a spelling stand by itself")
async def split_entity(request: ApiRequestDep, body: EntitySplit) -> Response:
    """`POST /undo` takes it back."""

    def change(memory: Holdfast) -> JsonObject:
        decision = memory.curation.split_entity(body.name, body.alias, body.bank, request.who)
        return {
            "decision": decision,
            "entity": json_shapes.entity_json(memory.browse.entity(body.name, body.bank)),
        }

    return await request.run(change)


@router.get(
    "/opinions",
    response_model=page_model("opinions", model_with_uri(Opinion), bank=str),
    summary="Opinions",
)
async def opinions(
    request: ApiRequestDep,
    bank: Bank = "all",
    all: bool = False,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Response:
    """What is believed, the firmest first; with `all` also what has faded."""

    def load(memory: Holdfast) -> JsonObject:
        known = memory.opinions.opinions(bank, all)
        page, more = paginate(known, lambda one: (one.confidence, one.id, one.bank), limit, cursor)
        return {
            "bank": memory.context.bank_name(memory.context.bank_id(bank)),
            "opinions": [json_shapes.record_json("memory", one) for one in page],
            "cursor": more,
        }

    return await request.read(load)


@router.get(
    "/memories", response_model=page_model("memories", model_with_uri(Memory)), summary="Memories"
)
async def memories(
    request: ApiRequestDep, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = ""
) -> Response:
    """What was remembered and retained, the latest first."""
    return await request.read(lambda memory: latest(memory, "memory", bank, limit, cursor))


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
    network: Network = Network.WORLD
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    where: str = Field("", max_length=2000)
    why: str = Field("", max_length=2000)


def _stored_memory_json(memory: Holdfast, stored: Memory) -> JsonObject:
    return json_shapes.memory_json(stored, memory.context.bank_name(stored.bank))


@router.post("/memories", status_code=201, response_model=_StoredMemory, summary="Remember a text")
async def remember(request: ApiRequestDep, body: Remembered) -> Response:
    """Kept with the secrets out; the same text is kept once."""

    def change(memory: Holdfast) -> JsonObject:
        return _stored_memory_json(memory, memory.remember(body.text, body.bank, request.who))

    return await request.run(change, 201)


@router.post(
    "/memories/retain", status_code=201, response_model=_StoredMemory, summary="Retain a text"
)
async def retain(request: ApiRequestDep, body: Retained) -> Response:
    """As a memory of a network; an opinion needs a confidence."""

    def change(memory: Holdfast) -> JsonObject:
        s = body
        stored = memory.retain(s.text, s.network, s.confidence, s.where, s.why, s.bank, request.who)
        return _stored_memory_json(memory, stored)

    return await request.run(change, 201)


@router.get(
    "/exchanges",
    response_model=page_model("exchanges", model_with_uri(Exchange)),
    summary="Exchanges",
)
async def exchanges(
    request: ApiRequestDep, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = ""
) -> Response:
    """Of all sessions, the latest first."""
    return await request.read(lambda memory: latest(memory, "exchange", bank, limit, cursor))


@router.get(
    "/commits", response_model=page_model("commits", model_with_uri(Commit)), summary="Commits"
)
async def commits(
    request: ApiRequestDep, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = ""
) -> Response:
    """Of the histories that were read, the latest first. `GET /records/commit/{sha}` tells all of
    one."""
    return await request.read(lambda memory: latest(memory, "commit", bank, limit, cursor))


@router.get(
    "/audit",
    response_model=open_model(
        "Audit",
        bank=str,
        stale=list[schema_type(StaleRecord)],
        fresh=int,
        unknown=int,
        about_no_file=int,
        histories=int,
    ),
    summary="What speaks of code that is not what it was",
)
async def stale(
    request: ApiRequestDep,
    bank: Bank = "all",
    file: Annotated[str, Query(max_length=1000)] = "",
    limit: Limit = 50,
) -> Response:
    """Facts, memories, decisions and rules held against the code, the most changed first."""

    def load(memory: Holdfast) -> JsonObject:
        id = memory.context.bank_id(bank)
        decision = audit(memory.reader, id, file)
        shown = decision._replace(stale=decision.stale[:limit])
        return {"bank": memory.context.bank_name(id), **to_jsonable(shown)}

    return await request.run(load)
