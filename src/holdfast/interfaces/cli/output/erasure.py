"""Printing what an erasure removes and which files still hold it: counts, never the words."""

from __future__ import annotations

from holdfast.app.curation.erasure import remove_backups
from holdfast.interfaces.cli import confirm
from holdfast.interfaces.cli.screen import Screen, number
from holdfast.learn.erasure import Erased

_PLURALS = {"memory": "memories", "shared memory": "shared memories"}


def show(screen: Screen, planned: Erased) -> None:
    """Print what will be erased, and the files that hold it and are not Holdfast's to change."""
    if planned.nothing:
        screen.line("Nothing in the memory holds it.")
    for count in _record_counts(planned):
        screen.line(f"  {count}")
    if planned.events:
        screen.line(f"  {number(planned.events, 'event')} in journals of hooks")
    if planned.log_lines:
        screen.line(f"  {number(planned.log_lines, 'line')} of the worker's log")
    for path in planned.copies:
        screen.line(f"  still holds it: {path} (a backup)")
    for path in planned.transcripts:
        screen.line(f"  may still hold it: {path} (not ours)")


def _record_counts(erased: Erased) -> list[str]:
    return [number(n, kind, _PLURALS.get(kind, "")) for kind, n in sorted(erased.records.items())]


def finish(screen: Screen, erased: Erased, yes: bool, backups: bool) -> None:
    """Print what was erased, and remove the backups that hold it: with `backups`, or if the person
    at the terminal agrees."""
    counts = _record_counts(erased)
    counts += [number(erased.events, "event")] if erased.events else []
    counts += [number(erased.log_lines, "log line")] if erased.log_lines else []
    screen.line(f"Erased for good: {', '.join(counts) or 'nothing'}.")
    if not erased.copies:
        return
    many = number(len(erased.copies), "backup")
    if not backups and not yes and confirm.is_interactive():
        backups = confirm.ask(f"{many} still hold it. Remove them?", default=False)
    if backups:
        remove_backups(erased, True)
        screen.line(f"Removed {many}.")
    else:
        screen.line(f"{many} still hold it; --backups removes them:")
        for path in erased.copies:
            screen.line(f"  {path}")
