"""The hooks in Claude Code's settings: for which events, and with which command.

A hook must succeed whatever happens to Holdfast: the shell command ignores all errors, even that
the script is gone. Our hooks are recognised by the path of the script they run, so that those of
other versions are found as well.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.errors import InputError
from holdfast.windows_command_line import join_words_for_cmd, split_words

SCRIPT = "capture.sh"
# The same for systems without `sh`.
PYTHON_SCRIPT = "capture.py"
_FOLDER = "hooks"
# Our scripts end themselves after two seconds; this is for a machine under load.
_TIMEOUT_S = 10
# Without a timeout this event has 1.5 seconds, for all hooks of all programs together.
_SESSION_END_TIMEOUT_S = 5
EDIT_TOOLS = "Edit|MultiEdit|Write|NotebookEdit"

Entry = dict[str, Any]


class Event(NamedTuple):
    """An event with a hook of ours: for which tools, and with which timeout."""

    name: str
    matcher: str = ""
    timeout_s: int = _TIMEOUT_S


EVENTS = (
    Event("SessionStart"),
    Event("UserPromptSubmit"),
    Event("PreToolUse", EDIT_TOOLS),
    Event("PostToolUse"),
    Event("PostToolUseFailure"),
    Event("PreCompact"),
    Event("PostCompact"),
    Event("SubagentStart"),
    Event("SubagentStop"),
    Event("Stop"),
    Event("SessionEnd", timeout_s=_SESSION_END_TIMEOUT_S),
)


def quote(path: str) -> str:
    """A path quoted for a shell."""
    return "'" + path.replace("'", "'\"'\"'") + "'"


def hook_command(home: Path, event: str) -> str:
    """The shell command of a hook."""
    script = str(home / _FOLDER / SCRIPT)
    if "\n" in script or "\0" in script or not _is_text(script):
        raise InputError(
            f"The folder {script!r} cannot be written into a settings file.",
            "Choose another home with HOLDFAST_HOME: letters, digits, spaces are fine.",
        )
    if lacks_shell():
        script = str(home / _FOLDER / PYTHON_SCRIPT)
        return join_words_for_cmd([sys.executable, "-I", "-S", script, event])
    # A POSIX shell on Windows needs paths with slashes.
    script = script.replace("\\", "/") if os.name == "nt" else script
    return f"sh {quote(script)} {event} 2>/dev/null || exit 0"


def lacks_shell(system: str = os.name, path: str | None = None) -> bool:
    """Whether the system has no `sh`: Windows without Git for Windows."""
    return system == "nt" and shutil.which("sh", path=path) is None


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def make_entry(event: Event, command: str) -> Entry:
    """The entry of a hook in the list of its event."""
    hook = {"type": "command", "command": command, "timeout": event.timeout_s}
    matched: Entry = {"matcher": event.matcher} if event.matcher else {}
    return {**matched, "hooks": [hook]}


def hook_entries(home: Path) -> dict[str, Entry]:
    """One entry for each event."""
    return {event.name: make_entry(event, hook_command(home, event.name)) for event in EVENTS}


def home_of_hook(hook: object) -> Path | None:
    """The home whose script a hook runs; None where it is not ours."""
    if not isinstance(hook, dict):
        return None
    command = cast(dict[str, object], hook).get("command")
    if not isinstance(command, str):
        return None
    for word in _words(command)[1:5]:
        path = Path(word)
        ours = path.name in (SCRIPT, PYTHON_SCRIPT) and path.parent.name == _FOLDER
        if ours and path.is_absolute():
            return path.parent.parent
    return None


def _words(command: str) -> list[str]:
    """The first words of a command that may run our script."""
    if PYTHON_SCRIPT in command:
        return split_words(command)
    try:
        return shlex.split(command)[:3] if SCRIPT in command else []
    except ValueError:
        return []


def is_hook_of(home: Path, hook: object) -> bool:
    """Whether a hook runs the script of this home, also by another path to it."""
    found = home_of_hook(hook)
    if found is None:
        return False
    return found == home or os.path.realpath(found) == os.path.realpath(home)
