"""What moving out removes from the home: what only hooks need, and the data where asked.

Only names that are ours are removed, because a home may be any folder that somebody chose.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from holdfast.capture.places import VERSION, Places
from holdfast.errors import InputError
from holdfast.locks import hold

_HOOK_PARTS = ("hooks", "inbox", "marks", "briefs", "marketplace")
_DATA = (
    "events",
    "research",
    "backups",
    "vectors",
    "looked",
    "worker.lock",
    "asking.lock",
    "worker.log",
    "config.toml",
)


def unread_events(places: Places) -> int:
    """How many events still wait in the inbox."""
    inbox = places.inbox()
    if inbox is None or not inbox.is_dir():
        return 0
    return sum(1 for path in inbox.iterdir() if path.name.startswith(f"{VERSION}."))


def hook_parts(places: Places) -> list[Path]:
    """What there is in the home, and in memory, for hooks alone."""
    parts = [places.home / name for name in _HOOK_PARTS]
    inbox = places.inbox()
    if inbox is not None and inbox.name.startswith("holdfast-") and _is_own(inbox):
        parts.append(inbox)
    return [part for part in parts if part.exists()]


def _is_own(folder: Path) -> bool:
    try:
        known = folder.lstat()
    except OSError:
        return False
    return folder.is_dir() and not folder.is_symlink() and known.st_uid == os.getuid()


def data_parts(places: Places) -> list[Path]:
    """What is remembered, and all that belongs to it."""
    kept = [places.home / name for name in _DATA]
    kept += sorted(places.home.glob("memory.db*")) if places.home.is_dir() else []
    return [part for part in kept if part.exists()]


def check_idle(places: Places) -> None:
    """Raise InputError while a worker is at work on the data."""
    try:
        with places.lock.open("rb") as lock:
            idle = hold(lock.fileno(), wait=False)
    except FileNotFoundError:
        return
    if not idle:
        raise InputError(
            "Holdfast is at work on this memory just now.", "Run this again in a minute."
        )


def remove(parts: list[Path]) -> None:
    """Remove files and folders of ours."""
    for part in parts:
        if part.is_dir() and not part.is_symlink():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


def remove_home(places: Places) -> bool:
    """Remove the home itself, if nothing is left in it; tells whether it is gone."""
    try:
        places.home.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
