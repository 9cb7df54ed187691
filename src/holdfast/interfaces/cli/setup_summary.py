"""What `holdfast setup` prints: the changes in a few lines before it makes them, and afterwards the
brief of the next session; and the changes of `holdfast uninstall`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.brief.frame import Brief
from holdfast.errors import InputError
from holdfast.hosts.claude_code import settings_entries
from holdfast.hosts.claude_code.config_file import Change, ConfigFile
from holdfast.hosts.claude_code.json_text import find, read
from holdfast.hosts.claude_code.locations import SettingsFiles
from holdfast.hosts.claude_code.permissions import tool_of
from holdfast.interfaces.cli.ingest_progress import reading_time
from holdfast.operations.briefs import REVIEW_HINT
from holdfast.operations.screen import Screen, amount, number
from holdfast.sources.json_fields import items

# The first column may take this much of a line of 80 characters.
_MAX_COLUMN = 32


class History(NamedTuple):
    """Transcripts that were not read yet: how many, their bytes, and the seconds reading takes."""

    files: int = 0
    bytes: int = 0
    seconds: int = 0

    @property
    def summary(self) -> str:
        """What is read, and how long that takes."""
        size = f"{number(self.files, 'transcript')}, {amount(self.bytes)}"
        return f"{size}; reading takes {reading_time(self.seconds)}"


class Step(NamedTuple):
    """Something that setup does besides changing settings files: where, and what is there then."""

    where: str
    what: str


def short_path(path: Path) -> str:
    """A path with `~` for the home of the user."""
    home = str(Path.home())
    text = str(path)
    return f"~{text[len(home) :]}" if text.startswith(home + os.sep) else text


def change_lines(
    changes: Sequence[Change],
    files: SettingsFiles,
    with_plugin: bool,
    steps: Sequence[Step],
    history: History,
) -> list[tuple[str, str]]:
    """Each change as where it is made and what it is."""
    lines: list[tuple[str, str]] = []
    for change in changes:
        where = short_path(change.file.path)
        if change.file.path != files.hooks_file:
            server = "MCP server `holdfast` removed: the plugin has its own"
            lines.append((where, server if with_plugin else "the MCP server `holdfast`"))
            continue
        before, after = _hooks(change.file, change.file.raw), _hooks(change.file, change.after)
        if new := len(after - before):
            what = f"{number(new, 'hook')}: they record sessions and inject what is known"
            lines.append((where, what))
        elif gone := len(before - after):
            whose = ": the plugin has its own" if with_plugin else ""
            lines.append((where, f"{number(gone, 'hook')} removed{whose}"))
        if change.allowed:
            tools = ", ".join(map(tool_of, change.allowed))
            lines.append((where, f"read-only memory tools allowed: {tools}"))
    lines += [(step.where, step.what) for step in steps]
    if history.files:
        lines.append(("your history", history.summary))
    return lines


def removal_lines(changes: Sequence[Change]) -> list[tuple[str, str]]:
    """Each change of settings files that removes Holdfast, as where it is made and what goes."""
    lines: list[tuple[str, str]] = []
    for change in changes:
        file = change.file
        hooks = len(_hooks(file, file.raw) - _hooks(file, change.after))
        rules = len(_rules(file, file.raw) - _rules(file, change.after))
        gone = [number(hooks, "hook")] if hooks else []
        gone += [number(rules, "permission")] if rules else []
        what = " and ".join(gone) or "the MCP server `holdfast`"
        lines.append((short_path(file.path), what))
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


def print_changes(screen: Screen, title: str, lines: Sequence[tuple[str, str]]) -> None:
    """Print the lines of `change_lines`: in two columns, if they fit."""
    screen.line(title)
    width = max((len(where) for where, _ in lines), default=0)
    for where, what in lines:
        if width <= _MAX_COLUMN:
            screen.wrap(what, f"  {where:<{width}}  ", " " * (width + 4))
        else:
            screen.item(f"{where}: {what}", "  ")


def bank_to_show(memory: Holdfast) -> str:
    """The bank of this folder, or where it has none that of the latest session; "" for none."""
    if here := _bank_here(memory):
        return here
    latest = memory.reader.sessions.latest(None, 1)
    return latest[0].bank if latest else ""


def _bank_here(memory: Holdfast) -> str:
    try:
        return memory.context.bank_id() or ""
    except InputError:  # the settings name a bank that does not exist yet
        return ""


def print_first_brief(screen: Screen, memory: Holdfast) -> Brief | None:
    """Print the brief that the next session gets, and how to ask. Returns the brief; None if there
    is no memory to make one of."""
    bank = bank_to_show(memory)
    if not bank:
        return None
    names = {one.id: one.name for one in memory.reader.banks.all()}
    name = names.get(bank, bank)
    brief = memory.briefs.session_brief(bank)
    here = "in this folder" if bank == _bank_here(memory) else f"in {name}"
    if brief.text:
        screen.title(f"Your next session {here} starts with this brief:", "bold")
        for line in brief.text.splitlines():
            screen.item(screen.paint(line, "dim"), "  ")
        tokens = number(len(brief.text) // 4, "token")
        screen.line(f"  ({number(brief.notes, 'note')}, about {tokens})")
        screen.wrap(REVIEW_HINT, "  ")
    option = "" if bank == _bank_here(memory) else f" --bank {name}"
    screen.title(f'Ask it: holdfast ask "Why did we …?"{option}')
    return brief
