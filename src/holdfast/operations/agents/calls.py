"""Calling a tool of an agent: with the arguments that it gave, in the bank that it works in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.app.memory import Holdfast
from holdfast.errors import NotFoundError, suggest
from holdfast.inference.chat import Tool
from holdfast.operations.agents.results import present
from holdfast.operations.agents.tools import SERVERS, AgentTool, Object
from holdfast.operations.operation import OWNER, Call
from holdfast.operations.registry import find_operation
from holdfast.operations.running import run_with
from holdfast.settings import Settings
from holdfast.store.protocol import Reader


def call_tool(
    tool: AgentTool, memory: Holdfast, read: Object, bank: str = "", call: Call = OWNER
) -> tuple[str, Object]:
    """The result of a tool, whose arguments were read, as text and as data. `bank` is meant where
    the agent names none."""
    operation = find_operation(tool.operation)
    if bank and not read.get("bank") and any(one.name == "bank" for one in operation.parameters):
        read = {**read, "bank": bank}
    return present(memory.reader, operation, run_with(operation, memory, read, call), read)


class Lookups:
    """The tools of `holdfast mcp memory` for a model that answers a question; `bank` is a name."""

    def __init__(self, settings: Settings, bank: str) -> None:
        self._memory = Holdfast(settings, create=False, only_reads=True)
        self._bank = bank
        self._tools = {one.name: one for one in SERVERS["memory"].tools}

    @property
    def reader(self) -> Reader:
        """The store."""
        return self._memory.reader

    def tools(self) -> list[Tool]:
        """The tools, as a model is told of them."""
        return [Tool(one.name, one.description, one.schema()) for one in self._tools.values()]

    def call(self, name: str, arguments: Mapping[str, Any]) -> Object:
        """The result of a tool as data."""
        tool = self._tools.get(name)
        if tool is None:
            hint = f"{suggest(name, self._tools)}There are: {', '.join(self._tools)}."
            raise NotFoundError(f"There is no tool {name[:100]!r}.", hint)
        return call_tool(tool, self._memory, tool.read(arguments), self._bank)[1]

    def close(self) -> None:
        """Close the store."""
        self._memory.close()
