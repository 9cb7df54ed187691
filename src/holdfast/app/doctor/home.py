"""The folders: whose they are, who may look into them, how much room there is, what time it is."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import time

from holdfast.app.doctor.check import Check, DoctorContext, Grade, make_private, ok
from holdfast.app.doctor.work import run_worker_as_fix
from holdfast.app.status.health import LATE_EVENTS_S, inbox_status

_AHEAD_S = 3600.0
_LITTLE = 500_000_000
_NONE = 50_000_000
_LITTLE_MEMORY = 64_000_000


def check_home(context: DoctorContext) -> list[Check]:
    """Rights, room, the inbox and the clock."""
    return [*_rights(context), _room(context), _inbox(context), _clock(context)]


def _rights(context: DoctorContext) -> Iterator[Check]:
    inbox = context.paths.inbox()
    folders = {"home": context.settings.home, "hook folder": context.paths.hooks}
    for name, path in {**folders, **({"inbox": inbox} if inbox else {})}.items():
        found = _rights_of(name, path)
        if found is not None:
            yield found


def _rights_of(name: str, path: Path) -> Check | None:
    try:
        known = path.lstat()
    except FileNotFoundError:
        # The hook makes its inbox, and the worker its home.
        return ok(name, f"{path} is not there yet.") if name == "home" else None
    except OSError as error:
        return Check(name, Grade.BROKEN, f"{path}: {error.strerror}.", "Check what it is.")
    if name != "home" and stat.S_ISLNK(known.st_mode):
        return Check(name, Grade.BROKEN, f"{path} is a link.", "Remove it: nothing goes there.")
    known = path.stat()
    if not stat.S_ISDIR(known.st_mode):
        return Check(name, Grade.BROKEN, f"{path} is not a folder.", "Move it away.")
    if known.st_uid != os.geteuid():
        sentence = f"{path} belongs to another user (number {known.st_uid})."
        return Check(name, Grade.BROKEN, sentence, f"chown it, or remove it: {path}")
    if known.st_mode & 0o077:
        sentence = f"Others may look into {path}."
        return Check(name, Grade.BROKEN, sentence, f"chmod 700 {path}", lambda: make_private(path))
    if not os.access(path, os.W_OK | os.X_OK):
        sentence = f"{path} cannot be written."
        return Check(name, Grade.BROKEN, sentence, f"chmod 700 {path}", lambda: make_private(path))
    return ok(name, f"{path} is yours alone.")


def _room(context: DoctorContext) -> Check:
    free = _free(context.settings.home)
    told = f"{free / 1e9:.1f} GB free at {context.settings.home}."
    inbox = context.paths.inbox()
    if free < _LITTLE:
        grade = Grade.BROKEN if free < _NONE else Grade.WARNING
        return Check("room", grade, told, "Free some space; nothing is lost meanwhile.")
    if inbox and (held := _free(inbox)) < _LITTLE_MEMORY:
        sentence = f"{held / 1e6:.0f} MB of memory free for events at {inbox.parent}."
        return Check("room", Grade.WARNING, sentence, f"Remove what fills {inbox.parent}.")
    return ok("room", told)


def _free(path: Path) -> int:
    """Bytes free where a path lies or would lie."""
    for place in (path, *path.parents):
        try:
            found = os.statvfs(place)
        except OSError:
            continue
        return found.f_bavail * found.f_frsize
    return 0


def _inbox(context: DoctorContext) -> Check:
    inbox = inbox_status(context.paths)
    if inbox.folder is None and context.hooks.is_installed:
        sentence = "Hooks do not know where to leave events."
        return Check("events", Grade.BROKEN, sentence, "holdfast doctor --fix")
    if inbox.folder is None:
        return ok("events", "No events are expected: no hooks were set up.")
    waited = time() - inbox.oldest
    if not inbox.events or 0 <= waited < LATE_EVENTS_S:
        how_many = f"{inbox.events:,}" if inbox.events else "No"
        return ok("events", f"{how_many} events wait to be taken up.")
    since = f"for {waited / 3600:.1f} hours" if waited > 0 else "from a time to come"
    sentence = f"{inbox.events:,} events wait, the first {since}."
    fix = partial(run_worker_as_fix, context.settings)
    return Check("events", Grade.WARNING, sentence, "holdfast worker", fix)


def _clock(context: DoctorContext) -> Check:
    inbox = inbox_status(context.paths)
    if inbox.newest > time() + _AHEAD_S:
        ahead = (inbox.newest - time()) / 3600
        sentence = f"There are events from {ahead:.0f} hours ahead of this machine's clock."
        return Check("clock", Grade.WARNING, sentence, "Set the clock; nothing is lost.")
    return ok("clock", "No event is from the future.")
