"""Checks of the home: owner and permissions of its folders, free space, the inbox and the clock."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import time
from typing import NamedTuple

from holdfast.app.doctor.check import FIX, Check, DoctorContext, Grade, ok
from holdfast.app.doctor.work import run_worker_as_fix
from holdfast.app.status.health import LATE_EVENTS_S, InboxStatus, inbox_status
from holdfast.operating_system import belongs_to_user, is_private

# An event this far in the future means that a clock is wrong; smaller differences are usual.
_FUTURE_EVENT_S = 3600.0


class _FreeSpace(NamedTuple):
    """Free bytes below which the doctor reports a problem."""

    # A warning, while there is still room to work and to clean up.
    warning: int = 500_000_000
    # Broken: a write may fail at any time.
    broken: int = 50_000_000
    # A warning: the inbox is usually a file system in memory, and small.
    inbox: int = 64_000_000


_FREE_SPACE = _FreeSpace()


def check_home(context: DoctorContext) -> list[Check]:
    """Permissions, free space, the inbox and the clock."""
    inbox = inbox_status(context.paths)
    return [*_permissions(context), _free_space(context), _inbox(context, inbox), _clock(inbox)]


def _permissions(context: DoctorContext) -> Iterator[Check]:
    paths = context.paths
    folders = {"home": context.settings.home, "hook folder": paths.hooks, "inbox": paths.inbox()}
    for name, path in folders.items():
        check = _folder_permissions(name, path) if path else None
        if check is not None:
            yield check


def _folder_permissions(name: str, path: Path) -> Check | None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        # A hook creates the inbox and the worker the home, so neither has to exist yet.
        return ok(name, f"{path} does not exist yet.") if name == "home" else None
    except OSError as error:
        return Check(name, Grade.BROKEN, f"{path}: {error.strerror}.", "Check what it is.")
    if name != "home" and stat.S_ISLNK(status.st_mode):
        return Check(
            name,
            Grade.BROKEN,
            f"{path} is a link.",
            "Remove it: Holdfast does not write through links.",
        )
    status = path.stat()
    if not stat.S_ISDIR(status.st_mode):
        return Check(name, Grade.BROKEN, f"{path} is not a folder.", "Move it away.")
    if not belongs_to_user(status):
        sentence = f"{path} belongs to another user (number {status.st_uid})."
        return Check(name, Grade.BROKEN, sentence, f"chown it, or remove it: {path}")
    if not is_private(status):
        sentence = f"Other users can read {path}."
    elif not os.access(path, os.W_OK | os.X_OK):
        sentence = f"{path} cannot be written."
    else:
        return ok(name, f"Only you can access {path}.")

    def make_private() -> str:
        path.chmod(0o700)
        return f"Permissions of {path} restricted to you."

    return Check(name, Grade.BROKEN, sentence, f"chmod 700 {path}", make_private)


def _free_space(context: DoctorContext) -> Check:
    free = _free_bytes(context.settings.home)
    sentence = f"{free / 1e9:.1f} GB free at {context.settings.home}."
    inbox = context.paths.inbox()
    if free < _FREE_SPACE.warning:
        grade = Grade.BROKEN if free < _FREE_SPACE.broken else Grade.WARNING
        return Check("disk", grade, sentence, "Free some space; nothing is lost meanwhile.")
    if inbox and (inbox_free := _free_bytes(inbox)) < _FREE_SPACE.inbox:
        sentence = f"{inbox_free / 1e6:.0f} MB of memory free for events at {inbox.parent}."
        return Check("disk", Grade.WARNING, sentence, f"Free some space in {inbox.parent}.")
    return ok("disk", sentence)


def _free_bytes(path: Path) -> int:
    """Free bytes on the file system of a path, which need not exist."""
    for existing in (path, *path.parents):
        try:
            return shutil.disk_usage(existing).free
        except OSError:
            continue
    return 0


def _inbox(context: DoctorContext, inbox: InboxStatus) -> Check:
    if inbox.folder is None and context.hooks.is_installed:
        sentence = "The folder for hook events is not configured."
        return Check("events", Grade.BROKEN, sentence, FIX)
    if inbox.folder is None:
        return ok("events", "No events are expected: hooks are not installed.")
    waited = time() - inbox.oldest
    if not inbox.events or 0 <= waited < LATE_EVENTS_S:
        how_many = f"{inbox.events:,}" if inbox.events else "No"
        return ok("events", f"{how_many} events are waiting for the worker.")
    since = f"for {waited / 3600:.1f} hours" if waited > 0 else "from the future"
    sentence = f"{inbox.events:,} events are waiting, the first {since}."
    fix = partial(run_worker_as_fix, context.settings)
    return Check("events", Grade.WARNING, sentence, "holdfast worker", fix)


def _clock(inbox: InboxStatus) -> Check:
    if inbox.newest > time() + _FUTURE_EVENT_S:
        ahead = (inbox.newest - time()) / 3600
        sentence = f"There are events from {ahead:.0f} hours ahead of this machine's clock."
        return Check("clock", Grade.WARNING, sentence, "Set the clock; nothing is lost.")
    return ok("clock", "No event is from the future.")
