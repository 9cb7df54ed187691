"""What `holdfast setup` prints: the changes in a few lines before it makes them, and afterwards the
brief of the next session with questions to try."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from holdfast.app.core.context import utc_now
from holdfast.app.memory import Holdfast
from holdfast.app.views.questions_to_try import questions_to_try
from holdfast.brief.frame import Brief
from holdfast.hosts.claude_code.config_file import Change
from holdfast.hosts.claude_code.hook_commands import EVENTS
from holdfast.hosts.claude_code.locations import SettingsFiles
from holdfast.hosts.claude_code.permissions import tool_of
from holdfast.interfaces.cli.ingest_progress import reading_time
from holdfast.interfaces.cli.screen import Screen, amount, number


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


def short_path(path: Path) -> str:
    """A path with `~` for the home of the user."""
    home = str(Path.home())
    text = str(path)
    return f"~{text[len(home) :]}" if text.startswith(home + os.sep) else text


def change_lines(
    changes: Sequence[Change],
    files: SettingsFiles,
    with_plugin: bool,
    steps: Sequence[str],
    history: History,
) -> list[tuple[str, str]]:
    """Each change as where it is made and what it is."""
    lines: list[tuple[str, str]] = []
    for change in changes:
        where = short_path(change.file.path)
        if change.file.path != files.hooks_file:
            server = "no entry for the MCP server: the plugin has one"
            lines.append((where, server if with_plugin else "the MCP server `holdfast`"))
            continue
        if _changes_hooks(change):
            hooks = f"{len(EVENTS)} hooks: they record sessions and inject what is known"
            lines.append((where, "no hooks: the plugin has them" if with_plugin else hooks))
        if change.allowed:
            tools = ", ".join(map(tool_of, change.allowed))
            lines.append((where, f"permission for tools that only read memory: {tools}"))
    lines += [("also", step) for step in steps]
    if history.files:
        lines.append(("your history", history.summary))
    return lines


def _changes_hooks(change: Change) -> bool:
    """Whether a change does more than adding permission rules."""
    lines = change.diff.split("\n")
    return any(line[:1] in "+-" and "capture." in line for line in lines if line)


def print_changes(screen: Screen, title: str, lines: Sequence[tuple[str, str]]) -> None:
    """Print the lines of `change_lines` in two columns."""
    screen.line(title)
    width = max((len(where) for where, _ in lines), default=0)
    for where, what in lines:
        screen.wrap(what, f"  {where:<{width}}  ", " " * (width + 4))


def bank_to_show(memory: Holdfast) -> str:
    """The bank of this folder, or where it has none that of the latest session; "" for none."""
    if here := memory.context.bank_id():
        return here
    latest = memory.reader.sessions.latest(None, 1)
    return latest[0].bank if latest else ""


def print_first_brief(screen: Screen, memory: Holdfast) -> Brief | None:
    """Print the brief that the next session gets, and questions that this memory answers. Returns
    the brief; None if there is no memory to make one of."""
    bank = bank_to_show(memory)
    if not bank:
        return None
    names = {one.id: one.name for one in memory.reader.banks.all()}
    name = names.get(bank, bank)
    brief = memory.briefs.session_brief(bank)
    here = "in this folder" if bank == memory.context.bank_id() else f"in {name}"
    if brief.text:
        screen.title(f"Your next session {here} starts with this brief:", "bold")
        for line in brief.text.splitlines():
            screen.line(f"  {line}" if line else "", "dim")
        tokens = number(len(brief.text) // 4, "token")
        screen.line(f"  ({number(len(brief.records), 'note')}, about {tokens})")
    questions = questions_to_try(memory, bank, utc_now())
    if questions:
        option = "" if bank == memory.context.bank_id() else f" --bank {name}"
        screen.title("Questions that this memory answers:", "bold")
        for question in questions:
            screen.line(f'  holdfast ask "{question}"{option}')
    return brief
