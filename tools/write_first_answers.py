"""Writes what the MCP servers answer before their engine is loaded (`interfaces/mcp/servers`,
`interfaces/mcp/standby`): `python tools/write_first_answers.py`.

A test compares the files with the tools, and says when this must be run again.
"""

from __future__ import annotations

import json
from typing import Any

from holdfast.interfaces.mcp.protocol import PROTOCOL_VERSIONS
from holdfast.interfaces.mcp.servers import FIRST_ANSWERS
from holdfast.operations.agents.tools import SERVERS, SLOW, AgentServer, AgentTool
from holdfast.operations.registry import find_operation

Json = dict[str, Any]


def first_answers(server: AgentServer) -> Json:
    """The content of the file of a server. The version of the program is not in it."""
    operations = {tool.name: find_operation(tool.operation) for tool in server.tools}
    return {
        "protocol_versions": PROTOCOL_VERSIONS,
        "slow_tools": [name for name, one in operations.items() if one.work in SLOW],
        "levels": {name: one.level.value for name, one in operations.items()},
        "results": {
            "initialize": {
                "protocolVersion": PROTOCOL_VERSIONS[0],
                "capabilities": {"tools": {"listChanged": False}},
                "serverInfo": {"name": server.name, "title": server.title},
                "instructions": server.instructions,
            },
            "ping": {},
            "tools/list": {"tools": list(map(_described, server.tools))},
        },
    }


def _described(tool: AgentTool) -> Json:
    """A tool as `tools/list` shows it. No tool destroys: all that they change can be undone."""
    changes = find_operation(tool.operation).changes
    writing = {"destructiveHint": False, "idempotentHint": True} if changes else {}
    meta: Json = {"anthropic/searchHint": tool.hint} if tool.hint else {}
    meta |= {"anthropic/alwaysLoad": True} if tool.always else {}
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.schema(),
        "annotations": {"readOnlyHint": not changes, **writing, "openWorldHint": False},
    } | ({"_meta": meta} if meta else {})


def texts() -> dict[str, str]:
    """The files as they should be, by their names."""
    return {
        f"{name}.json": json.dumps(first_answers(one), ensure_ascii=False, indent=1) + "\n"
        for name, one in SERVERS.items()
    }


if __name__ == "__main__":
    FIRST_ANSWERS.mkdir(exist_ok=True)
    for name, text in texts().items():
        (FIRST_ANSWERS / name).write_text(text, "utf-8")
