"""`/mcp`: the tools of `holdfast mcp` over streamable HTTP, for whoever has a key.

The address says which bank is meant (`/mcp?bank=NAME`). A call that wants to know how far it is
gets a stream of events, any other plain JSON; of a client that hangs up it is taken back, for it
could not be told later. There is nothing that we would say unasked, so nobody can listen by GET.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query, Request, Response

from holdfast.app.memory import Holdfast
from holdfast.app.search.old_recall import ALL_BANKS
from holdfast.errors import (
    BusyError,
    HoldfastError,
    InputError,
    ModelBusyError,
    NotFoundError,
    StoreBusyError,
)
from holdfast.interfaces.http.api.handling import Asked, Asking, NotJsonError
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.core.streaming import Told
from holdfast.interfaces.http.mcp.agent_sessions import McpSession, SessionTable
from holdfast.interfaces.mcp.jsonrpc import (
    BUSY,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    PROTOCOL_VERSIONS,
    RESOURCE_NOT_FOUND,
    Message,
    Object,
    RpcError,
    encode_error,
    encode_notification,
    encode_result,
    read_messages,
)
from holdfast.interfaces.mcp.main_engine import MainEngine
from holdfast.interfaces.mcp.main_spec import SPEC
from holdfast.interfaces.mcp.main_write_tools import WriteTools
from holdfast.interfaces.mcp.memory_source import BorrowedMemory
from holdfast.interfaces.mcp.server_spec import (
    RESOURCE_TEMPLATES,
    CallContext,
    ServerSpec,
    client_name,
    progress_token,
)
from holdfast.principal import Level, Principal

PATH = "/mcp"
SESSION = "Mcp-Session-Id"
MOST_MESSAGES = 50
_CANCELLED = RpcError(-32800, "It was cancelled.")
_BUSY = (BusyError, StoreBusyError, ModelBusyError)
_JSON = "application/json"

T = TypeVar("T")
Bank = Annotated[str, Query(max_length=200)]
Tell = Callable[[str], None]
router = APIRouter()


@router.post(PATH)
async def post(asked: Asking, request: Request, bank: Bank = "") -> Response:
    """Messages of a client, and what is said to them."""
    _check(request)
    messages = _read(await request.body())
    sessions: SessionTable = request.app.state.site.agents
    is_new = any(message.method == "initialize" for message in messages)
    if is_new:
        name = next(client_name(m.params) for m in messages if m.method == "initialize")
        session = sessions.begin(_owner(), name)
    else:
        session = _known(request, sessions)
    talk = _Talk(asked, session, bank)
    if any(m.id is not None and progress_token(m.params) is not None for m in messages):
        return asked.streams.answer(talk.events(messages))
    told = await _while_there(request, talk.answers(messages))
    if not told:
        return Response(status_code=202)
    whole = told[0] if len(messages) == 1 else f"[{','.join(told)}]"
    return Response(whole, headers={SESSION: session.id} if is_new else {}, media_type=_JSON)


@router.delete(PATH)
async def delete(request: Request) -> Response:
    """A client leaves."""
    _check(request)
    sessions: SessionTable = request.app.state.site.agents
    sessions.end(_known(request, sessions).id, _owner())
    return Response(status_code=204)


def _check(request: Request) -> None:
    """What every request must be like; who asks was looked at before."""
    if request.scope.get("visitor"):
        raise InputError("A browser's cookie is not taken here.", "Send a key as a bearer token.")
    version = request.headers.get("mcp-protocol-version")
    if version is not None and version not in PROTOCOL_VERSIONS:
        raise InputError("This version of the protocol is not spoken.", f"One of: {PROTOCOL_VERSIONS}.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method == "POST" and kind != _JSON:
        raise NotJsonError("Only JSON is taken.", f"Send it with Content-Type: {_JSON}.")


def _read(body: bytes) -> list[Message]:
    try:
        messages = read_messages(body.decode())
    except UnicodeDecodeError as error:
        raise InputError("This is not UTF-8.", "JSON is sent in UTF-8.") from error
    if len(messages) > MOST_MESSAGES:
        raise InputError(f"At most {MOST_MESSAGES} messages are taken at once.")
    return messages


def _owner() -> str:
    """Whose a session is: a key's, or that of whoever runs the server."""
    return principal().key


def _known(request: Request, sessions: SessionTable) -> McpSession:
    id = request.headers.get(SESSION)
    if id is None:
        raise InputError(f"{SESSION} is missing.", "Initialize first.")
    return sessions.find(id, _owner())


