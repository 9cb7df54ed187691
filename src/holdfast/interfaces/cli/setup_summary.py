"""What `holdfast setup` and `holdfast uninstall` print: the changes in a few lines before they are
made, and the brief of the next session."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.hosts.claude_code import settings_entries
from holdfast.hosts.claude_code.config_file import Change, ConfigFile
from holdfast.hosts.claude_code.json_text import find, read
from holdfast.hosts.claude_code.locations import SettingsFiles
from holdfast.hosts.claude_code.permissions import tool_of
from holdfast.operations.briefs import REVIEW_HINT
from holdfast.operations.screen import Screen, number
from holdfast.sources.json_fields import items

# The first column may take this much of a line of 80 characters.
_MAX_COLUMN = 32


class Step(NamedTuple):
    """A change as a line: where it is made, and what it is."""

    where: str
    what: str


def short_path(path: Path) -> str:
    """A path with `~` for the home of the user."""
    home, text = str(Path.home()), str(path)
    return f"~{text[len(home) :]}" if text.startswith(home + os.sep) else text


def change_lines(changes: Sequence[Change], files: SettingsFiles, with_plugin: bool) -> list[Step]:
    """Each change of the settings files of Claude Code."""
    lines: list[Step] = []
    for change in changes:
        where = short_path(change.file.path)
        if change.file.path != files.hooks_file:
            server = "MCP server `holdfast` removed: the plugin has its own"
            lines.append(Step(where, server if with_plugin else "the MCP server `holdfast`"))
            continue
        before, after = _hooks(change.file, change.file.raw), _hooks(change.file, change.after)
        if new := len(after - before):
            what = f"{number(new, 'hook')}: they record sessions and inject what is known"
            lines.append(Step(where, what))
        elif gone := len(before - after):
            whose = ": the plugin has its own" if with_plugin else ""
            lines.append(Step(where, f"{number(gone, 'hook')} removed{whose}"))
        if change.allowed:
            tools = ", ".join(map(tool_of, change.allowed))
            lines.append(Step(where, f"read-only memory tools allowed: {tools}"))
    return lines


def removal_lines(changes: Sequence[Change]) -> list[Step]:
    """Each change of settings files that removes Holdfast."""
    lines: list[Step] = []
    for change in changes:
        file = change.file
        hooks = len(_hooks(file, file.raw) - _hooks(file, change.after))
        rules = len(_rules(file, file.raw) - _rules(file, change.after))
        gone = [number(hooks, "hook")] if hooks else []
        gone += [number(rules, "permission")] if rules else []
        lines.append(Step(short_path(file.path), " and ".join(gone) or "the MCP server `holdfast`"))
    return lines


def _rules(file: ConfigFile, raw: bytes | None) -> set[str]:
    """The tools that a settings file allows."""
    node = find(read(file.decode(raw)), ("permissions", "allow"))
    return set(map(str, items(node.value))) if node is not None else set()


def _hooks(file: ConfigFile, raw: bytes | None) -> set[tuple[str, str]]:
    """Our hooks in the content of a settings file, as event and command."""
    text = file.decode(raw)
    root = read(text)
    return {
        (event, str(node.value.get("command")))
        for event, places in settings_entries.find_hooks(text, None).items()
        for place in places
        if (node := find(root, place)) is not None
    }


def print_changes(screen: Screen, title: str, lines: Sequence[Step]) -> None:
    """Print changes: in two columns, if they fit."""
    screen.line(title)
    width = max((len(where) for where, _ in lines), default=0)
    for where, what in lines:
        if width <= _MAX_COLUMN:
            screen.wrap(what, f"  {where:<{width}}  ", " " * (width + 4))
        else:
            screen.item(f"{where}: {what}", "  ")


def print_diffs(screen: Screen, changes: Iterable[Change]) -> None:
    """Print changes of files as their diffs."""
    for change in changes:
        screen.diff(change.diff)


def print_first_brief(screen: Screen, memory: Holdfast) -> bool:
    """Print the brief that the next session in this folder, or where it has no bank the latest one,
    gets, and how to ask. Returns whether there is a memory to make one of."""
    try:
        here = memory.context.bank_id() or ""
    except InputError:  # the settings name a bank that does not exist yet
        here = ""
    latest = memory.reader.sessions.latest(None, 1)
    bank = here or (latest[0].bank if latest else "")
    if not bank:
        return False
    name = memory.context.bank_names().get(bank, bank)
    brief = memory.briefs.session_brief(bank)
    if brief.text:
        where = "in this folder" if bank == here else f"in {name}"
        screen.title(f"Your next session {where} starts with this brief:", "bold")
        for line in brief.text.splitlines():
            screen.item(screen.paint(line, "dim"), "  ")
        tokens = number(len(brief.text) // 4, "token")
        screen.line(f"  ({number(brief.notes, 'note')}, about {tokens})")
        screen.wrap(REVIEW_HINT, "  ")
    option = "" if bank == here else f" --bank {name}"
    screen.title(f'Ask it: holdfast ask "Why did we …?"{option}')
    return True
