"""What an MCP server consists of: its name, instructions, tools, and the engine that answers.

Standard library only: Claude Code starts the server before the user's first prompt and waits for
its list of tools, so the engine and everything behind it is imported later (`make_engine`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol, cast

from holdfast.app.answers.tool import Object, Tool, check_arguments, find_tool
from holdfast.errors import HoldfastError, InputError
from holdfast.interfaces.mcp.jsonrpc import INVALID_PARAMS, RpcError, choose_version
from holdfast.version import __version__

# The name of a client is kept with what it writes; a longer one is cut to this.
_MAX_CLIENT_NAME_CHARS = 60
_DATA = "structuredContent"
# Parts of the names that agents give when they connect. Other clients are programs.
_AGENTS = ("claude", "codex", "copilot", "cursor", "gemini", "opencode", "vscode")
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
    """A server. Tools that are slow run in a thread of their own, so that the others need not wait
    for them. Without `lists_records` the list of resources is empty, and known
    without the engine; records are read by the URIs in results all the same."""

    name: str
    title: str
    instructions: str
    tools: tuple[Tool, ...]
    make_engine: Callable[[], Engine]
    lists_records: bool = True

    def initialize_result(self, params: Object) -> Object:
        """The result of `initialize`."""
        return {
            "protocolVersion": choose_version(params.get("protocolVersion")),
            "capabilities": {"tools": {"listChanged": False}, "resources": {}},
            "serverInfo": {
                "name": self.name,
                "title": self.title,
                "version": __version__,
            },
            "instructions": self.instructions,
        }

    def list_tools(self) -> list[Object]:
        """The tools of the result of `tools/list`."""
        return list(map(describe_tool, self.tools))

    def check_call(self, params: Object) -> tuple[str, Object]:
        """The name and the arguments of a tool call; raises RpcError if they are not valid."""
        try:
            tool = find_tool(self.tools, params.get("name"))
            return tool.name, check_arguments(tool, params.get("arguments"))
        except InputError as error:
            raise RpcError(INVALID_PARAMS, error.full_text) from error


def tool_result(text: str, data: Object) -> Object:
    """The result of a tool, as text and as data."""
    return {"content": [{"type": "text", "text": text}], _DATA: data}


def for_client(result: Object, client: str) -> Object:
    """The result of a tool as a client should get it. Agents show their model the data instead of
    the text if they are given both, and the text is made for a model to read."""
    is_agent = any(name in client.lower() for name in _AGENTS)
    return {key: value for key, value in result.items() if key != _DATA or not is_agent}


def tool_error(error: HoldfastError) -> Object:
    """An error as the result of a tool, which the model reads."""
    return {"content": [{"type": "text", "text": error.full_text}], "isError": True}


def client_name(params: Object) -> str:
    """What a client calls itself in the parameters of `initialize`; "" if it does not say."""
    client: object = params.get("clientInfo")
    name: object = cast(Object, client).get("name") if isinstance(client, dict) else ""
    return name[:_MAX_CLIENT_NAME_CHARS] if isinstance(name, str) else ""


def progress_token(params: Object) -> str | int | None:
    """The token that progress notifications of a call must carry; None if none are wanted."""
    meta: object = params.get("_meta")
    token = cast(Object, meta).get("progressToken") if isinstance(meta, dict) else None
    return token if isinstance(token, str | int) else None


def describe_tool(tool: Tool) -> Object:
    """A tool as `tools/list` shows it."""
    description: Object = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema(),
        "annotations": {"readOnlyHint": not tool.writes, **_writing(tool), "openWorldHint": False},
    }
    meta: Object = {"anthropic/searchHint": tool.hint} if tool.hint else {}
    meta |= {"anthropic/alwaysLoad": True} if tool.always_load else {}
    return description | ({"_meta": meta} if meta else {})


def _writing(tool: Tool) -> Object:
    """What the protocol asks only of a tool that writes. No tool destroys: all can be undone."""
    return {"destructiveHint": False, "idempotentHint": True} if tool.writes else {}


class CallContext:
    """A call in progress: reports progress to the client, and is cancelled by it.

    `client` is the name of the calling program.
    """

    def __init__(
        self,
        send_progress: Callable[[float, str], None] = lambda done, message: None,
        client: str = "",
    ) -> None:
        self._send_progress = send_progress
        self._steps_done = 0.0
        self._cancel_handlers: list[Callable[[], object]] = []
        self.client = client
        self.cancelled = threading.Event()

    def on_cancel(self, handler: Callable[[], object]) -> None:
        """Run `handler` when the call is cancelled, or now if it was already."""
        self._cancel_handlers.append(handler)
        if self.cancelled.is_set():
            handler()

    def cancel(self) -> None:
        """Cancel the call: nobody waits for its result any more."""
        self.cancelled.set()
        for handler in list(self._cancel_handlers):
            with suppress(HoldfastError, OSError):
                handler()

    def progress(self, message: str) -> None:
        """Report what is being done now."""
        self._steps_done += 1
        if not self.cancelled.is_set():
            self._send_progress(self._steps_done, message)


class Engine(Protocol):
    """What answers calls. All methods of one engine are called from one thread."""

    def call(self, name: str, arguments: Object, context: CallContext) -> Object:
        """The result of a tool."""
        ...

    def list_resources(self) -> list[Object]:
        """A few records to start from."""
        ...

    def read_resource(self, uri: str) -> Object:
        """A record by its URI; raises `NotFoundError` if there is none."""
        ...

    def close(self) -> None:
        """Close the files."""
        ...
