"""The engine of `holdfast mcp memory` and `holdfast mcp search`: tools that only read, and records
as resources."""

from __future__ import annotations

import json
from collections.abc import Callable

from holdfast.app.answers.memory_tools import MemoryTools
from holdfast.app.answers.read_only_memory import ReadOnlyMemory
from holdfast.app.answers.search_tools import SearchTools
from holdfast.app.answers.tool import Object
from holdfast.errors import HoldfastError
from holdfast.framed_text import defang_all, fence, one_line
from holdfast.interfaces.mcp import resources
from holdfast.interfaces.mcp.memory_source import ReopeningMemory
from holdfast.interfaces.mcp.server_spec import CallContext, tool_error, tool_result
from holdfast.settings import Settings

_ANCHOR_MARK = " ← anchor"


class ReadOnlyEngine:
    """Answers from a memory that `open` opens read-only; `to_text` makes the text of a result."""

    def __init__(
        self, open: Callable[[Settings], ReadOnlyMemory], to_text: Callable[[Object], str]
    ) -> None:
        self._memory = ReopeningMemory(open)
        self._to_text = to_text

    def call(self, name: str, arguments: Object, context: CallContext) -> Object:
        """The result of a tool. An error becomes a result too, so that the model reads it."""
        context.progress("Searching memory")
        try:
            data = defang_all(self._memory.current().call(name, arguments))
        except HoldfastError as error:
            return tool_error(error)
        return tool_result(self._to_text(data), data)

    def list_resources(self) -> list[Object]:
        memory = self._memory.current()
        return resources.list_resources(memory.reader, memory.bank())

    def read_resource(self, uri: str) -> Object:
        memory = self._memory.current()
        return resources.read_resource(memory.reader, memory.bank(), uri)

    def close(self) -> None:
        self._memory.close()


def make_engine(server: str) -> ReadOnlyEngine:
    """The engine of `holdfast mcp memory`, whose results are JSON as text too, or of `search`."""
    if server == "search":
        return ReadOnlyEngine(SearchTools.open, entries_text)
    return ReadOnlyEngine(MemoryTools.open, lambda data: json.dumps(data, ensure_ascii=False))


def entries_text(data: Object) -> str:
    """Entries as text: number, day, type and title in one line; URI and cost in the next; then the
    words of the record, in a fence."""
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
    return "\n".join([*lines, *(f"Note: {one_line(note)}" for note in data.get("notes", []))])


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
    outside = item.get("outside", "")
    origin = f" ({outside})" if outside else ""
    kind = f"[{item.get('type') or item['kind']}{status}]"
    first = one_line(f"{day} {kind} {item['title']}{anchor}{origin}")
    pad = " " * len(mark)
    lines = [f"{mark}{first}", f"{pad}{one_line(item['uri'])} (~{item['tokens']} tokens)"]
    if text := item.get("text", ""):
        lines += [f"{pad}{line}" for line in fence(text, bool(outside)).split("\n")]
    return lines
