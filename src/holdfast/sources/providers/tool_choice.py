"""Asking a provider without a model: which of its tools is a search, and what it takes.

A tool is put a question only if it takes one text and its name says that it looks for something.
Being allowed is not enough: `delete_page(title)` takes one text too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from holdfast.sources.providers.client import Tool

MAX_TOOLS = 2
_LOOKS = ("search", "query", "find", "lookup", "recall", "ask", "retrieve", "grep")
_CHANGES = frozenset(
    "add append archive close create delete drop edit execute insert merge move post publish purge "
    "put remove rename replace reset run send set store submit sync update upload write".split()
)
_TEXT_NAMES = ("query", "q", "question", "search", "text", "keywords", "term")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


class SearchTool(NamedTuple):
    """A tool to ask, and the parameter that takes the question."""

    tool: str
    parameter: str


def choose_search_tools(offered: Iterable[Tool]) -> list[SearchTool]:
    """The tools to put a question to, the likeliest first."""
    found: list[tuple[int, SearchTool]] = []
    for tool in offered:
        parameter = text_parameter(tool.schema)
        worth = _worth(tool)
        if parameter and worth:
            found.append((worth, SearchTool(tool.name, parameter)))
    ranked = sorted(found, key=lambda item: -item[0])
    return [way for _, way in ranked[:MAX_TOOLS]]


def text_parameter(schema: dict[str, Any]) -> str:
    """The one text that a tool needs: its only required parameter, or, where it requires none, the
    one that is called like a question. "" where there is no such thing."""
    properties = _object(schema.get("properties"))
    texts = [name for name, told in properties.items() if _is_text(_object(told))]
    told: object = schema.get("required")
    required = cast(list[object], told) if isinstance(told, list) else []
    if required:
        return next((name for name in texts if required == [name]), "")
    return next((name for name in _TEXT_NAMES if name in texts), "")


def _is_text(told: dict[str, Any]) -> bool:
    return told.get("type") == "string" and "enum" not in told and "const" not in told


def _worth(tool: Tool) -> int:
    """How much a tool looks like a search: 2 by its name, 1 by what it says it does, 0 not."""
    name = {word.lower() for word in _WORDS.findall(tool.name)}
    if not tool.harmless or name & _CHANGES:
        return 0
    if any(word.startswith(look) for word in name for look in _LOOKS):
        return 2
    does = [word.lower() for word in _WORDS.findall(tool.description)][:6]
    return int(any(word.startswith(look) for word in does for look in _LOOKS))


def _object(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
