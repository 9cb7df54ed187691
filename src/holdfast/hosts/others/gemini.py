"""Gemini CLI: server and hooks in `~/.gemini/settings.json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.hosts.host import HoldfastCommand, Host, SettingsChange, json_hooks, json_server
from holdfast.sources.agent import UserEnvironment

_EVENTS = ("SessionStart", "SessionEnd")
# As in Codex, in milliseconds.
_TIMEOUT_MS = 10_000


def _changes(user: UserEnvironment, holdfast: HoldfastCommand) -> Sequence[SettingsChange]:
    home = Path(user.env.get("GEMINI_CLI_HOME") or user.home)
    path = home / ".gemini" / "settings.json"
    entry = holdfast.server_entry
    return (
        json_server(path, ("mcpServers",), entry, holdfast),
        json_hooks(path, holdfast, _EVENTS, _TIMEOUT_MS),
    )


HOST = Host(name="gemini", title="Gemini CLI", changes=_changes)
