"""The hook entries: which events Claude Code tells us of, and how it runs our script.

A hook must end well whatever becomes of us: the shell line swallows what the script cannot,
a script that is gone included. Entries are known again by the path of the script they run, so
those of older versions are found as well.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.errors import InputError
from holdfast.quoting import for_cmd, words

SCRIPT = "capture.sh"
# The same for systems without a shell of POSIX.
PLAIN_SCRIPT = "capture.py"
_FOLDER = "hooks"
_TIMEOUT_S = 10
# Without a timeout of its own this event has 1.5 seconds, for the hooks of everybody together.
_END_TIMEOUT_S = 5
EDITING = "Edit|MultiEdit|Write|NotebookEdit"

Entry = dict[str, Any]


class Event(NamedTuple):
    """An event we want to be told of, for which tools, and for how long at most."""

    name: str
    matcher: str = ""
    timeout_s: int = _TIMEOUT_S


EVENTS = (
    Event("SessionStart"),
    Event("UserPromptSubmit"),
    Event("PreToolUse", EDITING),
    Event("PostToolUse"),
    Event("PostToolUseFailure"),
    Event("PreCompact"),
    Event("PostCompact"),
    Event("SubagentStart"),
    Event("SubagentStop"),
    Event("Stop"),
    Event("SessionEnd", timeout_s=_END_TIMEOUT_S),
)


def quote(path: str) -> str:
    """A path as one word of a shell, whatever is in it."""
    return "'" + path.replace("'", "'\"'\"'") + "'"


def hook_command(home: Path, event: str) -> str:
    """The line that a shell runs for an event."""
    script = str(home / _FOLDER / SCRIPT)
    if "\n" in script or "\0" in script or not _is_text(script):
        raise InputError(
            f"The folder {script!r} cannot be written into a settings file.",
            "Choose another home with HOLDFAST_HOME: letters, digits, spaces are fine.",
        )
    if lacks_shell():
        plain = str(home / _FOLDER / PLAIN_SCRIPT)
        return for_cmd([sys.executable, "-I", "-S", plain, event])
    # A shell on Windows reads paths with slashes.
    script = script.replace("\\", "/") if os.name == "nt" else script
    return f"sh {quote(script)} {event} 2>/dev/null || exit 0"


def lacks_shell(system: str = os.name, path: str | None = None) -> bool:
    """Whether hooks must do without `sh`: on Windows, where Git for Windows did not bring one."""
    return system == "nt" and shutil.which("sh", path=path) is None


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def make_entry(event: Event, command: str) -> Entry:
    """What stands in the list of an event."""
    hook = {"type": "command", "command": command, "timeout": event.timeout_s}
    matched: Entry = {"matcher": event.matcher} if event.matcher else {}
    return {**matched, "hooks": [hook]}


def hook_entries(home: Path) -> dict[str, Entry]:
    """One entry for each event."""
    return {event.name: make_entry(event, hook_command(home, event.name)) for event in EVENTS}


def home_of_hook(hook: object) -> Path | None:
    """The home whose script a hook of a settings file runs; None where it runs none of ours."""
    if not isinstance(hook, dict):
        return None
    command = cast(dict[str, object], hook).get("command")
    if not isinstance(command, str):
        return None
    for word in _words(command)[1:5]:
        path = Path(word)
        ours = path.name in (SCRIPT, PLAIN_SCRIPT) and path.parent.name == _FOLDER
        if ours and path.is_absolute():
            return path.parent.parent
    return None


def _words(command: str) -> list[str]:
    """The first words of a line that may run a script of ours."""
    if PLAIN_SCRIPT in command:
        return words(command)
    try:
        return shlex.split(command)[:3] if SCRIPT in command else []
    except ValueError:
        return []


def is_hook_of(home: Path, hook: object) -> bool:
    """Whether a hook runs the script of this home, by whatever name the home goes."""
    found = home_of_hook(hook)
    if found is None:
        return False
    return found == home or os.path.realpath(found) == os.path.realpath(home)
