"""Tools of an MCP server, called as its engine calls them."""

from __future__ import annotations

from typing import Any

from holdfast.interfaces.mcp.engine import ToolEngine
from holdfast.interfaces.mcp.protocol import CallContext

Json = dict[str, Any]


class ToolError(Exception):
    """What a tool answered that refused a call."""


class Tools:
    """The tools of a server, in a bank; the home is in the environment."""

    def __init__(self, server: str = "main", bank: str | None = "all") -> None:
        self.engine = ToolEngine(server, bank=bank)

    def __call__(self, name: str, **given: Any) -> Json:
        """The data of a result; raises `ToolError` for one that says what is wrong."""
        told = self.told(name, **given)
        if told.get("isError"):
            raise ToolError(told["content"][0]["text"])
        return told["structuredContent"]

    def text(self, name: str, **given: Any) -> str:
        """The text of a result, or of an error."""
        return self.told(name, **given)["content"][0]["text"]

    def told(self, name: str, **given: Any) -> Json:
        """The whole result."""
        return self.engine.call(name, given, CallContext(client="a client"))
