"""OpenCode: the server in `~/.config/opencode/opencode.json`. Hooks are JavaScript there, and none
of ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.hosts.host import Host, Object, Ours, Piece, server
from holdfast.sources.agent import Where


def _pieces(where: Where, ours: Ours) -> Sequence[Piece]:
    config = Path(where.env.get("XDG_CONFIG_HOME") or where.home / ".config")
    entry: Object = {"type": "local", "command": ours.words, "enabled": True}
    if ours.env:
        entry["environment"] = ours.env
    # It reads this file besides one with comments (`opencode.jsonc`), which is left alone.
    return (server(config / "opencode" / "opencode.json", ("mcp",), entry, ours),)


HOST = Host("opencode", "OpenCode", _pieces)
