"""Adds, updates and removes our entries in Claude Code's settings.

Every function takes the text of a document and returns it with nothing but our entries changed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

from holdfast.errors import InputError
from holdfast.hosts.claude_code.hook_commands import home_of_hook, hook_entries, is_hook_of
from holdfast.hosts.claude_code.json_text import Step, find, put, read, remove
from holdfast.sources.json_fields import items, mapping

SERVER = "holdfast"
_HOOKS = "hooks"
_SERVERS = "mcpServers"
_PROJECTS = "projects"
HOME_VARIABLE = "HOLDFAST_HOME"

Object = dict[str, Any]


def add_hooks(text: str, home: Path) -> str:
    """The document with exactly one of our hooks for each event."""
    _check(text)
    wanted = hook_entries(home)
    for event, places in find_hooks(text, home).items():
        groups = find(read(text), (_HOOKS, event))
        entry = wanted.get(event)
        first = cast(int, places[0][2])
        group: Object = groups.value[first] if groups else {}
        if entry is not None and len(places) == 1 and len(group.get(_HOOKS, ())) == 1:
            if group != entry:
                text = put(text, (_HOOKS, event, first), entry)
            del wanted[event]
        else:
            text = _take_hooks(text, home, event)
    for event, entry in wanted.items():
        text = put(text, (_HOOKS, event, -1), entry)
    return text


def _check(text: str) -> None:
    hooks: object = read(text).value.get(_HOOKS, {})
    if not isinstance(hooks, dict):
        raise InputError(
            'The setting "hooks" is not an object.', "Correct it, then run this again."
        )
    for event, groups in cast(Object, hooks).items():
        if not isinstance(groups, list):
            raise InputError(
                f'The setting "hooks.{event}" is not a list.', "Correct it, then run this again."
            )


def find_hooks(text: str, home: Path | None) -> dict[str, list[tuple[Step, ...]]]:
    """The paths of the hooks of a home, by event; of any home where it is None."""
    found: dict[str, list[tuple[Step, ...]]] = {}
    hooks: object = read(text).value.get(_HOOKS)
    for event, groups in _items(hooks):
        for number, group in _items(groups):
            for place, hook in _items(mapping(group).get(_HOOKS)):
                is_ours = is_hook_of(home, hook) if home else home_of_hook(hook) is not None
                if is_ours:
                    found.setdefault(str(event), []).append((_HOOKS, event, number, _HOOKS, place))
    return found


def other_homes(text: str, home: Path) -> list[Path]:
    """Other homes that have hooks in the document."""
    root = read(text)
    homes: dict[Path, None] = {}
    for places in find_hooks(text, None).values():
        for place in places:
            node = find(root, place)
            found = home_of_hook(node.value) if node else None
            if found is not None and node is not None and not is_hook_of(home, node.value):
                homes[found] = None
    return list(homes)


def _items(value: object) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return list(cast(Object, value).items())
    if isinstance(value, list):
        return list(enumerate(cast(list[Any], value)))
    return []


def remove_hooks(text: str, home: Path) -> str:
    """The document without our hooks, and without containers that are empty then."""
    for event in find_hooks(text, home):
        text = _take_hooks(text, home, event)
    return text


def _take_hooks(text: str, home: Path, event: str) -> str:
    for place in reversed(find_hooks(text, home).get(event, [])):
        text = prune(remove(text, place), place[:-1])
    return text


def prune(text: str, path: tuple[Step, ...]) -> str:
    """Remove containers that are empty now, from the inside out. A group of hooks is empty when its
    list is, whatever its matcher."""
    while path:
        node = find(read(text), path)
        if node is None or node.value:
            return text
        if path[0] == _HOOKS and len(path) == 4:
            path = path[:-1]
        text = remove(text, path)
        path = path[:-1]
    return text


def server_entry(python: str, flags: str, home: Path, is_default: bool) -> Object:
    """The entry with which Claude Code starts our server."""
    env = {} if is_default else {HOME_VARIABLE: str(home)}
    arguments = [*flags.split(), "-m", "holdfast", "mcp"]
    return {"type": "stdio", "command": python, "args": arguments, "env": env}


def starts_holdfast(value: object) -> bool:
    """Whether an entry of an MCP server starts ours. Its command is a text or a list of words."""
    entry = mapping(value)
    command: object = entry.get("command")
    words = [str(word) for word in items(command)] or [str(command or "")]
    words += [str(word) for word in items(entry.get("args"))]
    is_program = os.path.basename(words[0]) == SERVER  # noqa: PTH119 - of a file that may be gone
    return words[-1] == "mcp" and (is_program or SERVER in words)


def server_home(value: Object, default: Path) -> Path:
    """The home of an entry of our server."""
    named = mapping(value.get("env")).get(HOME_VARIABLE)
    return Path(named) if isinstance(named, str) else default


def server_path(project: str) -> tuple[Step, ...]:
    """The path of our server's entry: for one project, or for the user where it is ""."""
    return (_PROJECTS, project, _SERVERS, SERVER) if project else (_SERVERS, SERVER)


def add_server(text: str, project: str, entry: Object) -> str:
    """The document with our server; unchanged where another server has its name."""
    path = server_path(project)
    there = find(read(text), path)
    if there is not None and (not starts_holdfast(there.value) or there.value == entry):
        return text
    return put(text, path, entry)


def is_name_taken(text: str, project: str) -> bool:
    """Whether a server that is not ours has our name."""
    there = find(read(text), server_path(project))
    return there is not None and not starts_holdfast(there.value)


def projects_with_server(text: str, home: Path, default: Path) -> list[str]:
    """The projects for which our server is in the document; "" is the user's own entry."""
    root = read(text)
    projects: object = root.value.get(_PROJECTS)
    found: list[str] = []
    for project in ("", *(name for name, _ in _items(projects))):
        node = find(root, server_path(project))
        if node and starts_holdfast(node.value) and server_home(node.value, default) == home:
            found.append(project)
    return found


def remove_server(text: str, project: str) -> str:
    """The document without our server, and without containers that are empty then."""
    path = server_path(project)
    return prune(remove(text, path), path[:-1])
