"""The plugin: the same hooks and server, in the form that Claude Code installs by itself.

Claude Code runs a plugin from the folder it was installed from, so that folder is a copy in the
home, which an upgrade of the package does not move. Where Holdfast is not installed, the plugin's
hook at the start of a session says so to the user, and the others do nothing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from holdfast.hosts.claude_code import config_file
from holdfast.hosts.claude_code.json_text import read
from holdfast.hosts.claude_code.locations import find_program
from holdfast.sources.json_fields import mapping

NAME = "holdfast"
ID = f"{NAME}@{NAME}"
# The name of our server in the plugin's `.mcp.json`.
PLUGIN_SERVER = "memory"
# `claude plugin` may update its marketplaces over the network.
_TIMEOUT_S = 120


def marketplace(source: str, version: str) -> dict[str, Any]:
    """The content of `marketplace.json`; the plugin is at `source` beside it."""
    about = "A local, searchable memory for coding agents."
    more = "Answers come with citations, and no transcript line is lost."
    return {
        "name": NAME,
        "owner": {"name": "The Holdfast authors"},
        "metadata": {"description": about, "version": version},
        "plugins": [
            {
                "name": NAME,
                "source": source,
                "description": f"{about} {more}",
                "version": version,
            }
        ],
    }


def plugin_source() -> Traversable:
    """The plugin's folder in the package."""
    return resources.files("holdfast.hosts.claude_code") / "plugin"


def marketplace_folder(home: Path) -> Path:
    """The folder of the copy that Claude Code installs from."""
    return home / "marketplace"


def write_plugin(home: Path, version: str) -> Path:
    """Copy the plugin into the home, with a marketplace that contains it."""
    folder = marketplace_folder(home)
    new = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    (new / ".claude-plugin").mkdir(mode=0o700, parents=True)
    _copy(plugin_source(), new / NAME)
    offer = json.dumps(marketplace(f"./{NAME}", version), indent=2) + "\n"
    (new / ".claude-plugin" / "marketplace.json").write_text(offer, "utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)
    return folder


def is_current(home: Path) -> bool:
    """Whether the copy is there, and is that of this version."""
    return _is_same(plugin_source(), marketplace_folder(home) / NAME)


def _is_same(item: Traversable, copy: Path) -> bool:
    if item.is_file():
        return copy.is_file() and copy.read_bytes() == item.read_bytes()
    inner = [one for one in item.iterdir() if one.name != "__pycache__"]
    return all(_is_same(one, copy / one.name) for one in inner)


def _copy(item: Traversable, target: Path) -> None:
    if item.is_file():
        target.write_bytes(item.read_bytes())
        return
    target.mkdir(mode=0o700)
    for inner in item.iterdir():
        if inner.name != "__pycache__":
            _copy(inner, target / inner.name)


def install_commands(home: Path, scope: str) -> list[tuple[str, ...]]:
    """The arguments of `claude plugin` that install the plugin, in order."""
    plugin_scope = "local" if scope == "project" else scope
    return [
        ("marketplace", "add", str(marketplace_folder(home)), "--scope", plugin_scope),
        ("install", ID, "--scope", plugin_scope),
    ]


def uninstall_commands(scope: str) -> list[tuple[str, ...]]:
    """The arguments of `claude plugin` that remove the plugin, in order."""
    plugin_scope = "local" if scope == "project" else scope
    return [("uninstall", ID, "--scope", plugin_scope), ("marketplace", "remove", NAME)]


def run_plugin_commands(commands: list[tuple[str, ...]]) -> str:
    """Run `claude plugin` commands until one fails; returns why it did, "" if none."""
    program = find_program()
    if not program:
        return "`claude` is not on the path"
    for command in commands:
        try:
            done = subprocess.run(
                [program, "plugin", *command],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode:
            said = (done.stderr or done.stdout).strip()
            return f"Claude Code said: {said or f'exit status {done.returncode}'}"
    return ""


def is_enabled(hooks_file: Path) -> bool:
    """Whether a settings file enables the plugin."""
    settings = read(config_file.load(hooks_file).text).value
    return mapping(settings.get("enabledPlugins")).get(ID) is True
