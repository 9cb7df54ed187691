"""Codex CLI: the server in `config.toml`, the hooks in `hooks.json`.

Codex runs a hook only after the user has trusted it (`/hooks`), and accepts at most 2,500 tokens of
its output.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.hosts import toml_text
from holdfast.hosts.claude_code.settings_entries import SERVER, starts_holdfast
from holdfast.hosts.host import (
    HoldfastCommand,
    Host,
    SettingsChange,
    json_hooks,
    starts_this_holdfast,
)
from holdfast.sources.agent import UserEnvironment

_TABLE = "mcp_servers"
_EVENTS = ("SessionStart", "Stop")
# Our script ends itself after two seconds; this is for a machine under load.
_TIMEOUT_S = 10


def _changes(user: UserEnvironment, holdfast: HoldfastCommand) -> Sequence[SettingsChange]:
    home = user.folder("CODEX_HOME", ".codex")
    entry = holdfast.server_entry

    def add(text: str) -> str:
        there = toml_text.entry(text, _TABLE, SERVER)
        if there is None:
            return toml_text.put(text, _TABLE, SERVER, entry)
        if there == entry or not starts_holdfast(there):
            return text
        return toml_text.put(toml_text.remove(text, _TABLE, SERVER), _TABLE, SERVER, entry)

    def remove(text: str) -> str:
        is_ours = starts_this_holdfast(toml_text.entry(text, _TABLE, SERVER), holdfast)
        return toml_text.remove(text, _TABLE, SERVER) if is_ours else text

    def is_name_taken(text: str) -> bool:
        there = toml_text.entry(text, _TABLE, SERVER)
        return there is not None and not starts_holdfast(there)

    return (
        SettingsChange(home / "config.toml", add, remove, is_name_taken, empty=""),
        json_hooks(home / "hooks.json", holdfast, _EVENTS, _TIMEOUT_S),
    )


HOST = Host(
    name="codex",
    title="Codex CLI",
    changes=_changes,
    program="codex",
    notes=(
        "Codex runs hooks only once you have looked at them: type /hooks in your next session and "
        "trust the two of Holdfast. Until then its sessions are read within the hour, and start "
        "without a brief.",
    ),
)
