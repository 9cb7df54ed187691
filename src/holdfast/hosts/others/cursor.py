"""Cursor: the server in `~/.cursor/mcp.json`."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.hosts.host import HoldfastCommand, Host, SettingsChange, json_server
from holdfast.sources.agent import UserEnvironment


def _pieces(where: UserEnvironment, ours: HoldfastCommand) -> Sequence[SettingsChange]:
    command, *arguments = ours.server_command
    entry = {"command": command, "args": arguments, **({"env": ours.env} if ours.env else {})}
    return (json_server(where.home / ".cursor" / "mcp.json", ("mcpServers",), entry, ours),)


HOST = Host("cursor", "Cursor", _pieces)
