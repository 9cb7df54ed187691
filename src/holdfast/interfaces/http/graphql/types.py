"""The GraphQL types of banks, sessions, exchanges and messages, and the context of resolvers."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import strawberry
from strawberry.types import Info

from holdfast.app.memory import Holdfast
from holdfast.interfaces.http.api.listing import exchanges_page, sessions_page
from holdfast.interfaces.http.api.requests import MAX_PAGE_SIZE, write_cursor
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.model.bank import Bank as BankRecord
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import uri as uri_of

T = TypeVar("T")
# Tasks of one request that wait in the pool at a time; more would crowd out other requests.
_MAX_CONCURRENT_READS = 8


class Context:
    """What every resolver gets: access to the memory pool, and the author of changes (`who`). One
    request runs only a few tasks at a time, however many fields it has."""

    def __init__(self, pool: MemoryPool, who: str) -> None:
        self._pool = pool
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT_READS)
        self.who = who

    async def read(self, task: Callable[[Holdfast], T]) -> T:
        """Run a task that only reads."""
        async with self._slots:
            return await self._pool.read(task)

    async def run_with_model(self, task: Callable[[Holdfast], T]) -> T:
        """Run a task that may wait for a model service."""
        async with self._slots:
            return await self._pool.run_with_model(task)

    async def run(self, task: Callable[[Holdfast], T]) -> T:
        """Run a task that searches with models or changes something."""
        async with self._slots:
            return await self._pool.run(task)


GraphInfo = Info[Context, None]


def make_node(kind: type[T], word: str, record: object, **more: Any) -> T:
    """A GraphQL node of type `kind`, from the fields of a record that the type has."""
    fields = {"uri": uri_of(word, str(getattr(record, "id", ""))), **to_jsonable(record), **more}
    names = {field.name for field in dataclasses.fields(kind)}  # pyright: ignore[reportArgumentType]
    return kind(**{name: value for name, value in fields.items() if name in names})


@strawberry.type
class Message:
    """One message of a session: text, or a tool call."""

    uri: str
    id: str
    bank: str
    session: strawberry.ID
    seq: int
    time: str
    role: str
    trust: str
    text: str
    speaker: str
    branch: str
    tool: strawberry.scalars.JSON | None = None


@strawberry.type
class Exchange:
    """One request and its resolution."""

    uri: str
    id: str
    bank: str
    session: strawberry.ID
    first_seq: int
    last_seq: int
    started: str
    ended: str
    type: str
    title: str
    summary: str
    details: str
    outcome: str
    trust: str

    @strawberry.field
    async def messages(self, info: GraphInfo, limit: int = 100) -> list[Message]:
        """The messages that it is made of."""
        bank, session, last = self.bank, str(self.session), self.last_seq
        max_items = min(last, self.first_seq + clamp_limit(limit) - 1)
        found = await info.context.read(
            lambda memory: memory.reader.turns(bank, session, self.first_seq, max_items)
        )
        return [make_node(Message, "turn", turn) for turn in found]


@strawberry.type
class Digest:
    """The summary of one session."""

    uri: str
    request: str
    outcome: str
    trust: str
    investigated: list[str]
    learned: list[str]
    completed: list[str]
    next_steps: list[str]


@strawberry.type
class Messages:
    """A page of messages."""

    items: list[Message]
    cursor: str | None


@strawberry.type
class Exchanges:
    """A page of exchanges."""

    items: list[Exchange]
    cursor: str | None


@strawberry.type
class Session:
    """One run of one agent; `host` is the id that the agent itself uses."""

    uri: str
    id: strawberry.ID
    bank: str
    host: str
    agent: str
    parent: str
    subagent: str
    title: str
    branch: str
    started: str
    ended: str

    @strawberry.field
    async def messages(self, info: GraphInfo, first: int = 0, limit: int = 100) -> Messages:
        """From a place on, in their order."""
        start, max_items = max(0, first), clamp_limit(limit)

        def load(memory: Holdfast) -> Messages:
            rest = memory.reader.turns_from(self.bank, str(self.id), start)
            turns = [turn for turn, _ in zip(rest, range(max_items + 1), strict=False)]
            more = write_cursor(turns[max_items].seq) if len(turns) > max_items else None
            return Messages(
                items=[make_node(Message, "turn", t) for t in turns[:max_items]], cursor=more
            )

        return await info.context.read(load)

    @strawberry.field
    async def exchanges(self, info: GraphInfo, limit: int = 50, cursor: str = "") -> Exchanges:
        """In their order."""

        def load(memory: Holdfast) -> Exchanges:
            page, more = exchanges_page(
                memory.reader, self.bank, str(self.id), clamp_limit(limit), cursor
            )
            return Exchanges(items=[make_node(Exchange, "exchange", e) for e in page], cursor=more)

        return await info.context.read(load)

    @strawberry.field
    async def digest(self, info: GraphInfo) -> Digest | None:
        """What it came to."""
        found = await info.context.read(
            lambda memory: memory.reader.digest_of(self.bank, str(self.id))
        )
        return make_node(Digest, "digest", found) if found is not None else None


@strawberry.type
class Sessions:
    """A page of sessions."""

    items: list[Session]
    cursor: str | None


def sessions_in(memory: Holdfast, bank: str, limit: int, cursor: str) -> Sessions:
    """A page of sessions, the latest first."""
    page, more = sessions_page(memory, bank, clamp_limit(limit), cursor)
    return Sessions(items=[make_node(Session, "session", one) for one in page], cursor=more)


@strawberry.type
class Disposition:
    """How a bank reasons, each from 1 to 5."""

    skepticism: int
    literalism: int
    empathy: int


@strawberry.type
class Bank:
    """The memory of one project."""

    id: strawberry.ID
    name: str
    created: str
    background: str
    disposition: Disposition
    aliases: list[str]
    retention: int

    @strawberry.field
    async def sessions(self, info: GraphInfo, limit: int = 50, cursor: str = "") -> Sessions:
        """The latest first."""
        name = str(self.id)
        return await info.context.read(lambda memory: sessions_in(memory, name, limit, cursor))


def bank_node(bank: BankRecord) -> Bank:
    """A bank as a node."""
    return make_node(Bank, "bank", bank, disposition=Disposition(**to_jsonable(bank.disposition)))


def clamp_limit(limit: int) -> int:
    """A limit between 1 and the largest page."""
    return max(1, min(limit, MAX_PAGE_SIZE))
