"""The server: answers what it can at once, and questions of memory from a thread behind it.

It says who it is and what it offers before the engine is loaded. Questions are answered one
after another, in the order in which they came; a ping is answered meanwhile. When its input
ends it ends, and what helps it (`companions`) is stopped first.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Sequence
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


class Companion(Protocol):
    """Something that runs beside the server for as long as it does."""

    def start(self) -> None:
        """Begin, in a thread of its own."""

    def stop(self) -> None:
        """End, and leave nothing behind."""


class Server:
    """One client's server."""

    def __init__(
        self, write: Callable[[str], object], companions: Sequence[Companion] = ()
    ) -> None:
        self._write = write
        self._companions = companions
        self._writing = threading.Lock()
        self._calls: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._cancelled: set[str | int] = set()
        self._quick: dict[str, Callable[[Object], Object]] = {
            "initialize": _initialize,
            "ping": lambda params: {},
            "tools/list": lambda params: {"tools": tools.list_tools()},
        }

    def serve(self, lines: Iterable[str]) -> None:
        """Answer until the input ends."""
        engine = threading.Thread(target=self._answer_calls, name="engine", daemon=True)
        engine.start()
        for companion in self._companions:
            companion.start()
        try:
            for line in lines:
                for message in read_messages(line) if line.strip() else ():
                    self._take(message)
        finally:
            self._calls.put(None)
            for companion in self._companions:
                companion.stop()

    def _take(self, message: Message) -> None:
        if message.error is not None:
            if message.id is not None or not message.method:
                self._send(failure(message.id, message.error))
        elif message.id is None:
            self._notice(message)
        elif message.method in self._quick:
            self._send(result(message.id, self._quick[message.method](message.params)))
        elif message.method == "tools/call":
            self._calls.put(message)
        else:
            error = RpcError(METHOD_NOT_FOUND, f"There is no method {message.method!r}.")
            self._send(failure(message.id, error))

    def _notice(self, message: Message) -> None:
        if message.method == "notifications/cancelled":
            id: object = message.params.get("requestId")
            if isinstance(id, str | int):
                self._cancelled.add(id)

    def _send(self, line: str) -> None:
        with self._writing:
            self._write(line)

    def _answer_calls(self) -> None:
        """The engine's thread: loads it while the client still talks to us, then answers."""
        answers: Any = import_module(_ENGINE).Answers()
        while (message := self._calls.get()) is not None:
            if message.id in self._cancelled:
                self._cancelled.discard(message.id)
                continue
            try:
                name, arguments = tools.check_call(message.params)
                self._send(result(message.id, answers.call(name, arguments)))
            except RpcError as error:
                self._send(failure(message.id, error))
            except BrokenPipeError:
                return
            except Exception as error:
                told = RpcError(INTERNAL_ERROR, f"A fault in Holdfast: {error!r}.")
                self._send(failure(message.id, told))
                raise


def _initialize(params: Object) -> Object:
    return {
        "protocolVersion": agree(params.get("protocolVersion")),
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "holdfast", "title": "Holdfast", "version": holdfast.__version__},
        "instructions": tools.INSTRUCTIONS,
    }
