"""Gemini CLI: server and hooks in `~/.gemini/settings.json`."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.hosts.host import HoldfastCommand, Host, SettingsChange, json_hooks, json_server
from holdfast.sources.agent import UserEnvironment

_EVENTS = ("SessionStart", "SessionEnd")
# As in Codex, in milliseconds.
_TIMEOUT_MS = 10_000


def _changes(user: UserEnvironment, holdfast: HoldfastCommand) -> Sequence[SettingsChange]:
    path = user.folder("GEMINI_CLI_HOME", "") / ".gemini" / "settings.json"
    return (
        json_server(path, ("mcpServers",), holdfast.server_entry, holdfast),
        json_hooks(path, holdfast, _EVENTS, _TIMEOUT_MS),
    )


HOST = Host(name="gemini", title="Gemini CLI", changes=_changes, program="gemini")
