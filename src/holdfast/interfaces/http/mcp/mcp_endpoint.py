"""`/mcp` of `holdfast serve` and `holdfast browse`: the tools of `holdfast mcp` over streamable
HTTP, for whoever has a key.

The address says which bank is meant (`/mcp?bank=NAME`). Calls are run by the memory pool, in the
name of the key. `initialize` begins a session, which only its key can use; its id is in the
response header `Mcp-Session-Id`, every other request must carry it, and DELETE ends it. A request
with a progress token is answered with server-sent events, any other with JSON, and one that needs
no answer with 202. Nothing is sent unasked, so GET is not offered.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import Query, Request, Response

from holdfast.app.core.context import ALL_BANKS
from holdfast.errors import BusyError, HoldfastError, InputError, NotFoundError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.refusals import NotJsonError
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.core.streaming import ServerEvent
from holdfast.interfaces.mcp.engine import ToolEngine
from holdfast.interfaces.mcp.protocol import (
    BUSY,
    INTERNAL_ERROR,
    PROTOCOL_VERSIONS,
    REQUEST_CANCELLED,
    ActiveCalls,
    CallContext,
    Message,
    Object,
    RequestId,
    RpcError,
    cancelled_request,
    client_name,
    encode_error,
    encode_result,
    progress_sender,
    progress_token,
    read_messages,
)
from holdfast.interfaces.mcp.servers import ToolCall, load_spec
from holdfast.principal import Principal

PATH = "/mcp"
SESSION_HEADER = "Mcp-Session-Id"
_VERSION_HEADER = "MCP-Protocol-Version"
_JSON_TYPE = "application/json"
# A cancelled call is owed no answer, but the POST that waits for it must end with one.
_CANCELLED = RpcError(REQUEST_CANCELLED, "It was cancelled.")


class McpLimits(NamedTuple):
    """What the clients together, and one of them, can make the server hold."""

    sessions: int = 1_000
    # Calls of one session that wait or run at once.
    calls_per_session: int = 100
    # Messages in one request; each is answered by a task of its own.
    messages_per_request: int = 50


LIMITS = McpLimits()

T = TypeVar("T")
Bank = Annotated[str, Query(max_length=200)]
Send = Callable[[str], None]
router = CheckedRouter()


class McpSession:
    """One client. The ids of its calls are its own."""

    def __init__(self, owner: str, client: str) -> None:
        self.id = secrets.token_urlsafe(24)
        # The key that began it.
        self.owner = owner
        self.client = client
        self.calls = ActiveCalls(LIMITS.calls_per_session)


class McpSessions:
    """The sessions of one server. The least recently used is dropped when there are too many: its
    client gets 404 with its next request, and begins a new one."""

    def __init__(self, limit: int = LIMITS.sessions) -> None:
        self._limit = limit
        self._sessions: dict[str, McpSession] = {}

    def begin(self, owner: str, client: str) -> McpSession:
        """A new session."""
        session = McpSession(owner, client)
        if len(self._sessions) >= self._limit:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[session.id] = session
        return session

    def find(self, id: str | None, owner: str) -> McpSession:
        """The session that a request names, which is now the most recently used."""
        if id is None:
            raise InputError(f"{SESSION_HEADER} is missing.", "Initialize first.")
        found = self._sessions.get(id)
        if found is None or found.owner != owner:
            raise NotFoundError("There is no such session.", "Initialize again.")
        self._sessions[id] = self._sessions.pop(id)
        return found

    def end(self, id: str | None, owner: str) -> None:
        """End the session that a request names."""
        del self._sessions[self.find(id, owner).id]


@router.post(PATH)
async def post(request: Request, bank: Bank = "") -> Response:
    """Answer the messages of a client."""
    _check(request)
    messages = _read(await request.body())
    sessions: McpSessions = request.app.state.web.mcp_sessions
    hello = next((message for message in messages if message.method == "initialize"), None)
    headers: dict[str, str] = {}
    if hello is None:
        session = sessions.find(request.headers.get(SESSION_HEADER), principal().key)
    else:
        session = sessions.begin(principal().key, client_name(hello.params))
        headers[SESSION_HEADER] = session.id
    web = request.app.state.web
    answering = _Answering(web.pool, session, bank)
    if hello is None and any(
        message.id is not None and progress_token(message.params) is not None
        for message in messages
    ):
        return web.streams.respond(answering.events(messages))
    answers = await _unless(_hangup(request), answering.answers(messages))
    if not answers:
        return Response(status_code=202)
    bodies = [answer.strip() for answer in answers]
    content = bodies[0] if len(messages) == 1 else f"[{','.join(bodies)}]"
    return Response(content, headers=headers, media_type=_JSON_TYPE)


@router.delete(PATH)
async def delete(request: Request) -> Response:
    """End a session."""
    _check(request)
    sessions: McpSessions = request.app.state.web.mcp_sessions
    sessions.end(request.headers.get(SESSION_HEADER), principal().key)
    return Response(status_code=204)


def _check(request: Request) -> None:
    """Check the headers; the key was checked before, by the guard."""
    if request.scope.get("visitor"):
        raise InputError("Cookies are not accepted here.", "Send a key as a bearer token.")
    version = request.headers.get(_VERSION_HEADER)
    if version is not None and version not in PROTOCOL_VERSIONS:
        raise InputError("This protocol version is not supported.", f"One of: {PROTOCOL_VERSIONS}.")
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method == "POST" and media_type != _JSON_TYPE:
        raise NotJsonError("The body is not JSON.", f"Send it with Content-Type: {_JSON_TYPE}.")


def _read(body: bytes) -> list[Message]:
    try:
        messages = read_messages(body.decode())
    except UnicodeDecodeError as error:
        raise InputError("The body is not UTF-8.", "Send JSON in UTF-8.") from error
    if len(messages) > LIMITS.messages_per_request:
        raise InputError(f"At most {LIMITS.messages_per_request} messages are allowed at once.")
    return messages


class _Answering:
    """Answers the messages of one request."""

    def __init__(self, pool: MemoryPool, session: McpSession, bank: str) -> None:
        self._pool = pool
        self._session = session
        self._bank = choose_bank(bank, principal())
        self._spec = _main_spec().for_level(principal().level)

    async def answers(self, messages: Sequence[Message]) -> list[str]:
        """All answers, in the order of the messages."""
        answers = await asyncio.gather(*(self._answer(m, lambda line: None) for m in messages))
        return [line for line in answers if line]

    async def events(self, messages: Sequence[Message]) -> AsyncGenerator[ServerEvent]:
        """Answers and progress notifications as they come."""
        lines: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def send(line: str) -> None:
            loop.call_soon_threadsafe(lines.put_nowait, line)

        async def answer_all() -> None:
            try:
                for answer in asyncio.as_completed([self._answer(m, send) for m in messages]):
                    lines.put_nowait(await answer)
            finally:
                lines.put_nowait(None)

        working = asyncio.create_task(answer_all())
        try:
            while (line := await lines.get()) is not None:
                if line:
                    yield ServerEvent("message", json.loads(line))
            await working
        finally:
            working.cancel()

    async def _answer(self, message: Message, send_notification: Send) -> str:
        """The answer to one message; "" if it is owed none."""
        cancelled = cancelled_request(message)
        if cancelled is not None:
            self._session.calls.cancel(cancelled)
        answer = self._spec.answer(message)
        id = message.id
        if answer is not None or id is None:
            return answer or ""
        try:
            called = self._spec.call(message.params)
            progress = progress_sender(message.params, send_notification)
            context = CallContext(progress, self._session.client)
            return encode_result(id, await self._call(id, called, context))
        except RpcError as error:
            return encode_error(id, error)
        except HoldfastError as error:
            code = BUSY if isinstance(error, BusyError) else INTERNAL_ERROR
            return encode_error(id, RpcError(code, error.full_text))

    async def _call(self, id: RequestId, called: ToolCall, context: CallContext) -> Object:
        """The result of the engine; raises `_CANCELLED` as soon as the call is cancelled."""
        loop, cancelled = asyncio.get_running_loop(), asyncio.Event()
        context.on_cancel(lambda: loop.call_soon_threadsafe(cancelled.set))
        pool = self._pool
        if called.tool.writes:
            run = pool.run_with_model if called.tool.is_slow else pool.run
        else:
            run = pool.search_with_model if called.tool.is_slow else pool.search
        work = run(lambda memory: called.run(ToolEngine("main", memory, self._bank), context))
        result = None
        with self._session.calls.running(id, context):
            try:
                result = await _unless(cancelled.wait(), work)
            finally:
                if result is None:
                    context.cancel()
        if result is None:
            raise _CANCELLED
        return result


_main_spec = cache(load_spec)


def choose_bank(named: str, who: Principal) -> str:
    """The bank to ask: the one in the address, else the only one that `who` sees, else all."""
    if named:
        return named
    return who.banks[0] if who.banks is not None and len(who.banks) == 1 else ALL_BANKS


async def _unless(stop: Coroutine[Any, Any, object], work: Coroutine[Any, Any, T]) -> T | None:
    """The result of `work`; None if `stop` ends before, which cancels it."""
    working, stopping = asyncio.create_task(work), asyncio.create_task(stop)
    try:
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() and not stopping.done() else None
    finally:
        stopping.cancel()
        working.cancel()


async def _hangup(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
