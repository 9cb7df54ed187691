"""The plugin: the same hooks and server, in the form that Claude Code installs by itself.

Claude Code runs a plugin from the folder it was given, so that folder is a copy in the home,
which no upgrade of the package moves. The plugin's hooks do nothing where no Holdfast is set up.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.hosts.claude_code import config_file
from holdfast.hosts.claude_code.hook_commands import EVENTS, make_entry
from holdfast.hosts.claude_code.json_text import read

NAME = "holdfast"
ID = f"{NAME}@{NAME}"
_TIMEOUT_S = 120
_SCRIPT = "${HOLDFAST_HOME:-$HOME/.holdfast}/hooks/capture.sh"


def plugin_command(event: str) -> str:
    """The line that a shell runs for an event; without an installed Holdfast it does nothing."""
    return f'f="{_SCRIPT}"; [ ! -f "$f" ] || sh "$f" {event} 2>/dev/null || exit 0'


def plugin_hooks() -> dict[str, Any]:
    """What `hooks/hooks.json` holds."""
    hooks = {event.name: [make_entry(event, plugin_command(event.name))] for event in EVENTS}
    return {"description": "Capture what happens, bring what is known.", "hooks": hooks}


def marketplace(source: str, version: str) -> dict[str, Any]:
    """The file that offers the plugin, which lies at `source` beside it."""
    about = "A memory for coding agents that a professional can trust."
    return {
        "name": NAME,
        "owner": {"name": "The Holdfast authors"},
        "metadata": {"description": about, "version": version},
        "plugins": [
            {
                "name": NAME,
                "source": source,
                "description": f"{about} Local, cited, and it loses nothing.",
                "version": version,
            }
        ],
    }


def plugin_source() -> Traversable:
    """The plugin's folder in the package."""
    return resources.files("holdfast.hosts.claude_code") / "plugin"


def marketplace_folder(home: Path) -> Path:
    """Where the copy lies that Claude Code is pointed to."""
    return home / "marketplace"


def write_plugin(home: Path, version: str) -> Path:
    """Copy the plugin into the home, with a marketplace that offers it."""
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
    """Whether the copy is there, and as this version has it."""
    return _same(plugin_source(), marketplace_folder(home) / NAME)


def _same(item: Traversable, copy: Path) -> bool:
    if item.is_file():
        return copy.is_file() and copy.read_bytes() == item.read_bytes()
    inner = [one for one in item.iterdir() if one.name != "__pycache__"]
    return all(_same(one, copy / one.name) for one in inner)


def _copy(item: Traversable, target: Path) -> None:
    if item.is_file():
        target.write_bytes(item.read_bytes())
        return
    target.mkdir(mode=0o700)
    for inner in item.iterdir():
        if inner.name != "__pycache__":
            _copy(inner, target / inner.name)


class CommandResult(NamedTuple):
    """How a command of Claude Code's went, and what it said."""

    ok: bool
    words: str


def _tell(program: str, *arguments: str) -> CommandResult:
    try:
        done = subprocess.run(
            [program, "plugin", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return CommandResult(False, str(error))
    said = (done.stdout if done.returncode == 0 else done.stderr or done.stdout).strip()
    return CommandResult(done.returncode == 0, said)


def install_commands(home: Path, scope: str) -> list[tuple[str, ...]]:
    """What Claude Code is told, in order; a person can type the same after `claude plugin`."""
    kept = "local" if scope == "project" else scope
    return [
        ("marketplace", "add", str(marketplace_folder(home)), "--scope", kept),
        ("install", ID, "--scope", kept),
    ]


def uninstall_commands(scope: str) -> list[tuple[str, ...]]:
    """The same backwards."""
    kept = "local" if scope == "project" else scope
    return [("uninstall", ID, "--scope", kept), ("marketplace", "remove", NAME)]


def run_plugin_commands(program: str, commands: list[tuple[str, ...]]) -> CommandResult:
    """Tell Claude Code one after another, until it refuses one."""
    told = CommandResult(True, "")
    for command in commands:
        told = _tell(program, *command)
        if not told.ok:
            return told
    return told


def is_enabled(hooks_file: Path) -> bool:
    """Whether a settings file switches the plugin on."""
    enabled: object = read(config_file.load(hooks_file).text).value.get("enabledPlugins")
    return isinstance(enabled, dict) and cast(dict[str, object], enabled).get(ID) is True
