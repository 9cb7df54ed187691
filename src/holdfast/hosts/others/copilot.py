"""Copilot CLI: the server in `~/.copilot/mcp-config.json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.hosts.host import Host, Object, Ours, Piece, server
from holdfast.sources.agent import Where


def _pieces(where: Where, ours: Ours) -> Sequence[Piece]:
    home = Path(where.env.get("COPILOT_HOME") or where.home / ".copilot")
    command, *arguments = ours.words
    entry: Object = {"tools": ["*"], "type": "local", "command": command, "args": arguments}
    if ours.env:
        entry["env"] = ours.env
    return (server(home / "mcp-config.json", ("mcpServers",), entry, ours),)


HOST = Host("copilot", "Copilot CLI", _pieces)
