"""The server: answers what it can at once, and questions of memory from threads behind it.

It says who it is and what it offers before the engine is loaded. Questions are answered one after
another, in the order in which they came, those that take long beside the others; a ping is
answered meanwhile. Companions, such as the socket that hooks ask, are started once the engine is
there. When its input ends it gives what was asked a moment to be answered, closes them, and ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from typing import NamedTuple, Protocol

from holdfast.errors import HoldfastError
from holdfast.interfaces.mcp.jsonrpc import (
    BUSY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
    Message,
    Object,
    RpcError,
    encode_error,
    encode_notification,
    encode_result,
    read_messages,
)
from holdfast.interfaces.mcp.server_spec import (
    RESOURCE_TEMPLATES,
    CallContext,
    Engine,
    ServerSpec,
    client_name,
    progress_token,
)

_LAST_ANSWERS_S = 5.0
# For what is taken back then, to end what it began.
_LAST_STEPS_S = 1.5
ENGINE_LOAD_DELAY_S = 1.5
# More than these wait for nothing; what a client may make us keep has an end.
MAX_PENDING_CALLS = 1_000

Id = str | int | None


class Companion(Protocol):
    """Something that runs in a thread beside the server, for as long as it does."""

    def close(self) -> None:
        """End, and leave nothing behind."""
        ...


def no_companions() -> Sequence[Companion]:
    """For a server that is alone."""
    return ()


class _Asked(NamedTuple):
    future: Future[None]
    ask: CallContext


class _Lane:
    """A thread with an engine of its own, loaded when it is first wanted."""

    def __init__(self, make_engine: Callable[[], Engine]) -> None:
        self._make_engine = make_engine
        self.thread = ThreadPoolExecutor(1, "engine")
        self.engine: Engine | None = None

    def load(self) -> Engine:
        if self.engine is None:
            self.engine = self._make_engine()
        return self.engine


class Server:
    """One client's server."""

    def __init__(
        self,
        write: Callable[[str], object],
        offer: ServerSpec,
        companions: Callable[[], Sequence[Companion]] = no_companions,
        calm_s: float = ENGINE_LOAD_DELAY_S,
    ) -> None:
        self._write = write
        self._writing = threading.Lock()
        self._offer = offer
        self._make_companions = companions
        self._calm_s = calm_s
        self._companions: list[Companion] = []
        self.lanes = (_Lane(offer.make_engine), _Lane(offer.make_engine))
        self._asked: dict[Id, _Asked] = {}
        self._wanted = threading.Event()
        self._over = False
        self._client = ""
        self._quick: dict[str, Callable[[Object], Object]] = {
            "initialize": self._initialize,
            "ping": lambda params: {},
            "tools/list": lambda params: {"tools": offer.list_tools()},
            "resources/templates/list": lambda params: {"resourceTemplates": RESOURCE_TEMPLATES},
        }

    def serve(self, lines: Iterable[str]) -> None:
        """Answer until the input ends."""
        ready = self.lanes[0].thread.submit(self._prepare)
        try:
            for line in lines:
                for message in read_messages(line) if line.strip() else ():
                    self.handle(message)
            self._over = True
            self._wanted.set()
            waiting = [asked.future for asked in list(self._asked.values())]
            wait([ready, *waiting], _LAST_ANSWERS_S)
        finally:
            left = list(self._asked.values())
            for asked in left:
                asked.ask.cancel()
                asked.future.cancel()
            wait([asked.future for asked in left], _LAST_STEPS_S)
            for companion in self._companions:
                companion.close()
            for lane in self.lanes:
                lane.thread.shutdown(wait=False, cancel_futures=True)

    def handle(self, message: Message) -> None:
        """Answer a message, now or later."""
        if message.error is not None:
            if message.id is not None or not message.method:
                self._send(encode_error(message.id, message.error))
        elif message.id is None:
            self._notice(message)
        elif message.method in self._quick:
            self._send(encode_result(message.id, self._quick[message.method](message.params)))
        else:
            try:
                lane, answer = self._job(message)
            except RpcError as error:
                self._send(encode_error(message.id, error))
            else:
                self._ask(message, lane, answer)

    def _job(self, message: Message) -> tuple[_Lane, Callable[[Engine, CallContext], Object]]:
        """Who answers a message, and how; raises RpcError where nobody can."""
        quick, slow = self.lanes
        if message.method == "tools/call":
            name, arguments = self._offer.check_call(message.params)
            lane = slow if name in self._offer.slow_tools else quick
            return lane, lambda engine, ask: engine.call(name, arguments, ask)
        if message.method == "resources/list":
            return quick, lambda engine, ask: {"resources": engine.list_resources()}
        if message.method == "resources/read":
            uri: object = message.params.get("uri")
            if not isinstance(uri, str):
                raise RpcError(INVALID_PARAMS, "uri must be a string.")
            return quick, lambda engine, ask: engine.read_resource(uri)
        raise RpcError(METHOD_NOT_FOUND, f"There is no method {message.method!r}.")

    def _notice(self, message: Message) -> None:
        if message.method == "notifications/cancelled":
            id: object = message.params.get("requestId")
            if isinstance(id, str | int):
                self.take_back(id)

    def take_back(self, id: str | int) -> None:
        """A call that nobody waits for ends, if it is still under way."""
        asked = self._asked.get(id)
        if asked is not None:
            asked.ask.cancel()
            asked.future.cancel()

    def _ask(self, message: Message, lane: _Lane, answer: Callable[[Engine, CallContext], Object]) -> None:
        if len(self._asked) >= MAX_PENDING_CALLS:
            busy = RpcError(BUSY, f"{MAX_PENDING_CALLS} requests wait already. Try again later.")
            self._send(encode_error(message.id, busy))
            return
        ask = CallContext(self._teller(message.params), self._client)
        self._wanted.set()
        future = lane.thread.submit(self._answer, message.id, lane, answer, ask)
        self._asked[message.id] = _Asked(future, ask)
        future.add_done_callback(partial(self._close, message.id))

    def _teller(self, params: Object) -> Callable[[float, str], None]:
        """Tells a client how far a call is, if it wants to know."""
        token = progress_token(params)
        if token is None:
            return lambda done, text: None
        return lambda done, text: self._send(
            encode_notification(
                "notifications/progress",
                {"progressToken": token, "progress": done, "message": text},
            )
        )

    def _prepare(self) -> None:
        """Load what takes long, as soon as it is asked for, or when the client has come to rest:
        until then it would only slow down the start of the session."""
        self._wanted.wait(self._calm_s)
        if self._over:
            return
        self.lanes[0].load()
        self._companions.extend(self._make_companions())

    def _answer(
        self, id: Id, lane: _Lane, answer: Callable[[Engine, CallContext], Object], ask: CallContext
    ) -> None:
        try:
            told = encode_result(id, answer(lane.load(), ask))
        except HoldfastError as error:
            text = f"{error.message} {error.remedy}".strip()
            told = encode_error(id, RpcError(RESOURCE_NOT_FOUND, text))
        if not ask.cancelled.is_set():
            self._send(told)

    def _close(self, id: Id, future: Future[None]) -> None:
        """A question is done with; one that we failed at is owed an answer all the same."""
        self._asked.pop(id, None)
        fault = None if future.cancelled() else future.exception()
        if fault is not None:
            self._send(encode_error(id, RpcError(INTERNAL_ERROR, f"A fault in Holdfast: {fault!r}")))

    def _send(self, line: str) -> None:
        # A client that is gone reads nothing; its input ends too, and with it the server.
        with self._writing, suppress(OSError, ValueError):
            self._write(line)

    def _initialize(self, params: Object) -> Object:
        self._client = client_name(params)
        return self._offer.initialize_result(params)
