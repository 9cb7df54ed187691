"""Copilot CLI: the server in `~/.copilot/mcp-config.json`, the hooks in a file of their own.

Copilot reads every file of `~/.copilot/hooks`. A session that starts takes `additionalContext` from
the answer of a hook.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from holdfast.hosts.host import HoldfastCommand, Host, Object, SettingsChange, json_server, own_file
from holdfast.sources.agent import UserEnvironment

# Its names of the events, and ours.
_EVENTS = {"sessionStart": "SessionStart", "agentStop": "Stop"}
# Our script ends itself after two seconds; this is for a machine under load.
_TIMEOUT_S = 10


def _changes(user: UserEnvironment, holdfast: HoldfastCommand) -> Sequence[SettingsChange]:
    home = user.folder("COPILOT_HOME", ".copilot")
    entry: Object = {"tools": ["*"], "type": "local", **holdfast.server_entry}
    hooks = {
        event: [
            {
                "type": "command",
                "bash": holdfast.hook_command(ours, "copilot"),
                "timeoutSec": _TIMEOUT_S,
            }
        ]
        for event, ours in _EVENTS.items()
    }
    text = json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n"
    return (
        json_server(home / "mcp-config.json", ("mcpServers",), entry, holdfast),
        own_file(home / "hooks" / "holdfast.json", text, holdfast),
    )


HOST = Host(name="copilot", title="Copilot CLI", changes=_changes, program="copilot")
