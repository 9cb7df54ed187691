"""The MCP client of a provider: initialize, list tools, call tools.

It offers the provider nothing in return: no files, no folders, no model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self, cast

from holdfast.errors import ProviderError
from holdfast.sources.json_fields import items, mapping, string
from holdfast.sources.providers.rpc import Deadline, Object, Transport

# Protocol versions, the newest first; what we use is the same in all of them.
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
# Of a list of tools. The others are ignored.
MAX_PAGES = 5
MAX_TOOLS = 200
_MAX_DESCRIPTION_CHARS = 2000


class Tool(NamedTuple):
    """A tool of a provider. `harmless` is False where the provider says that it changes
    something."""

    name: str
    description: str
    schema: Object
    harmless: bool = True


class ProviderClient:
    """A conversation with one server of a provider, until a deadline."""

    def __init__(self, transport: Transport, deadline: Deadline) -> None:
        self._transport = transport
        self._deadline = deadline
        self._last_id = 0
        self._failed = False

    def __enter__(self) -> Self:
        try:
            self._initialize()
        except BaseException:
            self._transport.close(kindly=False)
            raise
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self._transport.close(kindly=error is None and not self._failed)

    def _initialize(self) -> None:
        client = {"name": "holdfast", "version": "1"}
        offer = {"protocolVersion": VERSIONS[0], "capabilities": {}, "clientInfo": client}
        result = self._request("initialize", offer)
        if result.get("protocolVersion") not in VERSIONS:
            raise ProviderError("its protocol version is not supported")
        initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self._transport.notify(initialized, self._deadline)

    def tools(self) -> dict[str, Tool]:
        """The tools by name. A name that occurs twice is left out."""
        found: dict[str, Tool] = {}
        duplicates: set[str] = set()
        cursor: object = None
        for _ in range(MAX_PAGES):
            page = self._request("tools/list", {"cursor": cursor} if cursor else {})
            for item in items(page.get("tools")):
                tool = _tool(item)
                if tool is not None and tool.name in found:
                    duplicates.add(tool.name)
                elif tool is not None and len(found) < MAX_TOOLS:
                    found[tool.name] = tool
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or not cursor:
                break
        return {name: tool for name, tool in found.items() if name not in duplicates}

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Object:
        """The result of a tool."""
        result = self._request("tools/call", {"name": tool, "arguments": dict(arguments)})
        if result.get("isError") is True:
            raise ProviderError("its tool reports a failure")
        return result

    def _request(self, method: str, params: Object) -> Object:
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        try:
            answer = self._transport.request(message, self._deadline)
        except ProviderError:
            self._failed = True
            raise
        if "error" in answer:
            raise ProviderError(f"it refuses {method}")
        if not isinstance(answer["result"], dict):
            raise ProviderError(f"its answer to {method} is invalid")
        return cast(Object, answer["result"])


def _tool(value: object) -> Tool | None:
    item = mapping(value)
    name, schema = item.get("name"), item.get("inputSchema")
    if not isinstance(name, str) or not isinstance(schema, dict):
        return None
    hints = mapping(item.get("annotations"))
    read_only: object = hints.get("readOnlyHint")
    harmless = read_only is True or (read_only is None and hints.get("destructiveHint") is not True)
    description = string(item, "description")[:_MAX_DESCRIPTION_CHARS]
    return Tool(name, description, cast(Object, schema), harmless)
