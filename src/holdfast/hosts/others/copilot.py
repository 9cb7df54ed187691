"""Copilot CLI: the server in `~/.copilot/mcp-config.json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.hosts.host import HoldfastCommand, Host, Object, SettingsChange, json_server
from holdfast.sources.agent import UserEnvironment


def _pieces(where: UserEnvironment, ours: HoldfastCommand) -> Sequence[SettingsChange]:
    home = Path(where.env.get("COPILOT_HOME") or where.home / ".copilot")
    command, *arguments = ours.server_command
    entry: Object = {"tools": ["*"], "type": "local", "command": command, "args": arguments}
    if ours.env:
        entry["env"] = ours.env
    return (json_server(home / "mcp-config.json", ("mcpServers",), entry, ours),)


HOST = Host("copilot", "Copilot CLI", _pieces)
