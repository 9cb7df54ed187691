"""Removes files from the home: what only hooks need, and on request the data.

Only files with names of ours are removed, because a home may be any folder that a user chose.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from holdfast.capture.home_paths import EVENT_VERSION, HomePaths
from holdfast.errors import InputError
from holdfast.locks import lock_file
from holdfast.operating_system import belongs_to_user

_HOOK_FOLDERS = ("hooks", "inbox", "marks", "briefs", "marketplace")
_DATA_NAMES = (
    "events research backups vectors looked grouped grouping worker.lock asking.lock worker.log "
    "browse.sock visits.json config.toml".split()
)
# With what stands beside them: journals of the database, locks, temporary files.
_DATA_PATTERNS = "memory.db* mcp.token* remotes.json* remotes-seen.json* providers.json*".split()


def unread_events(places: HomePaths) -> int:
    """How many events still wait in the inbox."""
    inbox = places.inbox()
    if inbox is None or not inbox.is_dir():
        return 0
    return sum(1 for path in inbox.iterdir() if path.name.startswith(f"{EVENT_VERSION}."))


def hook_parts(places: HomePaths) -> list[Path]:
    """The files that only hooks need: in the home, and the inbox in memory."""
    parts = [places.home / name for name in _HOOK_FOLDERS]
    inbox = places.inbox()
    if inbox is not None and inbox.name.startswith("holdfast-") and _is_own_folder(inbox):
        parts.append(inbox)
    return [part for part in parts if part.exists()]


def _is_own_folder(folder: Path) -> bool:
    try:
        stat = folder.lstat()
    except OSError:
        return False
    return folder.is_dir() and not folder.is_symlink() and belongs_to_user(stat)


def data_parts(places: HomePaths) -> list[Path]:
    """The memory, and all files that belong to it."""
    data = [places.home / name for name in _DATA_NAMES]
    if places.home.is_dir():
        data += sorted(path for one in _DATA_PATTERNS for path in places.home.glob(one))
    return [part for part in data if part.exists()]


def check_idle(places: HomePaths) -> None:
    """Raise InputError while a worker uses the data."""
    try:
        with places.worker_lock.open("rb") as lock:
            idle = lock_file(lock.fileno(), wait=False)
    except FileNotFoundError:
        return
    if not idle:
        raise InputError("A worker is using this memory.", "Run this again in a minute.")


def remove(parts: list[Path]) -> None:
    """Remove files and folders."""
    for part in parts:
        if part.is_dir() and not part.is_symlink():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


def remove_home(places: HomePaths) -> bool:
    """Remove the home itself, if it is empty; returns whether it is gone."""
    try:
        places.home.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
