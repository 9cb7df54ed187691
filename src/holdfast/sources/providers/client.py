"""Talking to a provider: shake hands, ask what it offers, call what is allowed.

Never says more than that: no files, no folders, no model are offered to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self, cast

from holdfast.errors import ProviderError
from holdfast.sources.providers.rpc import Deadline, Object, Transport

# The newest first; nothing that we use differs between them.
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MAX_PAGES = 5
MAX_TOOLS = 200


class Tool(NamedTuple):
    """A tool as a provider tells of it. `harmless` is False where it says itself that it changes
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
        self._asked = 0
        self._failed = False

    def __enter__(self) -> Self:
        try:
            self._shake_hands()
        except BaseException:
            self._transport.close(kindly=False)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._transport.close(kindly=error is None and not self._failed)

    def _shake_hands(self) -> None:
        told = self._request(
            "initialize",
            {
                "protocolVersion": VERSIONS[0],
                "capabilities": {},
                "clientInfo": {"name": "holdfast", "version": "1"},
            },
        )
        if told.get("protocolVersion") not in VERSIONS:
            raise ProviderError("it speaks a version of the protocol that we do not")
        self._transport.notify(
            {"jsonrpc": "2.0", "method": "notifications/initialized"}, self._deadline
        )

    def tools(self) -> dict[str, Tool]:
        """What is offered, by name. A name that is offered twice means neither."""
        found: dict[str, Tool] = {}
        twice: set[str] = set()
        cursor: object = None
        for _ in range(MAX_PAGES):
            told = self._request("tools/list", {"cursor": cursor} if cursor else {})
            items: object = told.get("tools")
            for item in cast(list[object], items) if isinstance(items, list) else []:
                tool = _tool(item)
                if tool is not None and tool.name in found:
                    twice.add(tool.name)
                elif tool is not None and len(found) < MAX_TOOLS:
                    found[tool.name] = tool
            cursor = told.get("nextCursor")
            if not isinstance(cursor, str) or not cursor:
                break
        return {name: tool for name, tool in found.items() if name not in twice}

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Object:
        """What a tool answers."""
        told = self._request("tools/call", {"name": tool, "arguments": dict(arguments)})
        if told.get("isError") is True:
            raise ProviderError("its tool reports a failure")
        return told

    def _request(self, method: str, params: Object) -> Object:
        self._asked += 1
        id = self._asked
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        try:
            told = self._transport.request(message, self._deadline)
        except ProviderError:
            self._failed = True
            raise
        if "error" in told:
            raise ProviderError(f"it refuses {method}")
        if not isinstance(told["result"], dict):
            raise ProviderError(f"its answer to {method} has no sense")
        return cast(Object, told["result"])


def _tool(told: object) -> Tool | None:
    if not isinstance(told, dict):
        return None
    item = cast(Object, told)
    name, description, schema = item.get("name"), item.get("description"), item.get("inputSchema")
    if not isinstance(name, str) or not isinstance(schema, dict):
        return None
    hints: object = item.get("annotations")
    notes = cast(Object, hints) if isinstance(hints, dict) else {}
    reads: object = notes.get("readOnlyHint")
    harmless = reads is True or (reads is None and notes.get("destructiveHint") is not True)
    text = description if isinstance(description, str) else ""
    return Tool(name, text[:2000], cast(Object, schema), harmless)
