"""Chooses which tools of a provider to search with, without a model.

A tool is used only if it needs one text and its name says that it searches. That it is allowed is
not enough: `delete_page(title)` needs one text, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from holdfast.language import split_identifier
from holdfast.sources.json_fields import items, mapping
from holdfast.sources.providers.client import Tool

# Tools that one question is sent to. Each more costs another request.
MAX_TOOLS = 2
_SEARCH_WORDS = ("search", "query", "find", "lookup", "recall", "ask", "retrieve", "grep")
_CHANGING_WORDS = frozenset(
    "add append archive close create delete drop edit execute insert merge move post publish purge "
    "put remove rename replace reset run send set store submit sync update upload write".split()
)
_QUESTION_PARAMETERS = ("query", "q", "question", "search", "text", "keywords", "term")


class SearchTool(NamedTuple):
    """A tool to search with, and its parameter for the question."""

    tool: str
    parameter: str


def choose_search_tools(offered: Iterable[Tool]) -> list[SearchTool]:
    """The tools to search with, the likeliest first."""
    found: list[tuple[int, SearchTool]] = []
    for tool in offered:
        parameter = text_parameter(tool.schema)
        likelihood = _search_likelihood(tool)
        if parameter and likelihood:
            found.append((likelihood, SearchTool(tool.name, parameter)))
    ranked = sorted(found, key=lambda item: -item[0])
    return [search for _, search in ranked[:MAX_TOOLS]]


def text_parameter(schema: dict[str, Any]) -> str:
    """The parameter for a question: the only required one, or, where none is required, the one
    that is named like it. "" where there is none."""
    properties = mapping(schema.get("properties"))
    texts = [name for name, type in properties.items() if _is_text(mapping(type))]
    required = items(schema.get("required"))
    if required:
        return next((name for name in texts if required == [name]), "")
    return next((name for name in _QUESTION_PARAMETERS if name in texts), "")


def _is_text(type: dict[str, Any]) -> bool:
    return type.get("type") == "string" and "enum" not in type and "const" not in type


def _search_likelihood(tool: Tool) -> int:
    """How likely a tool is a search: 2 by its name, 1 by the first words of its description, 0."""
    name = {word.lower() for word in split_identifier(tool.name)}
    if not tool.harmless or name & _CHANGING_WORDS:
        return 0
    if any(word.startswith(search) for word in name for search in _SEARCH_WORDS):
        return 2
    first = [word.lower() for word in split_identifier(tool.description)][:6]
    return int(any(word.startswith(search) for word in first for search in _SEARCH_WORDS))
