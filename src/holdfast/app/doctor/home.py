"""Checks of the home: permissions, space, settings, files left behind, events and the worker."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import time

from holdfast.app.background.runner import WorkerOptions
from holdfast.app.background.worker import run_worker
from holdfast.app.core.lease import worker_status
from holdfast.app.doctor.check import FIX, DoctorContext, Finding, bad_files, broken, ok, warning
from holdfast.app.status.health import (
    Verdict,
    ago,
    archive_status,
    deleted_soon,
    events_wait,
    inbox_status,
)
from holdfast.app.transfer.backup import list_backups
from holdfast.capture import journal
from holdfast.operating_system import belongs_to_user, is_private
from holdfast.settings import FILE_NAME, Settings

# Free bytes below which there is a warning, while there is still room to work and to clean up, and
# below which a write may fail at any time; those of the inbox, usually a file system in memory.
_FEW_BYTES, _NO_BYTES, _FEW_INBOX_BYTES = 500_000_000, 50_000_000, 64_000_000
# Folders with private content.
_PRIVATE_FOLDERS = ("backups", "briefs", "events", "marks", "research", "vectors")
# Temporary files by folder and pattern; they are renamed or removed unless the writer is killed.
_TEMPORARY_FILES = (
    (".", ".restoring-*"),
    (".", ".worker.log.*"),
    ("backups", ".*.part*"),
    ("events", ".*.part"),
    ("hooks", ".worker.pid.*"),
    ("vectors", ".*.vectors.*"),
)
# A temporary file this old is not being written any more.
_LEFTOVER_AGE_S = 3600.0


def folder(pick: Callable[[DoctorContext], Path | None], context: DoctorContext) -> Finding:
    """Kind, owner and permissions of a folder; only the home may be a link."""
    path = pick(context)
    # A hook creates the inbox and the worker the home, so neither has to exist yet.
    if path is None or not os.path.lexists(path):
        return
    status = path.stat()
    if path.is_symlink() and path != context.settings.home:
        yield broken(f"{path} is a link.", "Remove it: Holdfast does not write through links.")
    elif not stat.S_ISDIR(status.st_mode):
        yield broken(f"{path} is not a folder.", "Move it away.")
    elif not belongs_to_user(status):
        sentence = f"{path} belongs to another user (number {status.st_uid})."
        yield broken(sentence, f"chown it, or remove it: {path}")
    elif not is_private(status) or not os.access(path, os.W_OK | os.X_OK):

        def make_private() -> str:
            path.chmod(0o700)
            return f"Permissions of {path} restricted to you."

        problem = "cannot be written" if is_private(status) else "can be read by other users"
        yield broken(f"{path} {problem}.", f"chmod 700 {path}", make_private)


def free_space(context: DoctorContext) -> Finding:
    """Room for the memory, and for events."""
    free, inbox = _free_bytes(context.settings.home), context.paths.inbox()
    if free < _FEW_BYTES:
        sentence = f"{free / 1e9:.1f} GB free at {context.settings.home}."
        grade = broken if free < _NO_BYTES else warning
        yield grade(sentence, "Free some space; nothing is lost meanwhile.")
    elif inbox and (inbox_free := _free_bytes(inbox)) < _FEW_INBOX_BYTES:
        sentence = f"{inbox_free / 1e6:.0f} MB of memory free for events at {inbox.parent}."
        yield warning(sentence, f"Free some space in {inbox.parent}.")


def _free_bytes(path: Path) -> int:
    """Free bytes on the file system of a path, which need not exist."""
    for existing in (path, *path.parents):
        try:
            return shutil.disk_usage(existing).free
        except OSError:
            continue
    return 0


def settings_file(context: DoctorContext) -> Finding:
    """Whether the settings can be read."""
    file, problem = context.settings.home / FILE_NAME, context.settings_error

    def rename() -> str:
        number = 1
        while (aside := file.with_name(f"{file.name}.broken-{number}")).exists():
            number += 1
        file.rename(aside)
        return f"{file} was renamed to {aside.name}; the default settings apply."

    if problem is not None:
        question = "Rename the settings file and use the default settings?"
        yield broken(problem.message, problem.remedy or "Correct that file.", rename, question)


def privacy(context: DoctorContext) -> Finding:
    """Files and folders that others may read."""
    return bad_files(
        [path for path in _private_paths(context.settings.home) if path.lstat().st_mode & 0o077],
        "The permissions of {} let others read it; only the folder above prevents that.",
        lambda path: path.chmod(0o700 if path.is_dir() else 0o600),
        "Permissions of {} restricted to you.",
    )


def _private_paths(home: Path) -> Iterator[Path]:
    """The files and folders that only their owner may read."""
    for pattern in ("memory.db*", FILE_NAME, "worker.log"):
        yield from (path for path in home.glob(pattern) if stat.S_ISREG(path.lstat().st_mode))
    for name in _PRIVATE_FOLDERS:
        folder = home / name
        if folder.is_dir() and not folder.is_symlink():
            yield folder
            yield from (path for path in folder.iterdir() if stat.S_ISREG(path.lstat().st_mode))


def leftovers(context: DoctorContext) -> Finding:
    """Temporary files of programs that were killed."""
    old = [
        path
        for folder, pattern in _TEMPORARY_FILES
        for path in (context.settings.home / folder).glob(pattern)
        if time() - path.lstat().st_mtime > _LEFTOVER_AGE_S
    ]
    return bad_files(old, "Temporary files of killed programs: {}.", _remove, "{} removed.")


def _remove(path: Path) -> None:
    remove = shutil.rmtree if path.is_dir() and not path.is_symlink() else Path.unlink
    remove(path)


def journals(context: DoctorContext) -> Finding:
    """Journals with complete lines that are no events; the next event repairs a line that ends in
    the middle."""
    return bad_files(
        [path for path in sorted(context.paths.journals.glob("*.jsonl")) if _has_bad_lines(path)],
        "Journals have lines that are not events: {}.",
        _repair_journal,
        "Lines that are not events were removed from {}; copies are kept.",
    )


def _has_bad_lines(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return any(line.endswith(b"\n") and journal.parse(line) is None for line in file)


def _repair_journal(path: Path) -> None:
    copy = path.with_name(f"{path.name}.damaged")
    shutil.copy2(path, copy)
    copy.chmod(0o600)
    journal.rewrite(path, lambda event: event)


def backups(context: DoctorContext) -> Finding:
    """Backups that cannot be read. Damaged databases that a restore set aside are kept: something
    may still be saved from them."""
    known = [
        one for one in list_backups(context.settings) if "-damaged-" not in Path(one.path).name
    ]
    unread = [Path(one.path) for one in known if not one.schema]
    return bad_files(unread, "Cannot be read as backups: {}.", _remove, "{} removed.", "Remove {}?")


def events(context: DoctorContext) -> Finding:
    """Events that nobody takes."""
    yield from _for_worker(
        context, events_wait(inbox_status(context.paths), worker_status(context.paths))
    )


def _for_worker(context: DoctorContext, problem: Verdict | None) -> Finding:
    if problem is not None:
        yield warning(problem.sentence, problem.remedy, partial(_work, context.settings))


def worker(context: DoctorContext) -> Finding:
    """What a worker that died left behind."""
    status, file = worker_status(context.paths), context.paths.worker_pid

    def remove() -> str:
        file.unlink(missing_ok=True)
        return f"{file} removed."

    if status.stale:
        yield warning(f"{file} names a worker that is no longer running.", FIX, remove)
    elif status.running:
        yield ok(f"A worker is running{f' ({status.pid})' if status.pid else ''}.")


def tasks(context: DoctorContext) -> Finding:
    """Tasks of the worker that failed."""
    failed = context.memory.inventory.failed_tasks() if context.memory else []
    for task in failed:
        sentence = f"{task.name} failed {task.attempts} times, last {ago(task.failed_at)}: "
        problem = Verdict("lags", sentence + task.problem, "holdfast worker")
        yield from _for_worker(context, problem)


def transcripts(context: DoctorContext) -> Finding:
    """Transcripts that Claude Code will delete unread."""
    if context.memory is not None:
        sources = context.memory.reader.sources.all()
        archive = archive_status(sources, context.settings, context.hooks.kept_days)
        yield from _for_worker(context, deleted_soon(archive))


def _work(settings: Settings) -> str:
    """Run the worker in this process; returns what came of it."""
    outcome = run_worker(settings, WorkerOptions(start_delay_s=0, linger_s=0))
    if outcome.passes is None:
        return "A worker is already running."
    if outcome.failed:
        return f"Failed again: {', '.join(outcome.failed)}."
    return "The worker finished the remaining tasks."
