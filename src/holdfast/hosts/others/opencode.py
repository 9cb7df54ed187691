"""OpenCode: the server in `~/.config/opencode/opencode.json`, and a plugin.

A plugin is a JavaScript file of `~/.config/opencode/plugins`. Ours puts the brief into the system
prompt of a session, and says when a session has come to rest.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from holdfast.hosts.host import HoldfastCommand, Host, Object, SettingsChange, json_server, own_file
from holdfast.sources.agent import UserEnvironment

_PLUGIN = Path(__file__).with_name("opencode_plugin.js")


def _changes(user: UserEnvironment, holdfast: HoldfastCommand) -> Sequence[SettingsChange]:
    config = user.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    data = user.folder("XDG_DATA_HOME", ".local/share") / "opencode" / "opencode.db"
    entry: Object = {"type": "local", "command": holdfast.server_command, "enabled": True}
    if holdfast.env:
        entry["environment"] = holdfast.env
    plugin = _PLUGIN.read_text("utf-8")
    for name, value in (
        ("PYTHON", holdfast.python),
        ("SCRIPT", str(holdfast.hook_script)),
        ("SESSIONS", str(data)),
    ):
        plugin = plugin.replace(f'"@{name}@"', json.dumps(value))
    # OpenCode reads this file in addition to `opencode.jsonc`, which may hold comments.
    return (
        json_server(config / "opencode.json", ("mcp",), entry, holdfast),
        own_file(config / "plugins" / "holdfast.js", plugin, holdfast),
    )


HOST = Host(name="opencode", title="OpenCode", changes=_changes, program="opencode")
