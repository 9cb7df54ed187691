"""The server `holdfast mcp`: the tools for an agent at work.

Standard library only, because a client waits for the list of tools before the user's first prompt.
So the list is read from `first_answers.json`, which is made of `tool_choice`.
"""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.app.answers.tool import Object, Tool
from holdfast.interfaces.mcp.server_spec import Engine, ServerSpec

FIRST_ANSWERS = Path(__file__).with_name("first_answers.json")


_TOLD: Object = json.loads(FIRST_ANSWERS.read_text("utf-8"))


def _make_engine() -> Engine:
    from holdfast.interfaces.mcp.main_engine import MainEngine

    return MainEngine()


def _read_tool(described: Object) -> Tool:
    schema, meta = described["inputSchema"], described.get("_meta", {})
    return Tool(
        described["name"],
        described["title"],
        described["description"],
        schema["properties"],
        tuple(schema.get("required", ())),
        meta.get("anthropic/searchHint", ""),
        not described["annotations"]["readOnlyHint"],
        described["name"] in _TOLD["slow_tools"],
        meta.get("anthropic/alwaysLoad", False),
    )


TOOLS = tuple(map(_read_tool, _TOLD["results"]["tools/list"]["tools"]))
SPEC = ServerSpec(
    name="holdfast",
    title="Holdfast",
    instructions=_TOLD["results"]["initialize"]["instructions"],
    tools=TOOLS,
    make_engine=_make_engine,
    # Claude Code asks for the list in every session and waits for it before its first request. The
    # engine would cost it a tenth of a second and more, for titles that the brief tells anyway.
    lists_records=False,
)
