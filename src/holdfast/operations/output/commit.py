"""The parts of `holdfast show` about commits: a commit and the commits of a session."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.team import FileChange
from holdfast.operations.screen import Screen, day, number, short
from holdfast.recall.lookup.commits import CommitDetails, SessionCommit

_CHANGE_NAMES = {"A": "new", "D": "deleted", "R": "renamed", "C": "copied", "T": "another type"}
# How many files and lines of a diff are printed without --full: about a screen together.
_MAX_FILES, _MAX_HUNK_LINES = 15, 40


def print_details(screen: Screen, details: CommitDetails, full: bool) -> None:
    """Print tags, reverts, sessions, files and hunks of a commit; all of them with `full`."""
    if details.astray:
        screen.line("  not in HEAD")
    if details.tags:
        screen.item(f"tags: {', '.join(details.tags)}", "  ")
    for title, names in (("reverts", details.reverts), ("reverted by", details.reverted_by)):
        for name in names:
            screen.line(f"  {title}: {screen.paint(name, 'cyan')}")
    for session in details.made_by:
        where = session.exchange or session.session
        evidence = f"matched by {session.because}, {session.score:.2f}"
        screen.line(f"  made by session {session.host} ({evidence}): {screen.paint(where, 'cyan')}")
    if details.files is None:
        screen.line("  its changes were not read (as for merges)")
        return
    _print_files(screen, details.files, full)
    _print_hunks(screen, details.diff, full)


def _print_files(screen: Screen, files: Sequence[FileChange], full: bool) -> None:
    screen.line(f"  {number(len(files), 'file')}:")
    shown = files if full else files[:_MAX_FILES]
    for change in shown:
        screen.line(f"    {_describe_file(change)}")
    if len(shown) < len(files):
        screen.line(f"    and {number(len(files) - len(shown), 'file')} more: --full")


def _describe_file(change: FileChange) -> str:
    path = f"{change.was} → {change.path}" if change.was else change.path
    counts = f"+{change.added} -{change.removed}" if change.added or change.removed else ""
    parts = (_CHANGE_NAMES.get(change.fate, ""), "binary" if change.binary else counts)
    notes = ", ".join(filter(None, parts))
    return f"{path}  ({notes})" if notes else path


def _print_hunks(screen: Screen, diff: str, full: bool) -> None:
    lines = diff.splitlines()
    if lines:
        screen.line()
    shown = lines if full or len(lines) <= _MAX_HUNK_LINES else lines[:_MAX_HUNK_LINES]
    for line in shown:
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        screen.line("  " + (screen.paint(line, style) if style else line))
    if len(shown) < len(lines):
        screen.line(f"  and {number(len(lines) - len(shown), 'line')} more: --full")


def print_commits(screen: Screen, commits: Sequence[SessionCommit]) -> None:
    """The commits that a session or an exchange made."""
    if commits:
        screen.title(f"made {number(len(commits), 'commit')}:")
    for made in commits:
        name = screen.paint(short(made.uri), "cyan")
        lost = ", unmerged" if made.astray else ""
        sure = f"({made.because}, {made.score:.2f}{lost})"
        screen.line(f"  {name}  {day(made.time)} {made.subject} {sure}")
