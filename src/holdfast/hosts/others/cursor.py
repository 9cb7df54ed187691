"""Cursor: the server in `~/.cursor/mcp.json`."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.hosts.host import HoldfastCommand, Host, SettingsChange, json_server
from holdfast.sources.agent import UserEnvironment


def _changes(user: UserEnvironment, holdfast: HoldfastCommand) -> Sequence[SettingsChange]:
    entry = holdfast.server_entry
    return (json_server(user.home / ".cursor" / "mcp.json", ("mcpServers",), entry, holdfast),)


HOST = Host(name="cursor", title="Cursor", changes=_changes)
