"""What `holdfast setup` adds to the settings of an agent other than Claude Code, and removes again.

A change edits a settings file as text and touches nothing but our own entries, so that every other
byte stays. Each agent is one module of `hosts/others` that sets `HOST`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.hosts.claude_code.hook_commands import quote
from holdfast.hosts.claude_code.json_text import Step, find, put, read, remove
from holdfast.hosts.claude_code.settings_entries import (
    HOME_VARIABLE,
    SERVER,
    prune,
    starts_holdfast,
)
from holdfast.sources.agent import UserEnvironment
from holdfast.sources.json_fields import items, mapping

# In the home's folder of hooks; hooks are recognised by this name.
_SCRIPT = "other_agents.py"

Object = dict[str, Any]


class HoldfastCommand(NamedTuple):
    """How an agent runs Holdfast: the Python with its flags, and the home."""

    python: str
    flags: str
    home: Path
    is_default_home: bool

    @property
    def server_command(self) -> list[str]:
        """The command that starts our MCP server."""
        return [self.python, *self.flags.split(), "-m", "holdfast", "mcp"]

    @property
    def env(self) -> dict[str, str]:
        """The environment variables that our server needs."""
        return {} if self.is_default_home else {HOME_VARIABLE: str(self.home)}

    @property
    def server_entry(self) -> Object:
        """Our server as most agents write it into their lists of MCP servers."""
        command, *arguments = self.server_command
        entry: Object = {"command": command, "args": arguments}
        return {**entry, "env": self.env} if self.env else entry

    @property
    def hook_script(self) -> Path:
        """The script that answers hooks."""
        return self.home / "hooks" / _SCRIPT

    def hook_command(self, event: str, agent: str = "") -> str:
        """The shell command of a hook; it succeeds even where Holdfast was removed."""
        script = quote(str(self.hook_script))
        named = f"{event} {agent}".strip()
        return f"{quote(self.python)} -I -S {script} {named} 2>/dev/null || exit 0"


class SettingsChange(NamedTuple):
    """A change of one settings file. `add` and `remove` turn its text into the new one;
    `is_name_taken` says whether an entry that is not ours has our name. `empty` is the text of a
    file that does not exist yet."""

    path: Path
    add: Callable[[str], str]
    remove: Callable[[str], str]
    is_name_taken: Callable[[str], bool]
    empty: str = "{}\n"


class Host(NamedTuple):
    """An agent that can be configured: the changes of its settings, the command that starts it, and
    what the user must still do. See `hosts/others` for how to add one."""

    name: str
    title: str
    changes: Callable[[UserEnvironment, HoldfastCommand], Sequence[SettingsChange]]
    program: str
    notes: Sequence[str] = ()


def json_server(
    path: Path, steps: tuple[str, ...], entry: Object, holdfast: HoldfastCommand
) -> SettingsChange:
    """Our server in a JSON object of servers, which is at the path `steps`."""
    path_of_entry: tuple[Step, ...] = (*steps, SERVER)

    def add(text: str) -> str:
        _check(text, steps)
        there = find(read(text), path_of_entry)
        if there is not None and (not starts_holdfast(there.value) or there.value == entry):
            return text
        return put(text, path_of_entry, entry)

    def remove_entry(text: str) -> str:
        there = find(read(text), path_of_entry)
        if there is None or not starts_this_holdfast(there.value, holdfast):
            return text
        return prune(remove(text, path_of_entry), path_of_entry[:-1])

    def is_name_taken(text: str) -> bool:
        there = find(read(text), path_of_entry)
        return there is not None and not starts_holdfast(there.value)

    return SettingsChange(path, add, remove_entry, is_name_taken)


def _check(text: str, steps: tuple[str, ...]) -> None:
    """Raise ValueError where something on the path is not an object."""
    root = read(text)
    for depth in range(len(steps) + 1):
        node = find(root, steps[:depth])
        if node is not None and not isinstance(node.value, dict):
            raise ValueError(f"{'.'.join(steps[:depth]) or 'the whole'} is not an object")


def starts_this_holdfast(value: object, holdfast: HoldfastCommand) -> bool:
    """Whether an entry starts our server with this home."""
    entry = mapping(value)
    home = mapping(entry.get("env") or entry.get("environment")).get(HOME_VARIABLE)
    return starts_holdfast(entry) and (
        holdfast.is_default_home if home is None else home == str(holdfast.home)
    )


def json_hooks(
    path: Path, holdfast: HoldfastCommand, events: Sequence[str], timeout: int
) -> SettingsChange:
    """A hook for each event, in the format of Claude Code, which other agents adopted."""

    def entry(event: str) -> Object:
        command = holdfast.hook_command(event)
        return {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}

    return hooks_in_json(path, holdfast, {event: entry(event) for event in events})


def hooks_in_json(
    path: Path, holdfast: HoldfastCommand, entries: Mapping[str, Object], empty: str = "{}\n"
) -> SettingsChange:
    """An entry for each event, in the lists of the object `hooks`."""

    def add(text: str) -> str:
        _check(text, ("hooks",))
        for event, entry in entries.items():
            groups = _groups(text, event)
            same = [n for n, group in groups if group == entry]
            own = [n for n, group in groups if _is_hook(group, holdfast)]
            if own and own == same[:1]:
                continue
            text = _without_own(text, event, holdfast)
            text = put(text, ("hooks", event, -1), entry)
        return text

    def remove_entry(text: str) -> str:
        found = find(read(text), ("hooks",))
        for event in list(mapping(found.value if found else None)):
            text = _without_own(text, event, holdfast)
        return text

    return SettingsChange(path, add, remove_entry, _never, empty)


def own_file(path: Path, content: str, holdfast: HoldfastCommand) -> SettingsChange:
    """A file that is ours alone; it is known by the script that it names."""
    script = str(holdfast.hook_script)

    def is_ours(text: str) -> bool:
        return not text.strip() or script in text or json.dumps(script)[1:-1] in text

    def add(text: str) -> str:
        return content if is_ours(text) else text

    def remove_content(text: str) -> str:
        return "" if is_ours(text) else text

    def is_taken(text: str) -> bool:
        return not is_ours(text)

    return SettingsChange(path, add, remove_content, is_taken, "")


def _never(text: str) -> bool:
    """Hooks have no names; those of others are beside ours."""
    return False


def _groups(text: str, event: str) -> list[tuple[int, Object]]:
    found = find(read(text), ("hooks", event))
    return [(n, mapping(group)) for n, group in enumerate(items(found.value if found else None))]


def _is_hook(group: Object, holdfast: HoldfastCommand) -> bool:
    """Whether all hooks of a group are ours; in some agents a group is one hook."""
    hooks = [mapping(hook) for hook in items(group.get("hooks"))] or [group]
    script = quote(str(holdfast.hook_script))
    return all(f"{script} " in str(hook.get("command", "")) for hook in hooks)


def _without_own(text: str, event: str, holdfast: HoldfastCommand) -> str:
    for number, group in reversed(_groups(text, event)):
        if _is_hook(group, holdfast):
            text = prune(remove(text, ("hooks", event, number)), ("hooks", event))
    return text
