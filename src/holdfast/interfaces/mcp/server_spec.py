"""What a server offers: who it is, when it helps, its tools, and what answers them.

Standard library only, because a server that is slow to say what it offers delays the user's first
prompt by as much. The engine is named, and loaded behind it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol, cast

import holdfast
from holdfast.app.answers.tool import Object, Tool, check, find_tool
from holdfast.errors import HoldfastError, InputError
from holdfast.interfaces.mcp.jsonrpc import INVALID_PARAMS, RpcError, choose_version

_LONGEST_NAME = 60
RESOURCE_TEMPLATES = [
    {
        "uriTemplate": "holdfast://{word}/{id}",
        "name": "record",
        "title": "A record of memory",
        "description": "Any record that a result names, with what it is made of.",
        "mimeType": "text/plain",
    }
]


class ServerSpec(NamedTuple):
    """A server. `make_engine` imports and makes what answers; tools that are `slow` have a thread
    of their own, so that the others need not wait for them; with `load` the host shows the tools
    to its model at once, instead of when they are looked for."""

    name: str
    title: str
    instructions: str
    tools: tuple[Tool, ...]
    make_engine: Callable[[], Engine]
    slow_tools: frozenset[str] = frozenset()
    always_load: bool = False

    def initialize_result(self, params: Object) -> Object:
        """Who we are, said to a client that begins."""
        return {
            "protocolVersion": choose_version(params.get("protocolVersion")),
            "capabilities": {"tools": {"listChanged": False}, "resources": {}},
            "serverInfo": {
                "name": self.name,
                "title": self.title,
                "version": holdfast.__version__,
            },
            "instructions": self.instructions,
        }

    def list_tools(self) -> list[Object]:
        """All tools, as they are offered."""
        return [describe_tool(tool, self.always_load) for tool in self.tools]

    def check_call(self, params: Object) -> tuple[str, Object]:
        """The name and the arguments of a call; raises RpcError where they are not as offered."""
        try:
            tool = find_tool(self.tools, params.get("name"))
            return tool.name, check(tool, params.get("arguments"))
        except InputError as error:
            raise RpcError(INVALID_PARAMS, f"{error.message} {error.remedy}".strip()) from error


def client_name(params: Object) -> str:
    """What a client that begins calls itself."""
    client: object = params.get("clientInfo")
    name: object = cast(Object, client).get("name") if isinstance(client, dict) else ""
    return name[:_LONGEST_NAME] if isinstance(name, str) else ""


def progress_token(params: Object) -> str | int | None:
    """By what a client wants to be told how far a call is; None where it does not."""
    meta: object = params.get("_meta")
    token = cast(Object, meta).get("progressToken") if isinstance(meta, dict) else None
    return token if isinstance(token, str | int) else None


def describe_tool(tool: Tool, load: bool) -> Object:
    """How a tool is offered."""
    told: Object = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema(),
        "annotations": {
            "readOnlyHint": not tool.writes,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }
    meta: Object = {"anthropic/searchHint": tool.hint} if tool.hint else {}
    meta |= {"anthropic/alwaysLoad": True} if load else {}
    return told | ({"_meta": meta} if meta else {})


class CallContext:
    """A call under way: how far it is, whether anybody still waits, and who asks."""

    def __init__(
        self, tell: Callable[[float, str], None] = lambda done, message: None, client: str = ""
    ) -> None:
        self._tell = tell
        self._done = 0.0
        self._stops: list[Callable[[], object]] = []
        self.client = client
        self.cancelled = threading.Event()

    def on_cancel(self, stop: Callable[[], object]) -> None:
        """Have something stopped when the call is taken back, and now if it was already."""
        self._stops.append(stop)
        if self.cancelled.is_set():
            stop()

    def cancel(self) -> None:
        """Take the call back: nobody waits for it any more."""
        self.cancelled.set()
        for stop in list(self._stops):
            with suppress(HoldfastError, OSError):
                stop()

    def progress(self, message: str) -> None:
        """Say what is being done now."""
        self._done += 1
        if not self.cancelled.is_set():
            self._tell(self._done, message)


class Engine(Protocol):
    """What answers. All of one engine is called from one thread."""

    def call(self, name: str, arguments: Object, ask: CallContext) -> Object:
        """The result of a tool."""
        ...

    def list_resources(self) -> list[Object]:
        """A handful of records to begin with."""
        ...

    def read_resource(self, uri: str) -> Object:
        """A record by its URI; raises `NotFoundError` where there is none."""
        ...

    def close(self) -> None:
        """Let go of the files."""
        ...
