"""Codex CLI: the server in `config.toml`, the hooks in `hooks.json`.

Codex runs a hook only after its user has looked at it once (`/hooks`), and lets at most 2,500
tokens of what it says into a session.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holdfast.hosts import toml_text
from holdfast.hosts.host import (
    SERVER,
    HoldfastCommand,
    Host,
    SettingsChange,
    json_hooks,
    starts_holdfast,
    starts_this_holdfast,
)
from holdfast.sources.agent import UserEnvironment

_TABLE = "mcp_servers"
_EVENTS = ("SessionStart", "Stop")
_TIMEOUT_S = 10


def _pieces(where: UserEnvironment, ours: HoldfastCommand) -> Sequence[SettingsChange]:
    home = Path(where.env.get("CODEX_HOME") or where.home / ".codex")
    command, *arguments = ours.server_command
    entry: dict[str, Any] = {"command": command, "args": arguments}
    if ours.env:
        entry["env"] = ours.env

    def add(text: str) -> str:
        there = toml_text.entry(text, _TABLE, SERVER)
        if there is None:
            return toml_text.put(text, _TABLE, SERVER, entry)
        if there == entry or not starts_holdfast(there):
            return text
        return toml_text.put(toml_text.take(text, _TABLE, SERVER), _TABLE, SERVER, entry)

    def drop(text: str) -> str:
        mine = starts_this_holdfast(toml_text.entry(text, _TABLE, SERVER), ours)
        return toml_text.take(text, _TABLE, SERVER) if mine else text

    def taken(text: str) -> bool:
        there = toml_text.entry(text, _TABLE, SERVER)
        return there is not None and not starts_holdfast(there)

    return (
        SettingsChange(home / "config.toml", add, drop, taken, empty=""),
        json_hooks(home / "hooks.json", ours, _EVENTS, _TIMEOUT_S),
    )


HOST = Host(
    "codex",
    "Codex CLI",
    _pieces,
    (
        "Codex runs hooks only once you have looked at them: type /hooks in your next session and "
        "trust the two of Holdfast. Until then its sessions are read within the hour, and start "
        "without a brief.",
    ),
)
