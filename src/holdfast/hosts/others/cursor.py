"""Cursor: the server in `~/.cursor/mcp.json`."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.hosts.host import Host, Ours, Piece, server
from holdfast.sources.agent import Where


def _pieces(where: Where, ours: Ours) -> Sequence[Piece]:
    command, *arguments = ours.words
    entry = {"command": command, "args": arguments, **({"env": ours.env} if ours.env else {})}
    return (server(where.home / ".cursor" / "mcp.json", ("mcpServers",), entry, ours),)


HOST = Host("cursor", "Cursor", _pieces)
