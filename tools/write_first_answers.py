"""Writes what `holdfast mcp` answers before its server is loaded (`interfaces/mcp/standby`):
`python tools/write_first_answers.py`.

A test compares the file with the server, and says when this must be run again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from holdfast.interfaces import mcp
from holdfast.interfaces.mcp.dispatch import answer_without_engine
from holdfast.interfaces.mcp.jsonrpc import PROTOCOL_VERSIONS, Message
from holdfast.interfaces.mcp.server_spec import ServerSpec
from holdfast.interfaces.mcp.tool_choice import INSTRUCTIONS, TOOLS

FILE = Path(mcp.__file__).with_name("first_answers.json")
METHODS = ("initialize", "ping", "tools/list", "resources/list", "resources/templates/list")


def first_answers() -> dict[str, Any]:
    """The content of the file. The version of the program is not in it."""
    tools = tuple(one.as_tool() for one in TOOLS)
    spec = ServerSpec("holdfast", "Holdfast", INSTRUCTIONS, tools, _no_engine, lists_records=False)
    results: dict[str, Any] = {}
    for method in METHODS:
        answer = answer_without_engine(spec, Message(method, {}, 0))
        assert answer, method
        results[method] = json.loads(answer)["result"]
    del results["initialize"]["serverInfo"]["version"]
    slow = [tool.name for tool in tools if tool.is_slow]
    return {"protocol_versions": PROTOCOL_VERSIONS, "slow_tools": slow, "results": results}


def _no_engine() -> NoReturn:
    raise RuntimeError("The list of tools needs no engine.")


def text() -> str:
    """The file as it should be."""
    return json.dumps(first_answers(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
