"""The server: answers what it can at once, and questions of memory from a thread behind it.

It says who it is and what it offers before the engine is loaded. Questions are answered one
after another, in the order in which they came; a ping is answered meanwhile. Companions, such as
the socket that hooks ask, are started once the engine is there. When its input ends it gives what
was asked a moment to be answered, closes them, and ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import holdfast
from holdfast.interfaces.mcp import tools
from holdfast.interfaces.mcp.wire import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    Message,
    Object,
    RpcError,
    agree,
    failure,
    read_messages,
    result,
)

_ENGINE = "holdfast.interfaces.mcp.answers"
_LAST_ANSWERS_S = 5.0
CALM_S = 1.5

Id = str | int | None


class Companion(Protocol):
    """Something that runs in a thread beside the server, for as long as it does."""

    def close(self) -> None:
        """End, and leave nothing behind."""
        ...


def no_companions() -> Sequence[Companion]:
    """For a server that is alone."""
    return ()


class Server:
    """One client's server."""

    def __init__(
        self,
        write: Callable[[str], object],
        companions: Callable[[], Sequence[Companion]] = no_companions,
        calm_s: float = CALM_S,
    ) -> None:
        self._write = write
        self._writing = threading.Lock()
        self._make_companions = companions
        self._calm_s = calm_s
        self._companions: list[Companion] = []
        self._thread = ThreadPoolExecutor(1, "engine")
        self._answers: Any = None
        self._asked: dict[Id, Future[None]] = {}
        self._wanted = threading.Event()
        self._over = False
        self._quick: dict[str, Callable[[Object], Object]] = {
            "initialize": _initialize,
            "ping": lambda params: {},
            "tools/list": lambda params: {"tools": tools.list_tools()},
        }

    def serve(self, lines: Iterable[str]) -> None:
        """Answer until the input ends."""
        ready = self._thread.submit(self._prepare)
        try:
            for line in lines:
                for message in read_messages(line) if line.strip() else ():
                    self._take(message)
            self._over = True
            self._wanted.set()
            wait([ready, *self._asked.values()], _LAST_ANSWERS_S)
        finally:
            for companion in self._companions:
                companion.close()
            self._thread.shutdown(wait=False, cancel_futures=True)

    def _take(self, message: Message) -> None:
        if message.error is not None:
            if message.id is not None or not message.method:
                self._send(failure(message.id, message.error))
        elif message.id is None:
            self._notice(message)
        elif message.method in self._quick:
            self._send(result(message.id, self._quick[message.method](message.params)))
        elif message.method == "tools/call":
            self._ask(message)
        else:
            error = RpcError(METHOD_NOT_FOUND, f"There is no method {message.method!r}.")
            self._send(failure(message.id, error))

    def _notice(self, message: Message) -> None:
        if message.method == "notifications/cancelled":
            id: object = message.params.get("requestId")
            asked = self._asked.get(id) if isinstance(id, str | int) else None
            if asked is not None:
                asked.cancel()

    def _ask(self, message: Message) -> None:
        try:
            name, arguments = tools.check_call(message.params)
        except RpcError as error:
            self._send(failure(message.id, error))
            return
        self._wanted.set()
        future = self._thread.submit(self._answer, message.id, name, arguments)
        self._asked[message.id] = future
        future.add_done_callback(partial(self._close, message.id))

    def _prepare(self) -> None:
        """Load what takes long, as soon as it is asked for, or when the client has come to rest:
        until then it would only slow down the start of the session."""
        self._wanted.wait(self._calm_s)
        if self._over:
            return
        self._load()
        self._companions.extend(self._make_companions())

    def _load(self) -> None:
        self._answers = self._answers or import_module(_ENGINE).Answers()

    def _answer(self, id: Id, name: str, arguments: dict[str, str]) -> None:
        self._load()
        self._send(result(id, self._answers.call(name, arguments)))

    def _close(self, id: Id, future: Future[None]) -> None:
        """A question is done with; one that we failed at is owed an answer all the same."""
        fault = None if future.cancelled() else future.exception()
        if fault is not None:
            self._send(failure(id, RpcError(INTERNAL_ERROR, f"A fault in Holdfast: {fault!r}")))
        self._asked.pop(id, None)

    def _send(self, line: str) -> None:
        with self._writing:
            self._write(line)


def _initialize(params: Object) -> Object:
    return {
        "protocolVersion": agree(params.get("protocolVersion")),
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "holdfast", "title": "Holdfast", "version": holdfast.__version__},
        "instructions": tools.INSTRUCTIONS,
    }
