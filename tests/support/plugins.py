"""Plugins of Claude Code on disk, and settings of users who have them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.app.search.plugin_search import Providers
from holdfast.settings import Settings, load_settings
from tests.support.waiting import wait_until

SERVERS = Path(__file__).with_name("servers")
NOW = "2026-03-01T12:00:00.000Z"
PATIENT_S = 60.0
Json = dict[str, Any]


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


def manifest(tools: Sequence[str], prompt: str = "Search the wiki.") -> str:
    listed = "".join(f"    - {tool}\n" for tool in tools)
    return f"hooks: {{}}\nmemory:\n  allowed_tools:\n{listed}  system_prompt: |\n    {prompt}\n"


def make_plugin(
    root: Path,
    server: Json | None,
    tools: Sequence[str] = ("mcp__main__search",),
    file: str = "han-plugin.yml",
) -> Path:
    """Write a plugin that declares itself as a provider; return its folder."""
    about = {"name": root.name, "version": "1.0.0", "description": "A provider."}
    write(root / ".claude-plugin" / "plugin.json", about)
    write(root / file, manifest(tools))
    if server is not None:
        write(root / ".mcp.json", {"mcpServers": {"main": server}})
    return root


def misbehaving_server(mode: str, notes: Path) -> Json:
    """Return the entry of a server that misbehaves as `mode` says and logs to `notes`."""
    program = SERVERS / "misbehaving.py"
    return {"command": sys.executable, "args": ["-I", str(program), mode, str(notes)]}


def official_server() -> Json:
    """Return the entry of a server made with the official library."""
    return {"command": sys.executable, "args": ["-I", str(SERVERS / "official.py")]}


def settings_for(home: Path, plugin_dirs: Sequence[Path] = (), more: str = "") -> Settings:
    """Return settings that allow plugins to be queried."""
    folders = json.dumps([str(folder) for folder in plugin_dirs])
    use = "" if "use =" in more else 'use = "asked"\n'
    write(
        home / ".holdfast" / "config.toml", f"[providers]\n{use}plugin_dirs = {folders}\n{more}\n"
    )
    return load_settings({"HOME": str(home), "PATH": os.environ["PATH"], "WIKI_TOKEN": "t0k"})


def providers_for(
    home: Path, *plugin_dirs: Path, patience_s: float = PATIENT_S, now: str = NOW, more: str = ""
) -> Providers:
    settings = settings_for(home, plugin_dirs, more)
    patient = replace(settings.providers, wait_ms=round(patience_s * 1000))
    return Providers(replace(settings, providers=patient), lambda: now, home)


def is_alive(pid: int) -> bool:
    """Whether a process runs and is not a zombie."""
    try:
        result = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return result.rpartition(")")[2].split()[0] != "Z"


def processes_of(notes: Path) -> list[int]:
    """Return the ids of the processes that a misbehaving server noted."""
    lines = notes.read_text().splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith(("started", "child"))]


def wait_until_gone(pids: Sequence[int]) -> None:
    wait_until(lambda: not any(map(is_alive, pids)), f"the processes {pids} are gone")
