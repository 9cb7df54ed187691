"""Telling what is erased, in counts and never in words, and what still holds it."""

from __future__ import annotations

from holdfast.app.curation.erasure import remove_backups
from holdfast.interfaces.cli import confirm as asking
from holdfast.interfaces.cli.screen import Screen, number
from holdfast.learn.erasure import Erased

_PLURALS = {"memory": "memories", "shared memory": "shared memories"}


def show(screen: Screen, told: Erased) -> None:
    """What is to be erased, and what is not ours to erase."""
    if told.nothing:
        screen.line("Nothing in the memory holds it.")
    for kind, count in sorted(told.records.items()):
        screen.line(f"  {number(count, kind, _PLURALS.get(kind, ''))}")
    if told.events:
        screen.line(f"  {number(told.events, 'event')} in journals of hooks")
    if told.log_lines:
        screen.line(f"  {number(told.log_lines, 'line')} of the worker's log")
    for path in told.copies:
        screen.line(f"  still holds it: {path} (a backup)")
    for path in told.transcripts:
        screen.line(f"  may still hold it: {path} (not ours)")


def finish(screen: Screen, told: Erased, yes: bool, backups: bool) -> None:
    """Say what was erased, and offer to remove the backups that hold it."""
    counted = [number(n, kind, _PLURALS.get(kind, "")) for kind, n in sorted(told.records.items())]
    counted += [number(told.events, "event")] if told.events else []
    counted += [number(told.log_lines, "log line")] if told.log_lines else []
    screen.line(f"Erased for good: {', '.join(counted) or 'nothing'}.")
    if not told.copies:
        return
    many = number(len(told.copies), "backup")
    if not backups and not yes and asking.can_ask():
        backups = asking.confirm(f"{many} still hold it. Remove them?", default=False)
    if backups:
        remove_backups(told, True)
        screen.line(f"Removed {many}.")
    else:
        screen.line(f"{many} still hold it; --backups removes them:")
        for path in told.copies:
            screen.line(f"  {path}")
