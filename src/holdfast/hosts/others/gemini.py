"""Gemini CLI: server and hooks in `~/.gemini/settings.json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.hosts.host import HoldfastCommand, Host, SettingsChange, json_hooks, json_server
from holdfast.sources.agent import UserEnvironment

_EVENTS = ("SessionStart", "SessionEnd")
_TIMEOUT_MS = 10_000


def _pieces(where: UserEnvironment, ours: HoldfastCommand) -> Sequence[SettingsChange]:
    home = Path(where.env.get("GEMINI_CLI_HOME") or where.home)
    path = home / ".gemini" / "settings.json"
    command, *arguments = ours.server_command
    entry = {"command": command, "args": arguments, **({"env": ours.env} if ours.env else {})}
    return (
        json_server(path, ("mcpServers",), entry, ours),
        json_hooks(path, ours, _EVENTS, _TIMEOUT_MS),
    )


HOST = Host("gemini", "Gemini CLI", _pieces)
