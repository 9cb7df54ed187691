"""Calls of memory itself, through its MCP servers or its command line.

They are part of a session and are kept with it, but they are questions and answers of memory: none
of them is found by a search, and none is evidence of anything.
"""

from __future__ import annotations

from holdfast.model.records import ToolCall
from holdfast.regex import regex
from holdfast.sources.claude_code.tools import is_own

_SHELL_TOOLS = ("Bash", "PowerShell")
# The tool by which Claude Code looks up other tools.
_TOOL_SEARCH = "ToolSearch"
# Tools that keep something. What is said after them is no answer of memory.
_KEEPING_TOOLS = ("remember", "learn", "auto_learn")
# `holdfast ask`, also by a path or as a module, at the start of a command or after another one.
_LOOKS_UP = regex(
    r"(?:^|[;&|(\n`]|\$\()\s*(?:\w+=\S*\s+)*(?:(?:uvx|pipx run|uv run)\s+)?"
    r"(?:\S*/)?(?:holdfast|python[\d.]*\s+-m\s+holdfast)\s+"
    r"(?:ask|recall|research|reflect|timeline|show|find|team|who|facts|concepts|entities|opinions|"
    r"keywords|brief|handoff|here)\b"
)


def is_memory_call(tool: ToolCall) -> bool:
    """Whether a call asks memory or tells it something."""
    return is_own(tool.name) or is_memory_lookup(tool)


def is_memory_lookup(tool: ToolCall) -> bool:
    """Whether a call asks memory, so that what is said next may only repeat its answer."""
    if is_own(tool.name):
        return not tool.name.endswith(tuple(f"__{name}" for name in _KEEPING_TOOLS))
    if tool.name == _TOOL_SEARCH:
        return "holdfast" in tool.action
    return tool.name in _SHELL_TOOLS and _LOOKS_UP.search(tool.action) is not None
