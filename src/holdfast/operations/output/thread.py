"""Printing pulls, issues and remarks of a forge."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.framed_text import defang, one_line
from holdfast.language import truncate
from holdfast.model.forge import Issue, Pull, Remark
from holdfast.model.kinds import is_from_outside
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.operations.screen import Screen, minute, number
from holdfast.refine.git.forge_threads import state_text

# How many files of a pull are named, and how much of a remark is printed: a screen at most.
_MAX_FILES = 20
_MAX_REMARK_CHARACTERS = 2000


def print_thread(screen: Screen, thread: Pull | Issue) -> None:
    """Title, state, labels, branches, files and text."""
    t = thread
    screen.line(f"#{t.number} {one_line(t.title)}", "bold")
    closed = f" on {t.closed[:10]}" if t.closed else ""
    screen.line(f"  {state_text(t)}{closed} · {_author(t)} · {_time(t.time)}")
    for name, value in (("labels", ", ".join(t.labels)), ("at", t.url)):
        if value:
            screen.item(f"{name}: {value}", "  ")
    if isinstance(t, Pull):
        if t.branch:
            screen.line(f"  from {one_line(t.branch)} into {one_line(t.base)}")
        if t.files:
            more = f", and {len(t.files) - _MAX_FILES} more" if len(t.files) > _MAX_FILES else ""
            screen.item(f"files: {', '.join(t.files[:_MAX_FILES])}{more}", "  ")
    if t.body:
        screen.line()
        screen.wrap(defang(t.body, is_from_outside(t)), "  ")


def print_remark(screen: Screen, remark: Remark) -> None:
    """One remark with its author."""
    r = remark
    location = f" · {r.path}{f':{r.line}' if r.line else ''}" if r.path else ""
    verdict = f" · {r.state.replace('_', ' ')}" if r.state else ""
    screen.line(f"  {_author(r)} · {_time(r.time)}{verdict}{location}")
    screen.line(f"    {screen.paint(uri('remark', r.id), 'cyan')}")
    if r.text:
        # Only a text that is cut is put on one line.
        too_long = len(r.text) > _MAX_REMARK_CHARACTERS
        text = truncate(r.text, _MAX_REMARK_CHARACTERS) if too_long else r.text
        screen.wrap(defang(text, is_from_outside(r)), "    ")


def print_remarks(screen: Screen, remarks: Iterable[Remark]) -> None:
    """All remarks of a thread, in the order given."""
    listed = list(remarks)
    if listed:
        screen.title(f"{number(len(listed), 'remark')}:")
    for remark in listed:
        screen.line()
        print_remark(screen, remark)


def _author(record: Pull | Issue | Remark) -> str:
    """The name of the author; whether it is a program, and whether its words count as external."""
    program = " (bot)" if record.bot else ""
    outside = " [external]" if record.trust is Trust.EXTERNAL else ""
    return f"{one_line(record.author)}{program}{outside}"


def _time(time: str) -> str:
    return minute(time) or "undated"
