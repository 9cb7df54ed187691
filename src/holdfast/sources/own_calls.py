"""Calls of memory itself, through its MCP servers or its command line, and its answers where
somebody quotes them.

They are part of a session and are kept with it, but they are questions and answers of memory: no
call is found by a search, and none of it is evidence of anything.
"""

from __future__ import annotations

import re

from holdfast.model.records import ToolCall
from holdfast.regex import regex
from holdfast.sources.claude_code.tools import is_own

_SHELL_TOOLS = ("Bash", "PowerShell")
# The tool by which Claude Code looks up other tools.
_TOOL_SEARCH = "ToolSearch"
# Tools that keep or change something. What is said after them is no answer of memory.
_KEEPING_TOOLS = ("remember", "correct", "forget", "learn", "auto_learn")
# `holdfast ask`, also by a path, as a module or by the script of the plugin, at the start of a
# command or after another one. A review retells what it lists and judges.
_LOOKS_UP = regex(
    r"(?:^|[;&|(\n`]|\$\()[ \t]*(?:\w+=\S*\s+)*(?:(?:uvx|pipx run|uv run|sh|bash)\s+)?"
    r"(?:\"[^\"\n]*/|\S*/)?(?:holdfast(?:\.sh\"?)?|python[\d.]*\s+-m\s+holdfast)\s+"
    r"(?:ask|recall|grep|layers|research|reflect|timeline|show|path|find|team|who|facts|concepts|"
    r"entities|opinions|keywords|brief|handoff|here|review|judge|decisions)\b"
)
# A line as answers and briefs write it: its day and the number of its source, the source itself, or
# the short name of the record at its end.
_DAY = r"\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4}: "
_OWN_LINE = regex(
    rf"^.*(?:\b{_DAY}.*\[\d+\]|"
    r"^\W*\[\d+\] .*holdfast://\w+/[0-9a-f]|"
    r"\((?:fact|memory|digest|exchange|turn|session|commit)/[0-9a-f]{8}\)\W*$|"
    r"^\W*confidence: (?:high|medium|low|none)\W*$).*$",
    re.MULTILINE,
)
# One of them is in every such line.
_OWN_MARKS = ("holdfast://", "confidence: ", "(fact/", "(memory/", "(digest/", "(exchange/",
              "(turn/", "(session/", "(commit/")  # fmt: skip
_DAY_ANYWHERE = regex(_DAY)
# How such a line begins, where the number of its source was cut off.
_DATED = regex(rf"\W*{_DAY}")


def is_own_line(sentence: str) -> bool:
    """Whether a sentence quotes what memory answered or told in a brief."""
    if _DATED.match(sentence):
        return True
    return ("[" in sentence or "(" in sentence) and _OWN_LINE.search(sentence) is not None


def without_own_lines(text: str) -> str:
    """A message without the lines that quote what memory answered or told in a brief."""
    if not any(mark in text for mark in _OWN_MARKS) and not _DAY_ANYWHERE.search(text):
        return text
    return _OWN_LINE.sub("", text)


def is_memory_call(tool: ToolCall) -> bool:
    """Whether a call asks memory or tells it something."""
    return is_own(tool.name) or is_memory_lookup(tool)


def is_memory_lookup(tool: ToolCall) -> bool:
    """Whether a call asks memory, so that what is said next may only repeat its answer."""
    if is_own(tool.name):
        return not tool.name.endswith(tuple(f"__{name}" for name in _KEEPING_TOOLS))
    if tool.name == _TOOL_SEARCH:
        return "holdfast" in tool.action
    if tool.name not in _SHELL_TOOLS or "holdfast" not in tool.action:
        return False
    return _LOOKS_UP.search(tool.action) is not None
