"""The engine of `holdfast mcp memory`: the data access layer, and records as resources."""

from __future__ import annotations

import json

from holdfast.app.answers.memory_tools import MemoryTools, open_memory_tools
from holdfast.app.answers.tool import Object
from holdfast.errors import HoldfastError
from holdfast.interfaces.mcp import resources
from holdfast.interfaces.mcp.memory_source import ReopeningMemory
from holdfast.interfaces.mcp.server_spec import CallContext
from holdfast.interfaces.mcp.tool_results import tool_error, tool_result


class AccessEngine:
    """Answers from a memory that is opened read-only."""

    def __init__(self) -> None:
        self._access: ReopeningMemory[MemoryTools] = ReopeningMemory(open_memory_tools)

    def call(self, name: str, arguments: Object, context: CallContext) -> Object:
        """The result of a tool. An error becomes a result too, so that the model reads it."""
        context.progress("Searching memory")
        try:
            data = self._access.current().call(name, arguments)
        except HoldfastError as error:
            return tool_error(error)
        return tool_result(json.dumps(data, ensure_ascii=False), data)

    def list_resources(self) -> list[Object]:
        """A few records to start from."""
        access = self._access.current()
        return resources.list_resources(access.reader, access.bank())

    def read_resource(self, uri: str) -> Object:
        """A record by its URI."""
        access = self._access.current()
        return resources.read_resource(access.reader, access.bank(), uri)

    def close(self) -> None:
        """Close the files."""
        self._access.close()


def make_engine() -> AccessEngine:
    """The engine of `holdfast mcp memory`."""
    return AccessEngine()
