"""What is put into the settings of another agent, piece by piece, and taken out again.

A piece works on a document as text and changes nothing but what is ours, so that an agent's file
keeps its every other byte. Each agent is one module of `hosts/others` that sets `HOST`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.hosts.claude_code.hook_commands import quote
from holdfast.hosts.claude_code.json_text import Step, find, put, read, remove
from holdfast.sources.agent import UserEnvironment
from holdfast.sources.json_fields import items, mapping

SERVER = "holdfast"
_HOME_VARIABLE = "HOLDFAST_HOME"
_SCRIPT = "other_agents.py"

Object = dict[str, Any]


class HoldfastCommand(NamedTuple):
    """What an agent is to run: the Python with its flags, and the home, by its name where it is
    not the usual one."""

    python: str
    flags: str
    home: Path
    is_default_home: bool

    @property
    def server_command(self) -> list[str]:
        """How our server is started."""
        return [self.python, *self.flags.split(), "-m", "holdfast", "mcp"]

    @property
    def env(self) -> dict[str, str]:
        """What our server must be told of its surroundings."""
        return {} if self.is_default_home else {_HOME_VARIABLE: str(self.home)}

    def hook_command(self, event: str) -> str:
        """The line that a shell runs for an event; it ends well whatever becomes of us."""
        script = quote(str(self.home / "hooks" / _SCRIPT))
        return f"{quote(self.python)} -I -S {script} {event} 2>/dev/null || exit 0"


class SettingsChange(NamedTuple):
    """A change of one file. `add` and `drop` take its text and give the new one; `taken` says
    whether something that is not ours stands where ours would."""

    path: Path
    add: Callable[[str], str]
    remove: Callable[[str], str]
    is_name_taken: Callable[[str], bool]
    empty: str = "{}\n"


class Host(NamedTuple):
    """An agent that can be set up: the pieces it takes, and what a person must still do."""

    name: str
    title: str
    changes: Callable[[UserEnvironment, HoldfastCommand], Sequence[SettingsChange]]
    notes: Sequence[str] = ()


def json_server(
    path: Path, steps: tuple[str, ...], entry: Object, ours: HoldfastCommand
) -> SettingsChange:
    """Our server in a list of servers that is JSON, at a path of keys."""
    place: tuple[Step, ...] = (*steps, SERVER)

    def add(text: str) -> str:
        _check(text, steps)
        there = find(read(text), place)
        if there is not None and (not starts_holdfast(there.value) or there.value == entry):
            return text
        return put(text, place, entry)

    def drop(text: str) -> str:
        there = find(read(text), place)
        if there is None or not starts_this_holdfast(there.value, ours):
            return text
        return _prune(remove(text, place), place[:-1])

    def taken(text: str) -> bool:
        there = find(read(text), place)
        return there is not None and not starts_holdfast(there.value)

    return SettingsChange(path, add, drop, taken)


def _check(text: str, steps: tuple[str, ...]) -> None:
    """Raise ValueError where something else than an object is in our way."""
    root = read(text)
    for depth in range(len(steps) + 1):
        node = find(root, steps[:depth])
        if node is not None and not isinstance(node.value, dict):
            raise ValueError(f"{'.'.join(steps[:depth]) or 'the whole'} is not an object")


def starts_holdfast(value: object) -> bool:
    """Whether an entry starts a server of ours."""
    entry = cast(Object, value) if isinstance(value, dict) else {}
    command: object = entry.get("command")
    words = [str(word) for word in items(command)] or [str(command or "")]
    words += [str(word) for word in items(entry.get("args"))]
    named = os.path.basename(words[0]) == SERVER  # noqa: PTH119 - of a file that may be gone
    return words[-1] == "mcp" and (named or SERVER in words)


def starts_this_holdfast(value: object, ours: HoldfastCommand) -> bool:
    """Whether an entry starts our server in this very home."""
    entry = mapping(value)
    told = mapping(entry.get("env") or entry.get("environment")).get(_HOME_VARIABLE)
    return starts_holdfast(entry) and (
        ours.is_default_home if told is None else told == str(ours.home)
    )


def json_hooks(
    path: Path, ours: HoldfastCommand, events: Sequence[str], timeout: int
) -> SettingsChange:
    """A hook of ours for each event, in the shape that Claude Code began."""

    def add(text: str) -> str:
        _check(text, ("hooks",))
        for event in events:
            entry = {"type": "command", "command": ours.hook_command(event), "timeout": timeout}
            groups = _groups(text, event)
            same = [n for n, group in groups if group == {"hooks": [entry]}]
            mine = [n for n, group in groups if _is_hook(group, ours.home)]
            if mine and mine == same[:1]:
                continue
            text = _without(text, event, ours.home)
            text = put(text, ("hooks", event, -1), {"hooks": [entry]})
        return text

    def drop(text: str) -> str:
        found = find(read(text), ("hooks",))
        for event in list(mapping(found.value if found else None)):
            text = _without(text, event, ours.home)
        return text

    return SettingsChange(path, add, drop, _never)


def _never(text: str) -> bool:
    """Hooks of others stand beside ours."""
    return False


def _groups(text: str, event: str) -> list[tuple[int, Object]]:
    found = find(read(text), ("hooks", event))
    return [(n, mapping(group)) for n, group in enumerate(items(found.value if found else None))]


def _is_hook(group: Object, home: Path) -> bool:
    """Whether a group of hooks is one that we put there."""
    commands = [str(mapping(hook).get("command", "")) for hook in items(group.get("hooks"))]
    script = quote(str(home / "hooks" / _SCRIPT))
    return bool(commands) and all(f"{script} " in command for command in commands)


def _without(text: str, event: str, home: Path) -> str:
    for number, group in reversed(_groups(text, event)):
        if _is_hook(group, home):
            text = _prune(remove(text, ("hooks", event, number)), ("hooks", event))
    return text


def _prune(text: str, path: tuple[Step, ...]) -> str:
    """Drop containers that are empty now, upward."""
    while path:
        node = find(read(text), path)
        if node is None or node.value:
            return text
        text = remove(text, path)
        path = path[:-1]
    return text
