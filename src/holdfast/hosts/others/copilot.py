"""Copilot CLI: the server in `~/.copilot/mcp-config.json`."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.hosts.host import HoldfastCommand, Host, Object, SettingsChange, json_server
from holdfast.sources.agent import UserEnvironment


def _changes(user: UserEnvironment, holdfast: HoldfastCommand) -> Sequence[SettingsChange]:
    home = user.folder("COPILOT_HOME", ".copilot")
    entry: Object = {"tools": ["*"], "type": "local", **holdfast.server_entry}
    return (json_server(home / "mcp-config.json", ("mcpServers",), entry, holdfast),)


HOST = Host(name="copilot", title="Copilot CLI", changes=_changes)
