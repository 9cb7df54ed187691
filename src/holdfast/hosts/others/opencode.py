"""OpenCode: the server in `~/.config/opencode/opencode.json`. Its hooks are JavaScript plugins, of
which we have none."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.hosts.host import HoldfastCommand, Host, Object, SettingsChange, json_server
from holdfast.sources.agent import UserEnvironment


def _changes(user: UserEnvironment, holdfast: HoldfastCommand) -> Sequence[SettingsChange]:
    config = user.folder("XDG_CONFIG_HOME", ".config")
    entry: Object = {"type": "local", "command": holdfast.server_command, "enabled": True}
    if holdfast.env:
        entry["environment"] = holdfast.env
    # OpenCode reads this file in addition to `opencode.jsonc`, which may hold comments.
    return (json_server(config / "opencode" / "opencode.json", ("mcp",), entry, holdfast),)


HOST = Host(name="opencode", title="OpenCode", changes=_changes)
