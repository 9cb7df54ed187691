"""The GraphQL types, which have fields of our records; and the context of resolvers."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Callable
from enum import EnumType
from inspect import get_annotations
from itertools import islice
from types import GenericAlias, UnionType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

import strawberry
from graphql import DocumentNode
from strawberry.types import Info

from holdfast.app.memory import Holdfast
from holdfast.errors import BusyError, InputError
from holdfast.interfaces.http.api.listing import Page, exchanges_page, sessions_page
from holdfast.interfaces.http.api.requests import MAX_PAGE_SIZE, write_cursor
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.model import bank, curation, graph, knowledge, query, records, team
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import uri as uri_of

T = TypeVar("T")
# Tasks of one request that wait in the pool at a time; more would crowd out other requests.
_MAX_CONCURRENT_READS = 8
# The largest Int of GraphQL.
_MAX_INT = 2**31 - 1


@strawberry.type
class NodePage(Generic[T]):
    """Some items of a list. In the schema its name is the plural of its items."""

    items: list[T]
    cursor: str | None


class Context:
    """What every resolver gets: access to the memory pool. One request runs only a few tasks at a
    time, however many fields it has, and none after its time is up."""

    def __init__(self, pool: MemoryPool, document: DocumentNode, timeout_s: float) -> None:
        # What is asked, parsed and checked.
        self.document = document
        self.too_late = BusyError(
            f"This was not answered within {timeout_s:g} s.",
            "Request less at once, or try again later.",
        )
        self._until = time.monotonic() + timeout_s
        self._pool = pool
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT_READS)

    def check_time(self) -> None:
        """Raise `too_late` if the time is up."""
        if time.monotonic() >= self._until:
            raise self.too_late

    async def read(self, task: Callable[[Holdfast], T]) -> T:
        """Run a task that only reads."""
        async with self._slots:
            return await self._pool.read(task)

    async def read_page(
        self, kind: type[T], word: str, load: Callable[[Holdfast], Page[Any]]
    ) -> NodePage[T]:
        """Read a page of records as nodes."""

        def load_nodes(memory: Holdfast) -> NodePage[T]:
            page, more = load(memory)
            return NodePage(items=[make_node(kind, word, one) for one in page], cursor=more)

        return await self.read(load_nodes)

    async def search_with_model(self, task: Callable[[Holdfast], T]) -> T:
        """Run a task that recalls and may wait for a model service."""
        async with self._slots:
            return await self._pool.search_with_model(task)

    async def search(self, task: Callable[[Holdfast], T]) -> T:
        """Run a task that recalls."""
        async with self._slots:
            return await self._pool.search(task)

    async def run(self, task: Callable[[Holdfast], T]) -> T:
        """Run a task that changes something."""
        async with self._slots:
            return await self._pool.run(task)


GraphInfo = Info[Context, None]


def node(record: type, names: str, **types: Any) -> Callable[[type[T]], type[T]]:
    """Make a class a GraphQL type with these fields of a record, in this order. A field has the
    type that the class declares, or that `types` names, or that it has in the record as JSON."""

    def make(kind: type[T]) -> type[T]:
        inherent = {name: _json_type(hint) for name, hint in get_type_hints(record).items()}
        known = {"uri": str, **inherent, **types, **get_annotations(kind)}
        kind.__annotations__ = {name: known[name] for name in names.split()}
        return strawberry.type(kind)

    return make


def _json_type(hint: Any) -> Any:
    """The type of a field as JSON: an enum is a text, a tuple a list."""
    if get_origin(hint) is tuple:
        return GenericAlias(list, (_json_type(get_args(hint)[0]),))
    if get_origin(hint) is UnionType:
        inner, *_ = get_args(hint)
        return _json_type(inner) | None
    return str if isinstance(hint, EnumType) else hint


def make_node(kind: type[T], word: str, record: object, **more: Any) -> T:
    """A GraphQL node of type `kind`, from the fields of a record that the type has."""
    fields = {"uri": uri_of(word, str(getattr(record, "id", ""))), **to_jsonable(record), **more}
    names = {field.name for field in dataclasses.fields(kind)}  # pyright: ignore[reportArgumentType]
    return kind(**{name: value for name, value in fields.items() if name in names})


def check_number(name: str, value: int, least: int, most: int) -> int:
    """An argument; raises `InputError` if it is out of its range."""
    if not least <= value <= most:
        raise InputError(f"{name} is {value}.", f"Give a number from {least} to {most:,}.")
    return value


def check_limit(limit: int) -> int:
    """How many items are asked for: at least 1, at most the largest page."""
    return check_number("limit", limit, 1, MAX_PAGE_SIZE)


def check_first(first: int) -> int:
    """The place from which messages are asked for."""
    return check_number("first", first, 0, _MAX_INT)


@node(
    records.Turn,
    "uri id bank session seq time role trust text speaker branch tool",
    session=strawberry.ID,
    tool=strawberry.scalars.JSON | None,
)
class Message:
    """One message of a session: text, or a tool call."""


@node(
    records.Exchange,
    "uri id bank session first_seq last_seq started ended type title summary details outcome trust",
)
class Exchange:
    """One request and its result."""

    bank: str
    session: strawberry.ID
    first_seq: int
    last_seq: int

    @strawberry.field
    async def messages(self, info: GraphInfo, limit: int = 100) -> list[Message]:
        """Its messages."""
        bank, session, last = self.bank, str(self.session), self.last_seq
        max_items = min(last, self.first_seq + check_limit(limit) - 1)
        found = await info.context.read(
            lambda memory: memory.reader.turns.of_session(bank, session, self.first_seq, max_items)
        )
        return [make_node(Message, "turn", turn) for turn in found]


@node(records.Digest, "uri request outcome trust investigated learned completed next_steps")
class Digest:
    """The summary of one session."""


@node(records.Session, "uri id bank host agent parent subagent title branch started ended")
class Session:
    """One run of one agent; `host` is the id that the agent itself uses."""

    id: strawberry.ID
    bank: str

    @strawberry.field
    async def messages(
        self, info: GraphInfo, first: int = 0, limit: int = 100
    ) -> NodePage[Message]:
        """Its messages in order, from a position on."""

        def load(memory: Holdfast) -> Page[records.Turn]:
            max_items = check_limit(limit)
            rest = memory.reader.turns.stream(self.bank, str(self.id), check_first(first))
            turns = list(islice(rest, max_items + 1))
            more = write_cursor(turns[max_items].seq) if len(turns) > max_items else None
            return turns[:max_items], more

        return await info.context.read_page(Message, "turn", load)

    @strawberry.field
    async def exchanges(
        self, info: GraphInfo, limit: int = 50, cursor: str = ""
    ) -> NodePage[Exchange]:
        """Its exchanges in order."""
        max_items = check_limit(limit)
        return await info.context.read_page(
            Exchange,
            "exchange",
            lambda m: exchanges_page(m.reader, self.bank, str(self.id), max_items, cursor),
        )

    @strawberry.field
    async def digest(self, info: GraphInfo) -> Digest | None:
        """The summary of the session."""
        found = await info.context.read(
            lambda memory: memory.reader.sessions.digest(self.bank, str(self.id))
        )
        return make_node(Digest, "digest", found) if found is not None else None


@node(bank.Disposition, "skepticism literalism empathy")
class Disposition:
    """How a bank reasons, each from 1 to 5."""


@node(
    bank.Bank, "id name created background disposition aliases retention", disposition=Disposition
)
class Bank:
    """The memory of one project."""

    id: strawberry.ID

    @strawberry.field
    async def sessions(
        self, info: GraphInfo, limit: int = 50, cursor: str = ""
    ) -> NodePage[Session]:
        """The latest first."""
        return await read_sessions(info, str(self.id), limit, cursor)


def bank_node(record: bank.Bank) -> Bank:
    """A bank as a node."""
    disposition = make_node(Disposition, "", record.disposition)
    return make_node(Bank, "bank", record, disposition=disposition)


async def read_sessions(info: GraphInfo, bank: str, limit: int, cursor: str) -> NodePage[Session]:
    """A page of sessions, the latest first."""
    return await info.context.read_page(
        Session, "session", lambda memory: sessions_page(memory, bank, check_limit(limit), cursor)
    )


@node(
    knowledge.Memory,
    "uri id bank network kind what when where who why trust status confidence evidence_for "
    "evidence_against superseded_by supersedes",
)
class Memory:
    """One memory; `kind` is the kind of statement, if it has one."""


@node(
    knowledge.Concept,
    "uri name summary exchanges founded updated files keywords trust bank ended",
    exchanges=int,
    ended=list[str],
)
class Concept:
    """A named group of exchanges and memories about one topic."""


@node(
    knowledge.Fact,
    "uri id bank kind content confidence trust problem attempts contradictions last_validated "
    "status evidence against",
)
class Fact:
    """A statement that holds until it is replaced: a rule, a solution, core logic."""


@node(graph.Entity, "uri id kind name aliases mentions")
class Entity:
    """A person, component, file or concept, with all its names."""


@node(team.Commit, "uri id bank time author email subject body files parents")
class Commit:
    """One commit; `id` is its full sha."""


@node(
    query.Hit,
    "uri kind knowledge layer score text time session bank status ended freshness trust weak",
    ended=list[str],
)
class Hit:
    """One hit; `knowledge` is the kind of statement, if it has one; `ended` lists the parts that
    are no longer valid, and what replaces them; a `weak` hit is only loosely related."""


@node(
    query.RecallResult,
    "query bank abstained hits suggestions",
    hits=list[Hit],
)
class Found:
    """The records that match a query, best first. A search that has `abstained` found only weak
    hits, or none."""


@node(query.Citation, "number source layer excerpt browse_url time trust bank session", source=str)
class Citation:
    """The evidence for a part of an answer: its `number` in the answer, its URI (`source`), and the
    names of its `bank` and `session`."""


@node(
    query.Answer,
    "session_id question answer confidence abstained source citations layers_searched caveats weak",
    citations=list[Citation],
)
class MemoryAnswer:
    """An answer with citations, or an abstention. A `weak` answer begins with "Perhaps" and does
    not claim to know."""

    layers_searched: list[str]

    @strawberry.field
    def searched_layers(self) -> list[str]:
        """The layers that were searched: `layersSearched` by the name that other memories use."""
        return self.layers_searched

    @strawberry.field
    def success(self) -> bool:
        """Whether the search was completed; failures are in `errors`."""
        return True


@node(
    curation.Curation,
    "seq bank time action target text who channel before after",
    channel=str,
    before=str,
    after=str,
)
class Decision:
    """One decision of the log: who changed what, and when."""


@strawberry.type
class Record:
    """Any record, in the form of REST."""

    uri: str
    kind: str
    record: strawberry.scalars.JSON
    above: list[str]
