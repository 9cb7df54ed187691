"""What hooks injected into a session, as they kept it beside the marks of that session."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from holdfast.capture.home_paths import INJECTED_SUFFIX, HomePaths
from holdfast.errors import InputError
from holdfast.sources.json_fields import mapping

LATEST = "latest"
# The session that a command runs in, if Claude Code started the command; else the latest.
CURRENT = "current"
_SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"


class InjectedText(NamedTuple):
    """One text: at which event, when, and the text itself."""

    kind: str
    time: str
    text: str


class InjectedTexts(NamedTuple):
    """The texts of one session, in the order of time."""

    session: str
    injected: tuple[InjectedText, ...] = ()


def read_injected(paths: HomePaths, session: str) -> InjectedTexts:
    """What was injected into a session, named by its id or the start of it, `latest` or
    `current`."""
    if session == CURRENT:
        session = os.environ.get(_SESSION_VARIABLE) or LATEST
    files = sorted(paths.session_marks.glob(f"*{INJECTED_SUFFIX}"), key=_changed)
    named = files[-1:] if session == LATEST else [f for f in files if f.name.startswith(session)]
    if len(named) > 1:
        raise InputError(f"Several sessions start with {session!r}.", "Give more of the id.")
    if not named:
        if session == LATEST:
            raise InputError("Nothing was injected into any session.", "holdfast status")
        return InjectedTexts(session)
    lines = named[0].read_text("utf-8").splitlines()
    texts = (_read(line) for line in lines)
    found = tuple(text for text in texts if text is not None)
    return InjectedTexts(named[0].name.removesuffix(INJECTED_SUFFIX), found)


def _changed(path: Path) -> float:
    return path.stat().st_mtime


def _read(line: str) -> InjectedText | None:
    """One text; None where the line was not written completely."""
    try:
        fields = mapping(json.loads(line))
    except ValueError:
        return None
    return InjectedText(*(str(fields.get(name, "")) for name in InjectedText._fields))
