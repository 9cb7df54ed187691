"""What answers `holdfast mcp memory`: the data access layer, and records as resources."""

from __future__ import annotations

import json

from holdfast.app.answers.access import Access, open_access
from holdfast.app.answers.tool import Object
from holdfast.errors import HoldfastError
from holdfast.interfaces.mcp import resources
from holdfast.interfaces.mcp.memory_source import ReopeningMemory
from holdfast.interfaces.mcp.server_spec import CallContext
from holdfast.interfaces.mcp.tool_results import tool_error, tool_result


class AccessEngine:
    """Answers from a memory that it can only read."""

    def __init__(self) -> None:
        self._access: ReopeningMemory[Access] = ReopeningMemory(open_access)

    def call(self, name: str, arguments: Object, ask: CallContext) -> Object:
        """The result of a tool; what the user can mend is told to the model as a result."""
        ask.progress("Searching memory")
        try:
            data = self._access.current().call(name, arguments)
        except HoldfastError as error:
            return tool_error(error)
        return tool_result(json.dumps(data, ensure_ascii=False), data)

    def list_resources(self) -> list[Object]:
        """A handful of records to begin with."""
        access = self._access.current()
        return resources.list_resources(access.reader, access.bank())

    def read_resource(self, uri: str) -> Object:
        """A record by its URI."""
        access = self._access.current()
        return resources.read_resource(access.reader, access.bank(), uri)

    def close(self) -> None:
        """Let go of the files."""
        self._access.close()


def make_engine() -> AccessEngine:
    """The engine of this server."""
    return AccessEngine()
