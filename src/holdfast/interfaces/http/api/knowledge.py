"""What is known: facts, concepts, keywords, entities, opinions, memories, commits."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.app.search.audit import Audited, audit
from holdfast.interfaces.http.api.handling import (
    Asking,
    Bank,
    Cursor,
    Id,
    Limit,
    Sent,
    Told,
    Words,
    paged,
)
from holdfast.interfaces.http.api.listing import concepts_page, entities_page, facts_page, latest
from holdfast.interfaces.http.api.schema import described, model_of, named, page_of, with_fields
from holdfast.model.curation import Curation
from holdfast.model.graph import Entity, EntityKind
from holdfast.model.knowledge import Fact, FactKind, Memory, Network
from holdfast.model.opinions import Opinion
from holdfast.model.records import Exchange
from holdfast.model.team import Commit
from holdfast.model.to_json import plain
from holdfast.model.uris import uri
from holdfast.recall.lookup.topics import Leads
from holdfast.store.protocol.concepts import Keyword

router = APIRouter(tags=["knowledge"])
_Concept = with_fields(
    "ConceptTold",
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
_Kept = with_fields("Kept", "A memory that was kept.", uri=str, bank=str, record=Memory)
_Entity = named(Entity, "bank")


@router.get(
    "/facts",
    response_model=page_of("facts", named(Fact), bank=str, dropped=dict[str, int]),
    summary="Facts: rules, solutions, core logic",
)
async def facts(
    asked: Asking,
    bank: Bank = "all",
    kind: FactKind | None = None,
    all: bool = False,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Response:
    """Those in force, the latest first; with `all` also those that ended."""
    wanted = kind.value if kind is not None else ""

    def found(memory: Holdfast) -> Told:
        id = memory.bank_id(bank)
        page, more = facts_page(memory, bank, wanted, all, limit, cursor)
        return {
            "bank": memory.bank_name(id),
            "facts": [json_shapes.named("fact", fact) for fact in page],
            "dropped": memory.reader.dropped(id),
            "cursor": more,
        }

    return await asked.read(found)


@router.get("/concepts", response_model=page_of("concepts", _Concept, bank=str), summary="Concepts")
async def concepts(
    asked: Asking, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = ""
) -> Response:
    """What a project is about; the one that was touched last first."""

    def found(memory: Holdfast) -> Told:
        names = memory.bank_names()
        page, more = concepts_page(memory, bank, limit, cursor)
        return {
            "bank": memory.bank_name(memory.bank_id(bank)),
            "concepts": [json_shapes.concept(one, names) for one in page],
            "cursor": more,
        }

    return await asked.read(found)


@router.get("/concepts/{id:path}", response_model=_Concept, summary="One concept")
async def concept(asked: Asking, id: Id, bank: Bank = "all") -> Response:
    """By its name, a part of it, or its id; with its history and its members."""

    def found(memory: Holdfast) -> Told:
        one = memory.concept(id, bank)
        return json_shapes.whole_concept(
            one, memory.show(uri("concept", one.id)), memory.bank_names()
        )

    return await asked.read(found)


@router.get(
    "/keywords",
    response_model=with_fields("Keywords", bank=str, keywords=list[Keyword]),
    summary="The keywords of a bank",
)
async def keywords(asked: Asking, bank: Bank = "all", limit: Limit = 50) -> Response:
    """The most frequent first."""

    def found(memory: Holdfast) -> Told:
        name = memory.bank_name(memory.bank_id(bank))
        return {"bank": name, "keywords": memory.keywords(bank, limit)}

    return await asked.read(found)


@router.get("/keywords/leads", response_model=model_of(Leads), summary="What words lead to")
async def leads(asked: Asking, words: Words, bank: Bank = "all", limit: Limit = 10) -> Response:
    """Facts, concepts and exchanges that bear these words."""

    def found(memory: Holdfast) -> Told:
        name = memory.bank_name(memory.bank_id(bank))
        return json_shapes.leads(memory.keyword(words, bank, limit), name, memory.bank_names())

    return await asked.read(found)


@router.get("/entities", response_model=page_of("entities", _Entity), summary="Entities")
async def entities(
    asked: Asking,
    bank: Bank = "all",
    kind: EntityKind | None = None,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Response:
    """Who and what is involved; those in most records first."""
    wanted = kind.value if kind is not None else ""

    def found(memory: Holdfast) -> Told:
        page, more = entities_page(memory, bank, wanted, limit, cursor)
        return {"entities": [json_shapes.entity(one) for one in page], "cursor": more}

    return await asked.read(found)


@router.get(
    "/entities/about",
    response_model=with_fields(
        "EntityAbout", entity=_Entity, records=list[Any], together=list[Any], links=list[Any]
    ),
    summary="One entity",
)
async def entity(asked: Asking, name: Words, bank: Bank = "all", limit: Limit = 10) -> Response:
    """By any of its spellings, its URI or its id: what mentions it, what occurs with it, and how
    that is linked."""
    return await asked.read(
        lambda memory: json_shapes.about(memory.about_entity(name, bank, limit))
    )


@router.get(
    "/entities/communities",
    response_model=with_fields("Communities", communities=list[list[_Entity]]),
    summary="Entities that occur together",
)
async def communities(asked: Asking, bank: Bank = "all", limit: Limit = 20) -> Response:
    """The largest groups first."""

    def found(memory: Holdfast) -> Told:
        groups = memory.communities(bank)[:limit]
        return {"communities": [[json_shapes.entity(one) for one in group] for group in groups]}

    return await asked.work(found)


class OneEntity(Sent):
    """Two names of one entity."""

    name: str = Field(min_length=1, max_length=300, examples=["the auth provider"])
    into: str = Field(min_length=1, max_length=300, examples=["AuthProvider"])
    bank: str = Field("all", max_length=200)


class OwnEntity(Sent):
    """A name that stands by itself."""

    name: str = Field(min_length=1, max_length=300)
    alias: str = Field(min_length=1, max_length=300)
    bank: str = Field("all", max_length=200)


_Decided = with_fields("EntityDecided", decision=Curation, entity=_Entity)


@router.post("/entities/merge", response_model=_Decided, summary="Let two entities be one")
async def merge_entities(asked: Asking, sent: OneEntity) -> Response:
    """Each named by any of its spellings; `POST /undo` takes it back."""

    def done(memory: Holdfast) -> Told:
        told = memory.merge_entities(sent.name, sent.into, sent.bank, asked.who)
        return {"decision": told, "entity": json_shapes.entity(memory.entity(sent.name, sent.bank))}

    return await asked.work(done)


@router.post("/entities/split", response_model=_Decided, summary="Let a spelling stand by itself")
async def split_entity(asked: Asking, sent: OwnEntity) -> Response:
    """`POST /undo` takes it back."""

    def done(memory: Holdfast) -> Told:
        told = memory.split_entity(sent.name, sent.alias, sent.bank, asked.who)
        return {"decision": told, "entity": json_shapes.entity(memory.entity(sent.name, sent.bank))}

    return await asked.work(done)


@router.get(
    "/opinions", response_model=page_of("opinions", named(Opinion), bank=str), summary="Opinions"
)
async def opinions(
    asked: Asking, bank: Bank = "all", all: bool = False, limit: Limit = 50, cursor: Cursor = ""
) -> Response:
    """What is believed, the firmest first; with `all` also what has faded."""

    def found(memory: Holdfast) -> Told:
        known = memory.opinions(bank, all)
        page, more = paged(known, lambda one: (one.confidence, one.id, one.bank), limit, cursor)
        return {
            "bank": memory.bank_name(memory.bank_id(bank)),
            "opinions": [json_shapes.named("memory", one) for one in page],
            "cursor": more,
        }

    return await asked.read(found)


@router.get("/memories", response_model=page_of("memories", named(Memory)), summary="Memories")
async def memories(
    asked: Asking, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = ""
) -> Response:
    """What was remembered and retained, the latest first."""
    return await asked.read(lambda memory: latest(memory, "memory", bank, limit, cursor))


class Remembered(Sent):
    """A text to keep."""

    text: str = Field(
        min_length=1, max_length=20_000, examples=["Releases are tagged on Thursdays."]
    )
    bank: str = Field(min_length=1, max_length=200, examples=["checkout"])


class Retained(Remembered):
    """A text to keep, and as what."""

    network: Network = Network.WORLD
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    where: str = Field("", max_length=2000)
    why: str = Field("", max_length=2000)


def _kept(memory: Holdfast, kept: Memory) -> Told:
    return json_shapes.kept(kept, memory.bank_name(kept.bank))


@router.post("/memories", status_code=201, response_model=_Kept, summary="Remember a text")
async def remember(asked: Asking, sent: Remembered) -> Response:
    """Kept with the secrets out; the same text is kept once."""

    def done(memory: Holdfast) -> Told:
        return _kept(memory, memory.remember(sent.text, sent.bank, asked.who))

    return await asked.work(done, 201)


@router.post("/memories/retain", status_code=201, response_model=_Kept, summary="Retain a text")
async def retain(asked: Asking, sent: Retained) -> Response:
    """As a memory of a network; an opinion needs a confidence."""

    def done(memory: Holdfast) -> Told:
        s = sent
        kept = memory.retain(s.text, s.network, s.confidence, s.where, s.why, s.bank, asked.who)
        return _kept(memory, kept)

    return await asked.work(done, 201)


@router.get("/exchanges", response_model=page_of("exchanges", named(Exchange)), summary="Exchanges")
async def exchanges(
    asked: Asking, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = ""
) -> Response:
    """Of all sessions, the latest first."""
    return await asked.read(lambda memory: latest(memory, "exchange", bank, limit, cursor))


@router.get("/commits", response_model=page_of("commits", named(Commit)), summary="Commits")
async def commits(
    asked: Asking, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = ""
) -> Response:
    """Of the histories that were read, the latest first. `GET /records/commit/{sha}` tells all of
    one."""
    return await asked.read(lambda memory: latest(memory, "commit", bank, limit, cursor))


@router.get(
    "/audit",
    response_model=with_fields(
        "Audit",
        bank=str,
        stale=list[described(Audited)],
        fresh=int,
        unknown=int,
        about_no_file=int,
        histories=int,
    ),
    summary="What speaks of code that is not what it was",
)
async def stale(
    asked: Asking,
    bank: Bank = "all",
    file: Annotated[str, Query(max_length=1000)] = "",
    limit: Limit = 50,
) -> Response:
    """Facts, memories, decisions and rules held against the code, the most changed first."""

    def found(memory: Holdfast) -> Told:
        id = memory.bank_id(bank)
        told = audit(memory.reader, id, file)
        shown = told._replace(stale=told.stale[:limit])
        return {"bank": memory.bank_name(id), **plain(shown)}

    return await asked.work(found)
