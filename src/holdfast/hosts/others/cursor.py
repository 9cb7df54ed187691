"""Cursor: the server in `~/.cursor/mcp.json`, the hooks in `~/.cursor/hooks.json`.

A session that starts takes `additional_context` from the answer of a hook. Versions of early 2026
refuse the event `sessionStart` as unknown, and then start without a brief.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.hosts.host import (
    HoldfastCommand,
    Host,
    SettingsChange,
    hooks_in_json,
    json_server,
)
from holdfast.sources.agent import UserEnvironment

# Its names of the events, and ours.
_EVENTS = {"sessionStart": "SessionStart", "stop": "Stop"}
_EMPTY_HOOKS = '{\n  "version": 1\n}\n'


def _changes(user: UserEnvironment, holdfast: HoldfastCommand) -> Sequence[SettingsChange]:
    home = user.home / ".cursor"
    hooks = {
        event: {"command": holdfast.hook_command(ours, "cursor")} for event, ours in _EVENTS.items()
    }
    return (
        json_server(home / "mcp.json", ("mcpServers",), holdfast.server_entry, holdfast),
        hooks_in_json(home / "hooks.json", holdfast, hooks, _EMPTY_HOOKS),
    )


HOST = Host(name="cursor", title="Cursor", changes=_changes, program="cursor")
