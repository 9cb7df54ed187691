"""The queries and mutations of GraphQL, and the execution of a request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from itertools import islice
from typing import Any, TypeVar

import strawberry
from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLResolveInfo,
    OperationType,
    get_operation_ast,
    parse,
    specified_rules,
)
from strawberry.extensions import SchemaExtension
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.name_converter import NameConverter
from strawberry.schema.schema import validate_document
from strawberry.types import ExecutionContext
from strawberry.types.base import StrawberryObjectDefinition, StrawberryType

from holdfast.app.answers.ask import AskOptions
from holdfast.app.core.agent_names import check_agent_name
from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.app.search.hit_view import endings
from holdfast.app.views.decision_log import channel_of
from holdfast.errors import (
    BusyError,
    ForbiddenError,
    HoldfastError,
    InputError,
    StoreError,
    require_words,
)
from holdfast.interfaces.http.api.listing import (
    Page,
    concepts_page,
    decisions_page,
    entities_page,
    facts_page,
    latest_records,
    memories_page,
)
from holdfast.interfaces.http.api.requests import Json, author
from holdfast.interfaces.http.api.sessions import find_session
from holdfast.interfaces.http.auth import permissions
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.graphql import limits
from holdfast.interfaces.http.graphql.types import (
    Bank,
    Citation,
    Commit,
    Concept,
    Context,
    Decision,
    Entity,
    Exchange,
    Fact,
    Found,
    GraphInfo,
    Hit,
    Memory,
    MemoryAnswer,
    Message,
    NodePage,
    Record,
    Session,
    bank_node,
    check_first,
    check_limit,
    check_number,
    make_node,
    read_sessions,
)
from holdfast.model.curation import Curation
from holdfast.model.kinds import read_kinds
from holdfast.model.knowledge import Network
from holdfast.model.query import Layer
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.recall.query.iso_dates import read_iso_span

T = TypeVar("T")
EnumT = TypeVar("EnumT", bound=StrEnum)
# The slowest text that the parser takes is validated in a second and a half of processor time.
_CHECK_TIMEOUT_S = 10.0
# How long the fields of a query may take together: as many as the limits let through take about a
# second of processor time. What changes or answers may wait for a model service; it has the
# time that any request has.
_READ_TIMEOUT_S = 30.0
# Texts are checked beside requests; more threads would only take the processor from them.
_CHECKS = ThreadPoolExecutor(1, "graphql")


@strawberry.type
class Query:
    """Queries. `bank` is a name or an id, or `all`."""

    @strawberry.field
    async def banks(self, info: GraphInfo) -> list[Bank]:
        """All banks, by name."""
        return [bank_node(bank) for bank in await info.context.read(lambda m: m.banks.all())]

    @strawberry.field
    async def bank(self, info: GraphInfo, name: str) -> Bank:
        """One bank."""
        return bank_node(await info.context.read(lambda m: m.banks.get(name)))

    @strawberry.field
    async def sessions(
        self, info: GraphInfo, bank: str = "all", limit: int = 50, cursor: str = ""
    ) -> NodePage[Session]:
        """Sessions, the latest first."""
        return await read_sessions(info, bank, limit, cursor)

    @strawberry.field
    async def session(self, info: GraphInfo, id: str) -> Session:
        """One session, with its messages and exchanges."""
        found = await info.context.read(lambda m: find_session(m, id))
        return make_node(Session, "session", found)

    @strawberry.field
    async def messages(
        self, info: GraphInfo, session: str, first: int = 0, limit: int = 100
    ) -> list[Message]:
        """The messages of a session, from a position on."""

        def load(memory: Holdfast) -> list[Message]:
            one = find_session(memory, session)
            rest = memory.reader.turns.stream(one.bank, one.id, check_first(first))
            return [make_node(Message, "turn", turn) for turn in islice(rest, check_limit(limit))]

        return await info.context.read(load)

    @strawberry.field
    async def exchanges(
        self, info: GraphInfo, bank: str = "all", limit: int = 50, cursor: str = ""
    ) -> NodePage[Exchange]:
        """Exchanges of all sessions, the latest first."""
        return await _read_latest(info, Exchange, "exchange", bank, limit, cursor)

    @strawberry.field
    async def memories(
        self,
        info: GraphInfo,
        bank: str = "all",
        limit: int = 50,
        cursor: str = "",
        kind: str = "",
    ) -> NodePage[Memory]:
        """Memories, the latest first; with `kind` only those of that kind."""
        return await info.context.read_page(
            Memory, "memory", lambda m: memories_page(m, bank, kind, check_limit(limit), cursor)
        )

    @strawberry.field
    async def commits(
        self, info: GraphInfo, bank: str = "all", limit: int = 50, cursor: str = ""
    ) -> NodePage[Commit]:
        """Commits of all histories that were read, the latest first."""
        return await _read_latest(info, Commit, "commit", bank, limit, cursor)

    @strawberry.field
    async def concepts(
        self, info: GraphInfo, bank: str = "all", limit: int = 50, cursor: str = ""
    ) -> NodePage[Concept]:
        """Concepts, the latest changed first."""

        def load(memory: Holdfast) -> Page[Json]:
            names = memory.context.bank_names()
            page, more = concepts_page(memory, bank, check_limit(limit), cursor)
            endings = RecordEndings(memory.reader)
            shown = [json_shapes.concept_json(one, names, endings.of(one)) for one in page]
            return [{"ended": [], **one} for one in shown], more

        return await info.context.read_page(Concept, "concept", load)

    @strawberry.field
    async def facts(
        self,
        info: GraphInfo,
        bank: str = "all",
        kind: str = "",
        all: bool = False,
        limit: int = 50,
        cursor: str = "",
    ) -> NodePage[Fact]:
        """Facts in force, the latest first; with `all` also superseded and retracted ones. As a
        `kind`, `lesson` includes solutions, and `fact` core logic."""
        return await info.context.read_page(
            Fact, "fact", lambda m: facts_page(m, bank, kind, all, check_limit(limit), cursor)
        )

    @strawberry.field
    async def entities(
        self, info: GraphInfo, bank: str = "all", kind: str = "", limit: int = 50, cursor: str = ""
    ) -> NodePage[Entity]:
        """People, components, files and concepts; those in most records first."""
        return await info.context.read_page(
            Entity, "entity", lambda m: entities_page(m, bank, kind, check_limit(limit), cursor)
        )

    @strawberry.field
    async def search(
        self,
        info: GraphInfo,
        query: str,
        bank: str = "all",
        limit: int = 10,
        layers: list[str] | None = None,
        budget: str = "mid",
        kinds: list[str] | None = None,
        networks: list[str] | None = None,
        agent: str = "",
        branch: str = "",
        as_of: str = "",
    ) -> Found:
        """The records that match a query, best first; those that are only loosely related are
        `weak`, and the search has `abstained` if all are. `kinds` limits it to
        memories, facts and rules of these kinds, `networks` to memories of these networks, `agent`
        to sessions of an agent, `asOf` to what was known on that day."""
        plan = RecallPlan(
            _read_enums(Layer, layers),
            check_limit(limit),
            _read_enum(Budget, budget),
            as_of=_read_day(as_of),
            networks=_read_enums(Network, networks),
            branch=branch,
            agent=check_agent_name(agent),
            knowledge=read_kinds(kinds or ()),
            weak=True,
        )
        found = await info.context.search(
            lambda memory: memory.search.recall_with_plan(require_words(query, "query"), bank, plan)
        )
        hits = [make_node(Hit, "", hit, ended=endings(hit)) for hit in found.hits]
        return make_node(Found, "", found, hits=hits)

    @strawberry.field
    async def record(self, info: GraphInfo, uri: str) -> Record:
        """Any record, by its URI or the start of its id."""
        found = await info.context.read(lambda memory: memory.show(uri, "all"))
        fields: Any = json_shapes.record_json(found.kind, found.record)
        return Record(uri=fields["uri"], kind=found.kind, record=fields, above=list(found.above))

    @strawberry.field
    async def decisions(
        self, info: GraphInfo, bank: str = "all", limit: int = 50, cursor: str = ""
    ) -> NodePage[Decision]:
        """The log of decisions: who changed what, the latest first."""

        def load(memory: Holdfast) -> Page[Json]:
            page, more = decisions_page(memory, bank, check_limit(limit), cursor)
            return [one.to_json() for one in page], more

        return await info.context.read_page(Decision, "", load)


@strawberry.type
class Mutation:
    """Mutations. All except `searchMemory` are logged in `decisions`."""

    @strawberry.mutation
    async def search_memory(
        self,
        info: GraphInfo,
        question: str,
        bank: str = "all",
        session: str = "",
        kinds: list[str] | None = None,
        layers: list[str] | None = None,
        budget: str = "mid",
        as_of: str = "",
    ) -> MemoryAnswer:
        """Answer a question, with citations. `session` continues an earlier one. `kinds` limits
        citations to knowledge of these kinds, `asOf` to what was known on that day."""
        options = AskOptions(
            question,
            bank,
            _read_enums(Layer, layers),
            as_of=_read_day(as_of),
            budget=_read_enum(Budget, budget),
            kinds=read_kinds(kinds or ()),
        )
        answer_ = await info.context.search_with_model(
            lambda m: m.answers.investigate(options, session).answer()
        )
        citations = [make_node(Citation, "", one, source=one.uri) for one in answer_.citations]
        return make_node(MemoryAnswer, "", answer_, citations=citations)

    @strawberry.mutation
    async def remember(self, info: GraphInfo, text: str, bank: str) -> Memory:
        """Save a text. Secrets are redacted."""
        stored = await info.context.run(lambda m: m.remember(text, bank, author()))
        return make_node(Memory, "memory", stored)

    @strawberry.mutation
    async def retain(
        self,
        info: GraphInfo,
        text: str,
        bank: str,
        network: str = "",
        confidence: float | None = None,
        where: str = "",
        why: str = "",
    ) -> Memory:
        """Save a text in a network. Without one, it is chosen by the wording. An opinion needs a
        confidence."""
        stored = await info.context.run(
            lambda m: m.retain(text, network, confidence, where, why, bank, author())
        )
        return make_node(Memory, "memory", stored)

    @strawberry.mutation
    async def correct(self, info: GraphInfo, id: str, text: str) -> Decision:
        """Replace the text of a record."""
        return await _decide(info, lambda m: m.correct(id, text, who=author()))

    @strawberry.mutation
    async def forget(self, info: GraphInfo, id: str) -> Decision:
        """Hide a record and everything derived from it."""
        return await _decide(info, lambda m: m.forget(id, who=author()))

    @strawberry.mutation
    async def restore(self, info: GraphInfo, id: str) -> Decision:
        """Revert a forget or a merge."""
        return await _decide(info, lambda m: m.restore(id, who=author()))

    @strawberry.mutation
    async def judge(
        self, info: GraphInfo, ids: list[str], verdict: str, why: str = "", words: str = ""
    ) -> list[Decision]:
        """Say whether briefs tell records: `useful`, `unneeded` or `outdated`; all of them or none.
        `words` are how briefs tell one useful statement of an agent."""
        made = await info.context.run(
            lambda m: m.curation.judge(ids, verdict, why, who=author(), words=words)
        )
        return [_decision_node(one) for one in made]

    @strawberry.mutation
    async def merge(self, info: GraphInfo, id: str, into: str) -> Decision:
        """Merge a record into another."""
        return await _decide(info, lambda m: m.curation.merge(id, into, who=author()))

    @strawberry.mutation
    async def merge_entities(
        self, info: GraphInfo, name: str, into: str, bank: str = "all"
    ) -> Decision:
        """Merge two entities."""
        return await _decide(info, lambda m: m.curation.merge_entities(name, into, bank, author()))

    @strawberry.mutation
    async def split_entity(
        self, info: GraphInfo, name: str, alias: str, bank: str = "all"
    ) -> Decision:
        """Split a name from an entity."""
        return await _decide(info, lambda m: m.curation.split_entity(name, alias, bank, author()))

    @strawberry.mutation
    async def undo(self, info: GraphInfo, count: int = 1, bank: str = "all") -> list[Decision]:
        """Undo the latest decisions."""
        undone = await info.context.run(
            lambda m: m.undo(check_number("count", count, 1, 100), bank, author())
        )
        return [_decision_node(one) for one in undone]


async def _read_latest(
    info: GraphInfo, node: type[T], kind: str, bank: str, limit: int, cursor: str
) -> NodePage[T]:
    return await info.context.read_page(
        node, kind, lambda m: latest_records(m, kind, bank, check_limit(limit), cursor)
    )


async def _decide(info: GraphInfo, task: Callable[[Holdfast], Curation]) -> Decision:
    return _decision_node(await info.context.run(task))


def _decision_node(entry: Curation) -> Decision:
    return make_node(Decision, "", entry, channel=channel_of(entry), before="", after="")


def _read_enum(among: type[EnumT], name: str) -> EnumT:
    try:
        return among(name)
    except ValueError as error:
        raise InputError(str(error), f"One of: {', '.join(among)}.") from error


def _read_enums(among: type[EnumT], names: list[str] | None) -> tuple[EnumT, ...]:
    return tuple(_read_enum(among, name) for name in names or ())


def _read_day(text: str) -> str:
    """The last moment of a day or a month; nothing where none is given."""
    return read_iso_span(text).last if text else ""


class _FieldCheck(SchemaExtension):
    """Checks the time that is left and the arguments of every field, and the permission for every
    mutation, under whatever alias or fragment it is called."""

    def resolve(
        self,
        _next: Callable[..., Any],
        root: Any,
        info: GraphQLResolveInfo[Any],
        *args: str,
        **kwargs: Any,
    ) -> Any:
        """Resolve a field if that is allowed."""
        info.context.check_time()
        if info.parent_type.name == "Mutation":
            permissions.check(
                permissions.MUTATIONS.get(info.field_name, permissions.UNLISTED), principal()
            )
        for name, value in kwargs.items():
            limits.check_argument(name, value)
        return _next(root, info, *args, **kwargs)


class _CheckedDocument(SchemaExtension):
    """Gives the execution the document that was parsed and validated before."""

    def on_parse(self) -> Iterator[None]:
        """Set the document."""
        context: Context = self.execution_context.context
        self.execution_context.graphql_document = context.document
        yield

    def on_validate(self) -> Iterator[None]:
        """Set that it has no errors."""
        self.execution_context.pre_execution_errors = []
        yield


class _Names(NameConverter):
    def from_generic(
        self, generic_type: StrawberryObjectDefinition, types: list[StrawberryType | type]
    ) -> str:
        """The name of a page: the plural of its items."""
        item = self.get_name_from_type(types[0])
        return f"{item[:-1]}ies" if item.endswith("y") else f"{item}s"


class _Schema(strawberry.Schema):
    def process_errors(
        self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None
    ) -> None:
        """Log nothing: errors are sent to the client, and can contain texts of the memory."""


SCHEMA = _Schema(
    Query,
    Mutation,
    config=StrawberryConfig(name_converter=_Names()),
    extensions=[_FieldCheck, _CheckedDocument],
)


async def answer(
    pool: MemoryPool,
    query: str,
    variables: dict[str, Any] | None,
    operation: str | None,
    read_timeout_s: float = _READ_TIMEOUT_S,
) -> dict[str, Any]:
    """The response to a GraphQL request. The query is checked in a thread, since no check of a text
    may keep the server from answering others. Both checking and answering end after a while, with
    an error; a task that runs then is not broken off, but nobody waits for it."""
    checking = asyncio.get_running_loop().run_in_executor(_CHECKS, _check, query, operation)
    try:
        document = await asyncio.wait_for(checking, _CHECK_TIMEOUT_S)
    except TimeoutError:
        too_long = InputError("Checking this query takes too long.", "Send a smaller one.")
        return _refused(too_long)
    except (GraphQLError, HoldfastError, RecursionError) as error:
        return _refused(error)
    if isinstance(document, list):
        return _refused(*document)
    wanted = get_operation_ast(document, operation)
    only_reads = wanted is not None and wanted.operation is OperationType.QUERY
    timeout_s = read_timeout_s if only_reads else pool.settings.serve.request_s
    context = Context(pool, document, timeout_s)
    answering = SCHEMA.execute(query, variables, context_value=context, operation_name=operation)
    try:
        result = await asyncio.wait_for(answering, timeout_s)
    except TimeoutError:
        return _refused(context.too_late)
    response: dict[str, Any] = {"data": result.data}
    if result.errors:
        response["errors"] = [_error_json(error) for error in result.errors]
    return response


def _check(query: str, operation: str | None) -> DocumentNode | list[GraphQLError]:
    """The parsed query if it is valid and within the limits; else what is not valid in it."""
    document = parse(query, no_location=True, max_tokens=limits.MAX_TOKENS)
    schema = SCHEMA._schema  # pyright: ignore[reportPrivateUsage] - what Strawberry validates with
    errors = validate_document(schema, document, tuple(specified_rules))
    if errors:
        return errors
    if get_operation_ast(document, operation) is None:
        named = f"no operation {operation!r}" if operation else "not one operation"
        raise InputError(f"This query has {named}.", "Name one of its operations.")
    limits.check(document)
    return document


def _refused(*errors: Exception) -> dict[str, Any]:
    return {"data": None, "errors": [_error_json(error) for error in errors]}


_ERROR_CODES: tuple[tuple[type[HoldfastError], str], ...] = (
    (BusyError, "busy"),
    (StoreError, "unavailable"),
    (ForbiddenError, permissions.NOT_PERMITTED),
)


def _error_json(error: Exception) -> dict[str, Any]:
    """An error as GraphQL has it, without internals."""
    cause = error.original_error if isinstance(error, GraphQLError) else None
    known_error = next((one for one in (error, cause) if isinstance(one, HoldfastError)), None)
    place = {"path": error.path} if isinstance(error, GraphQLError) and error.path else {}
    if known_error is not None:
        code = next((code for kind, code in _ERROR_CODES if isinstance(known_error, kind)), "")
        aside = {"code": code or "bad_input", "remedy": known_error.remedy}
        return {"message": known_error.message, **place, "extensions": aside}
    if isinstance(error, GraphQLError) and cause is None:
        return {"message": error.message, **place, "extensions": {"code": "bad_form", "remedy": ""}}
    deep = isinstance(error, RecursionError)
    message = "The query is too deep." if deep else "Something went wrong."
    return {"message": message, **place, "extensions": {"code": "failed", "remedy": ""}}
