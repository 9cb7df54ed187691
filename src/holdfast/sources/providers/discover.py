"""Which plugins of Claude Code are enabled here, and where they lie.

Read off the files that Claude Code keeps; nothing is run and nothing written. What a project's own
settings enable counts only where the user has installed it: a repository that was merely cloned
must not choose a program of a marketplace for us to run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.errors import InputError

MAX_FILE_BYTES = 1_000_000
INLINE = "inline"
_MANAGED = Path("/etc/claude-code/managed-settings.json")


class Plugin(NamedTuple):
    """A plugin: its name, its name with its marketplace, its folder, and where its data lies."""

    name: str
    id: str
    root: Path
    data: Path


class Plugins(NamedTuple):
    """What is enabled; `problems` tells of what cannot be read."""

    found: tuple[Plugin, ...]
    problems: tuple[str, ...] = ()


def find_plugins(claude_dir: Path, folder: Path | None, given: Sequence[Path] = ()) -> Plugins:
    """The plugins of a user as seen from a folder, and those whose folders were given."""
    problems: list[str] = []
    home = claude_dir / "plugins"
    installed = _object(load_json(home / "installed_plugins.json", problems).get("plugins"))
    markets = load_json(home / "known_marketplaces.json", problems)
    project = _project(claude_dir, folder)
    found: dict[str, Plugin] = {}
    for id, chosen_by_user in _enabled(claude_dir, project, problems):
        name, _, market = id.rpartition("@")
        places = _install_paths(installed.get(id), project)
        if not name or (not places and not chosen_by_user):
            continue
        source = _in_market(market, name, _object(markets.get(market)), problems)
        # What comes from a folder of the user's own is run from there, not from a copy.
        lies = [source] if source and _is_folder(markets.get(market)) else []
        roots = [*lies, *places, *([source] if source else [])]
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
    """A JSON object on disk; none where it is not there, and a word where it cannot be read."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            problems.append(f"{path} is too large to be what it should.")
            return {}
        return _object(json.loads(path.read_text("utf-8-sig") or "{}"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError):
        problems.append(f"{path} cannot be read.")
        return {}


def _given(root: Path, home: Path) -> Plugin:
    if not root.is_dir():
        raise InputError(f"{root} is not a folder.", "Give the folder of a plugin.")
    root = root.resolve()
    told: object = load_json(root / ".claude-plugin" / "plugin.json", []).get("name")
    name = told if isinstance(told, str) and told else root.name
    return Plugin(name, f"{name}@{INLINE}", root, home / "data" / f"{name}-{INLINE}")


def _project(claude_dir: Path, folder: Path | None) -> Path | None:
    """The nearest folder above with settings of its own."""
    for place in (folder, *folder.parents) if folder else ():
        own = place / ".claude"
        if own != claude_dir and own.is_dir():
            return place
    return None


def _enabled(
    claude_dir: Path, project: Path | None, problems: list[str]
) -> Iterator[tuple[str, bool]]:
    """What is enabled, and whether the user said so, not only the project."""
    users = [claude_dir / "settings.json", _MANAGED]
    own = project / ".claude" if project else None
    projects = [own / "settings.json", own / "settings.local.json"] if own else []
    state: dict[str, tuple[bool, bool]] = {}
    for path in (users[0], *projects, users[1]):
        for id, on in _object(load_json(path, problems).get("enabledPlugins")).items():
            before = state.get(id, (False, False))[1]
            state[id] = (on is True, before or (path in users and on is True))
    return ((id, by_user) for id, (on, by_user) in state.items() if on)


def _install_paths(told: object, project: Path | None) -> list[Path]:
    """Where copies of a plugin lie: for this project first, then for the user. Older versions
    have one entry, newer ones a list."""
    entries = [_object(item) for item in (_list(told) or [told])]
    here = str(project) if project else ""
    own = [e for e in entries if e.get("projectPath") == here and here]
    general = [e for e in entries if not e.get("projectPath")]
    paths = [entry.get("installPath") for entry in (*own, *general)]
    return [Path(path) for path in paths if isinstance(path, str) and path]


def _is_folder(market: object) -> bool:
    return _object(_object(market).get("source")).get("source") in ("directory", "file")


def _in_market(market: str, name: str, known: dict[str, Any], problems: list[str]) -> Path | None:
    """Where a marketplace keeps a plugin itself, within its own folder."""
    place: object = known.get("installLocation")
    if not isinstance(place, str) or not place:
        return None
    root = Path(place)
    if root.name == "marketplace.json":
        root = root.parent.parent
    listed = load_json(root / ".claude-plugin" / "marketplace.json", problems)
    below: object = _object(listed.get("metadata")).get("pluginRoot")
    for entry in map(_object, _list(listed.get("plugins"))):
        source: object = entry.get("source")
        if entry.get("name") == name and isinstance(source, str):
            spots = [root / source]
            if isinstance(below, str) and not source.startswith("./"):
                spots.insert(0, root / below / source)
            for spot in spots:
                if spot.resolve().is_relative_to(root.resolve()) and spot.is_dir():
                    return spot.resolve()
    return None


def _object(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []
