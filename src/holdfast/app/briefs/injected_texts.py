"""What hooks injected into a session, as they kept it beside the marks of that session."""

from __future__ import annotations

import json
import os
from contextlib import suppress
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
    marks = paths.session_marks.glob(f"*{INJECTED_SUFFIX}")
    files = sorted(marks, key=lambda file: file.stat().st_mtime)
    named = files[-1:] if session == LATEST else [f for f in files if f.name.startswith(session)]
    if len(named) > 1:
        raise InputError(f"Several sessions start with {session!r}.", "Give more of the id.")
    if not named and session == LATEST:
        raise InputError("Nothing was injected into any session.", "holdfast status")
    if not named:
        return InjectedTexts(session)
    found: list[InjectedText] = []
    for line in named[0].read_text("utf-8").splitlines():
        with suppress(ValueError):  # a line that was not written completely
            fields = mapping(json.loads(line))
            found.append(
                InjectedText(*(str(fields.get(name, "")) for name in InjectedText._fields))
            )
    return InjectedTexts(named[0].name.removesuffix(INJECTED_SUFFIX), tuple(found))
