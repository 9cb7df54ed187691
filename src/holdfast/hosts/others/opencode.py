"""OpenCode: the server in `~/.config/opencode/opencode.json`. Hooks are JavaScript there, and none
of ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.hosts.host import HoldfastCommand, Host, Object, SettingsChange, json_server
from holdfast.sources.agent import UserEnvironment


def _pieces(where: UserEnvironment, ours: HoldfastCommand) -> Sequence[SettingsChange]:
    config = Path(where.env.get("XDG_CONFIG_HOME") or where.home / ".config")
    entry: Object = {"type": "local", "command": ours.server_command, "enabled": True}
    if ours.env:
        entry["environment"] = ours.env
    # It reads this file besides one with comments (`opencode.jsonc`), which is left alone.
    return (json_server(config / "opencode" / "opencode.json", ("mcp",), entry, ours),)


HOST = Host("opencode", "OpenCode", _pieces)
