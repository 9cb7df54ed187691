"""The queries and mutations of GraphQL, and the execution of a request."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeVar

import strawberry
from graphql import GraphQLError, GraphQLSyntaxError, parse
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext

from holdfast.app.answers.ask import AskOptions
from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.app.views.decision_log import channel_of
from holdfast.errors import HoldfastError, InputError
from holdfast.interfaces.http.api.listing import (
    Page,
    concepts_page,
    decisions_page,
    entities_page,
    facts_page,
    latest_records,
)
from holdfast.interfaces.http.api.sessions import find_session
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.graphql import knowledge_types, limits, types
from holdfast.interfaces.http.graphql.permissions import PermissionCheck, error_code
from holdfast.interfaces.http.graphql.types import Context, GraphInfo, clamp_limit, make_node
from holdfast.model.curation import Curation
from holdfast.model.query import Layer
from holdfast.model.to_json import to_jsonable
from holdfast.recall.core.plan import Budget, Plan
from holdfast.store.protocol import Record

T = TypeVar("T")
EnumT = TypeVar("EnumT", bound=StrEnum)


@strawberry.type
class Query:
    """What can be asked. `bank` is a name or an id; `all` is every one."""

    @strawberry.field
    async def banks(self, info: GraphInfo) -> list[types.Bank]:
        """Every bank, by name."""
        found = await info.context.read(lambda memory: memory.banks.all())
        return [types.bank_node(bank) for bank in found]

    @strawberry.field
    async def bank(self, info: GraphInfo, name: str) -> types.Bank:
        """One bank."""
        return types.bank_node(await info.context.read(lambda memory: memory.banks.get(name)))

    @strawberry.field
    async def sessions(
        self, info: GraphInfo, bank: str = "all", limit: int = 50, cursor: str = ""
    ) -> types.Sessions:
        """The latest first."""
        return await info.context.read(lambda m: types.sessions_in(m, bank, limit, cursor))

    @strawberry.field
    async def session(self, info: GraphInfo, id: str) -> types.Session:
        """One session, with its messages and exchanges."""
        return make_node(
            types.Session, "session", await info.context.read(lambda m: find_session(m, id))
        )

    @strawberry.field
    async def messages(
        self, info: GraphInfo, session: str, first: int = 0, limit: int = 100
    ) -> list[types.Message]:
        """The messages of a session, from a place on."""

        def load(memory: Holdfast) -> list[types.Message]:
            one = find_session(memory, session)
            rest = memory.reader.turns_from(one.bank, one.id, max(0, first))
            limited = zip(rest, range(clamp_limit(limit)), strict=False)
            return [make_node(types.Message, "turn", turn) for turn, _ in limited]

        return await info.context.read(load)

    @strawberry.field
    async def exchanges(
        self, info: GraphInfo, bank: str = "all", limit: int = 50, cursor: str = ""
    ) -> types.Exchanges:
        """Of all sessions, the latest first."""
        items, more = await _latest_page(info, types.Exchange, "exchange", bank, limit, cursor)
        return types.Exchanges(items=items, cursor=more)

    @strawberry.field
    async def memories(
        self, info: GraphInfo, bank: str = "all", limit: int = 50, cursor: str = ""
    ) -> knowledge_types.Memories:
        """What was remembered and retained, the latest first."""
        items, more = await _latest_page(
            info, knowledge_types.Memory, "memory", bank, limit, cursor
        )
        return knowledge_types.Memories(items=items, cursor=more)

    @strawberry.field
    async def commits(
        self, info: GraphInfo, bank: str = "all", limit: int = 50, cursor: str = ""
    ) -> knowledge_types.Commits:
        """Of the histories that were read, the latest first."""
        items, more = await _latest_page(
            info, knowledge_types.Commit, "commit", bank, limit, cursor
        )
        return knowledge_types.Commits(items=items, cursor=more)

    @strawberry.field
    async def concepts(
        self, info: GraphInfo, bank: str = "all", limit: int = 50, cursor: str = ""
    ) -> knowledge_types.Concepts:
        """The one that was touched last first."""

        def load(memory: Holdfast) -> knowledge_types.Concepts:
            names = memory.context.bank_names()
            page, more = concepts_page(memory, bank, clamp_limit(limit), cursor)
            items = [knowledge_types.concept_node(one, names) for one in page]
            return knowledge_types.Concepts(items=items, cursor=more)

        return await info.context.read(load)

    @strawberry.field
    async def facts(
        self,
        info: GraphInfo,
        bank: str = "all",
        kind: str = "",
        all: bool = False,
        limit: int = 50,
        cursor: str = "",
    ) -> knowledge_types.Facts:
        """Those in force, the latest first; with `all` also those that ended."""

        def load(memory: Holdfast) -> knowledge_types.Facts:
            page, more = facts_page(memory, bank, kind, all, clamp_limit(limit), cursor)
            return knowledge_types.Facts(
                items=[make_node(knowledge_types.Fact, "fact", one) for one in page], cursor=more
            )

        return await info.context.read(load)

    @strawberry.field
    async def entities(
        self, info: GraphInfo, bank: str = "all", kind: str = "", limit: int = 50, cursor: str = ""
    ) -> knowledge_types.Entities:
        """Who and what is involved; those in most records first."""

        def load(memory: Holdfast) -> knowledge_types.Entities:
            page, more = entities_page(memory, bank, kind, clamp_limit(limit), cursor)
            items = [make_node(knowledge_types.Entity, "entity", one) for one in page]
            return knowledge_types.Entities(items=items, cursor=more)

        return await info.context.read(load)

    @strawberry.field
    async def search(
        self,
        info: GraphInfo,
        query: str,
        bank: str = "all",
        limit: int = 10,
        layers: list[str] | None = None,
        budget: str = "mid",
    ) -> knowledge_types.Found:
        """The records that speak of a query, best first; or an abstention."""
        plan = Plan(
            tuple(_read_enum(Layer, name) for name in layers or ()),
            clamp_limit(limit),
            _read_enum(Budget, budget),
        )
        found = await info.context.run(
            lambda memory: memory.search.recall_with_plan(query, bank, plan)
        )
        hits, misses = (
            [make_node(knowledge_types.Hit, "", hit, uri=hit.uri) for hit in some]
            for some in (found.hits, found.misses)
        )
        return knowledge_types.Found(
            query=found.query,
            bank=found.bank,
            abstained=found.abstained,
            hits=hits,
            misses=misses,
            suggestions=list(found.suggestions),
        )

    @strawberry.field
    async def record(self, info: GraphInfo, uri: str) -> knowledge_types.Record:
        """Any record, by its URI or the start of its id."""
        found = await info.context.read(lambda memory: memory.show(uri, "all"))
        fields: Any = json_shapes.record_json(found.kind, found.record)
        return knowledge_types.Record(
            uri=fields["uri"], kind=found.kind, record=fields, above=list(found.above)
        )

    @strawberry.field
    async def decisions(
        self, info: GraphInfo, bank: str = "all", limit: int = 50, cursor: str = ""
    ) -> knowledge_types.Decisions:
        """The log: who changed what, the latest first."""

        def load(memory: Holdfast) -> knowledge_types.Decisions:
            page, more = decisions_page(memory, bank, clamp_limit(limit), cursor)
            items = [knowledge_types.Decision(**one.to_json()) for one in page]
            return knowledge_types.Decisions(items=items, cursor=more)

        return await info.context.read(load)


@strawberry.type
class Mutation:
    """What can be done. All but `searchMemory` is in the log of decisions."""

    @strawberry.mutation
    async def search_memory(
        self, info: GraphInfo, question: str, bank: str = "all", session: str = ""
    ) -> knowledge_types.MemoryAnswer:
        """Ask, and get a cited answer; `session` goes on with an earlier one."""
        options = AskOptions(_require_text(question), bank)
        answer_ = await info.context.run_with_model(
            lambda m: m.answers.investigate(options, session).answer()
        )
        citations = [knowledge_types.citation_node(one) for one in answer_.citations]
        return make_node(knowledge_types.MemoryAnswer, "", answer_, citations=citations)

    @strawberry.mutation
    async def remember(self, info: GraphInfo, text: str, bank: str) -> knowledge_types.Memory:
        """Keep a text, with the secrets out."""
        who = info.context.who
        stored = await info.context.run(lambda m: m.remember(_require_text(text), bank, who))
        return make_node(knowledge_types.Memory, "memory", stored)

    @strawberry.mutation
    async def retain(
        self,
        info: GraphInfo,
        text: str,
        bank: str,
        network: str = "world",
        confidence: float | None = None,
        where: str = "",
        why: str = "",
    ) -> knowledge_types.Memory:
        """Keep a text as a memory of a network; an opinion needs a confidence."""
        who = info.context.who
        stored = await info.context.run(
            lambda m: m.retain(_require_text(text), network, confidence, where, why, bank, who)
        )
        return make_node(knowledge_types.Memory, "memory", stored)

    @strawberry.mutation
    async def correct(self, info: GraphInfo, id: str, text: str) -> knowledge_types.Decision:
        """Say a record anew."""
        who = info.context.who
        return _decision_node(
            await info.context.run(lambda m: m.correct(id, _require_text(text), who=who))
        )

    @strawberry.mutation
    async def forget(self, info: GraphInfo, id: str) -> knowledge_types.Decision:
        """Leave a record, and all that is made of it, out of everything."""
        who = info.context.who
        return _decision_node(await info.context.run(lambda m: m.forget(id, who=who)))

    @strawberry.mutation
    async def restore(self, info: GraphInfo, id: str) -> knowledge_types.Decision:
        """Bring back what was forgotten or merged."""
        who = info.context.who
        return _decision_node(await info.context.run(lambda m: m.restore(id, who=who)))

    @strawberry.mutation
    async def merge(self, info: GraphInfo, id: str, into: str) -> knowledge_types.Decision:
        """Let one record stand for another."""
        who = info.context.who
        return _decision_node(await info.context.run(lambda m: m.curation.merge(id, into, who=who)))

    @strawberry.mutation
    async def merge_entities(
        self, info: GraphInfo, name: str, into: str, bank: str = "all"
    ) -> knowledge_types.Decision:
        """Let two entities be one."""
        who = info.context.who
        return _decision_node(
            await info.context.run(lambda m: m.curation.merge_entities(name, into, bank, who))
        )

    @strawberry.mutation
    async def split_entity(
        self, info: GraphInfo, name: str, alias: str, bank: str = "all"
    ) -> knowledge_types.Decision:
        """Let one spelling of an entity stand by itself."""
        who = info.context.who
        return _decision_node(
            await info.context.run(lambda m: m.curation.split_entity(name, alias, bank, who))
        )

    @strawberry.mutation
    async def undo(
        self, info: GraphInfo, count: int = 1, bank: str = "all"
    ) -> list[knowledge_types.Decision]:
        """Take back the latest decisions."""
        who = info.context.who
        undone = await info.context.run(lambda m: m.undo(max(1, min(count, 100)), bank, who))
        return [_decision_node(one) for one in undone]


async def _latest_page(
    info: GraphInfo, node: type[T], kind: str, bank: str, limit: int, cursor: str
) -> Page[T]:
    def load(memory: Holdfast) -> Page[Record]:
        id = memory.context.bank_id(bank)
        return latest_records(memory.reader, id, kind, clamp_limit(limit), cursor)

    page, more = await info.context.read(load)
    return [make_node(node, kind, one) for one in page], more


def _decision_node(entry: Curation) -> knowledge_types.Decision:
    return knowledge_types.Decision(**to_jsonable(entry), channel=channel_of(entry))


def _require_text(text: str) -> str:
    if not text.strip():
        raise InputError("There are no words in it.", "Say something.")
    return text


def _read_enum(among: type[EnumT], name: str) -> EnumT:
    try:
        return among(name)
    except ValueError as error:
        raise InputError(str(error), f"One of: {', '.join(among)}.") from error


class _Schema(strawberry.Schema):
    def process_errors(
        self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None
    ) -> None:
        """Log nothing: errors are sent to the client, and can contain texts of the memory."""


SCHEMA = _Schema(
    Query, Mutation, config=StrawberryConfig(auto_camel_case=True), extensions=[PermissionCheck]
)


async def answer(
    pool: MemoryPool, who: str, query: str, variables: dict[str, Any] | None, operation: str | None
) -> dict[str, Any]:
    """The response to a GraphQL request."""
    try:
        limits.check(parse(query, no_location=True, max_tokens=limits.MAX_TOKENS))
    except (GraphQLSyntaxError, HoldfastError, RecursionError) as error:
        return {"data": None, "errors": [_error_json(error)]}
    result = await SCHEMA.execute(
        query, variables, context_value=Context(pool, who), operation_name=operation
    )
    response: dict[str, Any] = {"data": result.data}
    if result.errors:
        response["errors"] = [_error_json(error) for error in result.errors]
    return response


def _error_json(error: Exception) -> dict[str, Any]:
    """An error as GraphQL has it, without internals."""
    cause = error.original_error if isinstance(error, GraphQLError) else None
    known_error = next((one for one in (error, cause) if isinstance(one, HoldfastError)), None)
    place = {"path": error.path} if isinstance(error, GraphQLError) and error.path else {}
    if known_error is not None:
        aside = {"code": error_code(known_error), "remedy": known_error.remedy}
        return {"message": known_error.message, **place, "extensions": aside}
    if isinstance(error, GraphQLError) and cause is None:
        return {"message": error.message, **place, "extensions": {"code": "bad_form", "remedy": ""}}
    deep = isinstance(error, RecursionError)
    message = "This asks too deep." if deep else "Something went wrong."
    return {"message": message, **place, "extensions": {"code": "failed", "remedy": ""}}
