"""Finds the plugins of Claude Code that are enabled in a folder.

It reads Claude Code's own files; nothing is run and nothing written. A plugin that only the
project's settings enable counts only if the user installed it: a repository that was merely cloned
must not choose a program for us to run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.errors import InputError
from holdfast.sources.claude_code.files import find_project
from holdfast.sources.json_fields import items, mapping

# A larger file is not one that Claude Code wrote.
MAX_FILE_BYTES = 1_000_000
INLINE = "inline"
_MANAGED = Path("/etc/claude-code/managed-settings.json")


class Plugin(NamedTuple):
    """A plugin: its name, its `NAME@MARKETPLACE`, its folder, and the folder of its data."""

    name: str
    id: str
    root: Path
    data: Path


class Plugins(NamedTuple):
    """The plugins that are enabled, and what could not be read."""

    found: tuple[Plugin, ...]
    problems: tuple[str, ...] = ()


def find_plugins(claude_dir: Path, folder: Path | None, given: Sequence[Path] = ()) -> Plugins:
    """The plugins that are enabled in a folder, and those of the `given` folders."""
    problems: list[str] = []
    home = claude_dir / "plugins"
    installed = mapping(load_json(home / "installed_plugins.json", problems).get("plugins"))
    markets = load_json(home / "known_marketplaces.json", problems)
    project = find_project(claude_dir, folder)
    found: dict[str, Plugin] = {}
    for id, enabled_by_user in _enabled(claude_dir, project, problems):
        name, _, market = id.rpartition("@")
        copies = _install_paths(installed.get(id), project)
        if not name or (not copies and not enabled_by_user):
            continue
        known = mapping(markets.get(market))
        source = _in_market(name, known, problems)
        # A plugin from a local folder is run from there, not from a copy.
        sources = [source] if source else []
        is_local = mapping(known.get("source")).get("source") in ("directory", "file")
        roots = [*sources, *copies] if is_local else [*copies, *sources]
        root = next((root for root in roots if root.is_dir()), None)
        if root is None:
            problems.append(f"{id} is enabled but not there.")
            continue
        found[id] = Plugin(name, id, root, home / "data" / f"{name}-{market}")
    for root in given:
        plugin = _given(root, home)
        found[plugin.id] = plugin
    return Plugins(tuple(found.values()), tuple(problems))


def load_json(path: Path, problems: list[str]) -> dict[str, Any]:
    """A JSON object on disk, {} where there is none. What cannot be read is added to `problems`."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            problems.append(f"{path} is too large to be what it should.")
            return {}
        return mapping(json.loads(path.read_text("utf-8-sig") or "{}"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError):
        problems.append(f"{path} cannot be read.")
        return {}


def _given(root: Path, home: Path) -> Plugin:
    if not root.is_dir():
        raise InputError(f"{root} is not a folder.", "Give the folder of a plugin.")
    root = root.resolve()
    named: object = load_json(root / ".claude-plugin" / "plugin.json", []).get("name")
    name = named if isinstance(named, str) and named else root.name
    return Plugin(name, f"{name}@{INLINE}", root, home / "data" / f"{name}-{INLINE}")


def _enabled(
    claude_dir: Path, project: Path | None, problems: list[str]
) -> Iterator[tuple[str, bool]]:
    """The ids of enabled plugins, and whether the user enabled them, not only the project."""
    users = [claude_dir / "settings.json", _MANAGED]
    own = project / ".claude" if project else None
    projects = [own / "settings.json", own / "settings.local.json"] if own else []
    state: dict[str, tuple[bool, bool]] = {}
    for path in (users[0], *projects, users[1]):
        for id, on in mapping(load_json(path, problems).get("enabledPlugins")).items():
            before = state.get(id, (False, False))[1]
            state[id] = (on is True, before or (path in users and on is True))
    return ((id, by_user) for id, (on, by_user) in state.items() if on)


def _install_paths(value: object, project: Path | None) -> list[Path]:
    """The folders of a plugin's copies: for this project first, then for the user. Older versions
    of Claude Code have one entry, newer ones a list."""
    entries = [mapping(item) for item in (items(value) or [value])]
    here = str(project) if project else ""
    own = [e for e in entries if e.get("projectPath") == here and here]
    general = [e for e in entries if not e.get("projectPath")]
    paths = [entry.get("installPath") for entry in (*own, *general)]
    return [Path(path) for path in paths if isinstance(path, str) and path]


def _in_market(name: str, known: dict[str, Any], problems: list[str]) -> Path | None:
    location: object = known.get("installLocation")
    if not isinstance(location, str) or not location:
        return None
    root = Path(location)
    if root.name == "marketplace.json":
        root = root.parent.parent
    listed = load_json(root / ".claude-plugin" / "marketplace.json", problems)
    below: object = mapping(listed.get("metadata")).get("pluginRoot")
    for entry in map(mapping, items(listed.get("plugins"))):
        source: object = entry.get("source")
        if entry.get("name") == name and isinstance(source, str):
            folders = [root / source]
            if isinstance(below, str) and not source.startswith("./"):
                folders.insert(0, root / below / source)
            for folder in folders:
                if folder.resolve().is_relative_to(root.resolve()) and folder.is_dir():
                    return folder.resolve()
    return None
