"""Writes what `holdfast mcp` answers before its server is loaded (`interfaces/mcp/standby`):
`python tools/write_first_answers.py`.

A test compares the file with the server, and says when this must be run again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from holdfast.interfaces.mcp import standby
from holdfast.interfaces.mcp.dispatch import answer_without_engine
from holdfast.interfaces.mcp.jsonrpc import PROTOCOL_VERSIONS, Message
from holdfast.interfaces.mcp.main_spec import SPEC

FILE = Path(standby.__file__).with_name("first_answers.json")
METHODS = ("initialize", "ping", "tools/list", "resources/list", "resources/templates/list")


def first_answers() -> dict[str, Any]:
    """The content of the file. The version of the program is not in it."""
    results: dict[str, Any] = {}
    for method in METHODS:
        answer = answer_without_engine(SPEC, Message(method, {}, 0))
        assert answer, method
        results[method] = json.loads(answer)["result"]
    del results["initialize"]["serverInfo"]["version"]
    return {"protocol_versions": PROTOCOL_VERSIONS, "results": results}


def text() -> str:
    """The file as it should be."""
    return json.dumps(first_answers(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