class _Talk:
    """One request of a client."""

    def __init__(self, asked: Asked, session: McpSession, bank: str) -> None:
        self._asked = asked
        self._session = session
        self._bank = meant_bank(bank, principal())
        self._offer = offered(principal())
        self._quick: dict[str, Callable[[Object], Object]] = {
            "initialize": self._offer.initialize_result,
            "ping": lambda params: {},
            "tools/list": lambda params: {"tools": self._offer.list_tools()},
            "resources/templates/list": lambda params: {"resourceTemplates": RESOURCE_TEMPLATES},
        }

    async def answers(self, messages: Sequence[Message]) -> list[str]:
        """What is said to messages, once all of it is known."""
        told = await asyncio.gather(*(self._answer(m, lambda line: None) for m in messages))
        return [line for line in told if line]

    async def events(self, messages: Sequence[Message]) -> AsyncGenerator[Told]:
        """The same as it comes, with how far it is."""
        lines: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def tell(line: str) -> None:
            loop.call_soon_threadsafe(lines.put_nowait, line)

        async def all_of_it() -> None:
            try:
                for answer in asyncio.as_completed([self._answer(m, tell) for m in messages]):
                    lines.put_nowait(await answer)
            finally:
                lines.put_nowait(None)

        working = asyncio.create_task(all_of_it())
        try:
            while (line := await lines.get()) is not None:
                if line:
                    yield Told("message", json.loads(line))
            await working
        finally:
            working.cancel()

    async def _answer(self, message: Message, tell: Tell) -> str:
        """What one message is owed; "" where that is nothing."""
        id = message.id
        if message.error is not None:
            return encode_error(id, message.error) if id is not None or not message.method else ""
        if id is None:
            self._notice(message)
            return ""
        try:
            if message.method in self._quick:
                return encode_result(id, self._quick[message.method](message.params))
            return encode_result(id, await self._call(id, message, tell))
        except RpcError as error:
            return encode_error(id, error)
        except HoldfastError as error:
            return encode_error(id, RpcError(_code(error), f"{error.message} {error.remedy}".strip()))

    def _notice(self, message: Message) -> None:
        if message.method == "notifications/cancelled":
            id: object = message.params.get("requestId")
            if isinstance(id, str | int):
                self._session.take_back(id)

    async def _call(self, id: str | int, message: Message, tell: Tell) -> Object:
        """What the memory says; ends at once when the call is taken back."""
        what = self._job(message)
        ask = CallContext(self._teller(message.params, tell), self._session.client)
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        ask.on_cancel(lambda: loop.call_soon_threadsafe(over.set))
        desk = self._asked.desk
        slow = message.params.get("name") in self._offer.slow_tools
        hand_in = desk.think if slow else desk.work
        with self._session.under_way(id, ask):
            working = asyncio.create_task(hand_in(lambda m: what(m, ask)))
            ending = asyncio.create_task(over.wait())
            try:
                await asyncio.wait((working, ending), return_when=asyncio.FIRST_COMPLETED)
                if over.is_set():
                    raise _CANCELLED
                return working.result()
            finally:
                ending.cancel()
                if not working.done():
                    ask.cancel()
                    working.cancel()

    def _job(self, message: Message) -> Callable[[Holdfast, CallContext], Object]:
        if message.method == "tools/call":
            name, arguments = self._offer.check_call(message.params)
            return lambda memory, ask: self._engine(memory).call(name, arguments, ask)
        if message.method == "resources/list":
            return lambda memory, ask: {"resources": self._engine(memory).list_resources()}
        if message.method == "resources/read":
            uri: object = message.params.get("uri")
            if not isinstance(uri, str):
                raise RpcError(INVALID_PARAMS, "uri must be a string.")
            return lambda memory, ask: self._engine(memory).read_resource(uri)
        raise RpcError(METHOD_NOT_FOUND, f"There is no method {message.method[:100]!r}.")

    def _engine(self, memory: Holdfast) -> MainEngine:
        return MainEngine(BorrowedMemory(memory), WriteTools(BorrowedMemory(memory), self._bank), self._bank)

    def _teller(self, params: Object, tell: Tell) -> Callable[[float, str], None]:
        token = progress_token(params)
        if token is None:
            return lambda done, text: None

        def told(done: float, text: str) -> None:
            said = {"progressToken": token, "progress": done, "message": text}
            tell(encode_notification("notifications/progress", said))

        return told


def offered(who: Principal) -> ServerSpec:
    """What somebody may call."""
    may_write = who.level.includes(Level.WRITE)
    return SPEC._replace(tools=tuple(t for t in SPEC.tools if may_write or not t.writes))


def meant_bank(named: str, who: Principal) -> str:
    """The bank that is asked: the one that the address names, the only one that there is for
    whoever asks, or all that they see."""
    if named:
        return named
    return who.banks[0] if who.banks is not None and len(who.banks) == 1 else ALL_BANKS


def _code(error: HoldfastError) -> int:
    if isinstance(error, _BUSY):
        return BUSY
    return RESOURCE_NOT_FOUND if isinstance(error, NotFoundError) else INVALID_PARAMS


async def _while_there(request: Request, what: Coroutine[Any, Any, T]) -> T | None:
    """What is asked for, unless the client hangs up before."""
    working = asyncio.create_task(what)
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        gone.cancel()
        working.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
