"""What a reader makes of one line, before it has a bank, a place in its session, or redaction.

Plain tuples: one is made for every line of every transcript.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.model.ledger import Fate, Skip
from holdfast.model.records import Role, ToolCall
from holdfast.model.trust import Trust


class DraftTurn(NamedTuple):
    """A turn as its line tells it; `key` is what its id is made of."""

    key: tuple[str, ...]
    time: str
    role: Role
    trust: Trust
    text: str = ""
    speaker: str = ""
    tool: ToolCall | None = None


class DraftResult(NamedTuple):
    """The result of a tool call that an earlier line announced."""

    call: str
    ok: bool
    result: str
    lines: str
    time: str


class DraftSession(NamedTuple):
    """What a line says about the session it belongs to."""

    id: str
    host: str
    parent: str = ""
    subagent: str = ""
    title: str = ""
    cwd: str = ""
    branch: str = ""
    version: str = ""


NO_SESSION = DraftSession("", "")


class Reading(NamedTuple):
    """What became of one line, and which session it belongs to."""

    fate: Fate
    reason: str = ""
    session: str = ""
    branch: str = ""
    turns: Sequence[DraftTurn] = ()
    results: Sequence[DraftResult] = ()
    ref: str = ""
    title: str = ""


def skipped(reason: Skip) -> Reading:
    """A line that is readable and gives nothing to remember."""
    return _SKIPPED[reason]


_SKIPPED = {reason: Reading(Fate.SKIPPED, reason.value) for reason in Skip}


class FileInfo(NamedTuple):
    """What a reader must know about the file that a line is in; `root` is the project's
    folder, under which paths are told relative to it. `session` is what the file as a whole
    tells of its session, where it holds one alone."""

    path: str
    agent: str
    stem: str
    root: str
    session: DraftSession = NO_SESSION
