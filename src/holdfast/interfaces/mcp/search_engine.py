"""The engine of `holdfast mcp search`: index entries as data and as text."""

from __future__ import annotations

from holdfast.app.answers.search_tools import SearchTools, open_search_tools
from holdfast.app.answers.tool import Object
from holdfast.errors import HoldfastError
from holdfast.interfaces.mcp import resources
from holdfast.interfaces.mcp.memory_source import ReopeningMemory
from holdfast.interfaces.mcp.server_spec import CallContext
from holdfast.interfaces.mcp.tool_results import tool_error, tool_result

_ANCHOR_MARK = " ← anchor"


class SearchEngine:
    """Answers from a memory that is opened read-only."""

    def __init__(self) -> None:
        self._search: ReopeningMemory[SearchTools] = ReopeningMemory(open_search_tools)

    def call(self, name: str, arguments: Object, context: CallContext) -> Object:
        """The result of a tool. An error becomes a result too, so that the model reads it."""
        context.progress("Searching memory")
        try:
            data = self._search.current().call(name, arguments)
        except HoldfastError as error:
            return tool_error(error)
        return tool_result(entries_text(data), data)

    def list_resources(self) -> list[Object]:
        """A few records to start from."""
        search = self._search.current()
        return resources.list_resources(search.reader, search.bank())

    def read_resource(self, uri: str) -> Object:
        """A record by its URI."""
        search = self._search.current()
        return resources.read_resource(search.reader, search.bank(), uri)

    def close(self) -> None:
        """Close the files."""
        self._search.close()


def make_engine() -> SearchEngine:
    """The engine of `holdfast mcp search`."""
    return SearchEngine()


def entries_text(data: Object) -> str:
    """Entries as text: number, day, type and title in one line; URI and cost in the next."""
    items: list[Object] = data["items"]
    lines = [_head(data, len(items))]
    for number, item in enumerate(items, 1):
        lines += _entry_lines(f"{number}. ", item)
        lines += [
            line for part in item.get("observations", []) for line in _entry_lines("   - ", part)
        ]
    if data.get("sessions"):
        lines.append("In sessions:")
        lines += [line for item in data["sessions"] for line in _entry_lines("- ", item)]
    if data.get("left_out"):
        lines.append(f"{data['left_out']} more did not fit; ask for less at once.")
    return "\n".join([*lines, *(f"Note: {note}" for note in data.get("notes", []))])


def _head(data: Object, shown: int) -> str:
    if not shown:
        return "Nothing was found."
    if data.get("anchor"):
        return f"Around {data['anchor']}:"
    cost = data.get("tokens_in_full")
    price = f"; all of it in full: about {cost} tokens" if cost else ""
    return f"{shown} of {data['total']}{price}"


def _entry_lines(mark: str, item: Object) -> list[str]:
    day = item["time"][:16].replace("T", " ") or "undated"
    anchor = _ANCHOR_MARK if item.get("anchor") else ""
    status = f", {item['status']}" if item.get("status") else ""
    first = f"{mark}{day} [{item.get('type') or item['kind']}{status}] {item['title']}{anchor}"
    pad = " " * len(mark)
    lines = [first, f"{pad}{item['uri']} (~{item['tokens']} tokens)"]
    return [*lines, *(f"{pad}{line}" for line in item.get("text", "").splitlines())]
