"""Printing what was done to the code: commits, and pulls, issues and remarks of a forge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.framed_text import defang, one_line
from holdfast.language import truncate
from holdfast.model.forge import Issue, Pull, Remark
from holdfast.model.kinds import is_from_outside
from holdfast.model.team import FileChange
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.operations.screen import Screen, day, minute, number, short
from holdfast.recall.lookup.commits import CommitDetails, SessionCommit
from holdfast.refine.git.forge_threads import state_text

_CHANGE_NAMES = {"A": "new", "D": "deleted", "R": "renamed", "C": "copied", "T": "another type"}
# How many files and lines of a diff are printed without --full: about a screen together.
_MAX_FILES, _MAX_HUNK_LINES = 15, 40
# How many files of a pull are named, and how much of a remark is printed: a screen at most.
_MAX_PULL_FILES = 20
_MAX_REMARK_CHARACTERS = 2000


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
            more = (
                f", and {len(t.files) - _MAX_PULL_FILES} more"
                if len(t.files) > _MAX_PULL_FILES
                else ""
            )
            screen.item(f"files: {', '.join(t.files[:_MAX_PULL_FILES])}{more}", "  ")
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
