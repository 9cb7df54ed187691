"""What only some operating systems have, behind functions that work on all.

Windows has no user numbers, no file modes for others, no sessions of processes, and cannot replace
a file that is open; macOS has no /proc. Locks are in `locks`. tests/e2e/test_without_posix.py runs
the program without what is missing on Windows.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Any

if sys.platform == "win32":
    import ctypes
try:
    import pwd
except ImportError:  # Windows
    pwd = None  # pyright: ignore[reportAssignmentType]

# For every `os.open`: child processes do not get the file, and bytes are written as they are.
OPEN_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# Do not open a symbolic link that somebody put in place of the file.
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
# How long a file may be held open by a reader, which on Windows keeps it from being replaced: our
# own readers take milliseconds, a virus scanner up to a second.
REPLACE_PATIENCE_S = 2.0 if sys.platform == "win32" else 0.0
_REPLACE_POLL_S = 0.02
# Windows: no console, and a Ctrl+C in ours does not reach it.
_DETACHED_NEW_GROUP = 0x0000_0208


def belongs_to_user(status: os.stat_result) -> bool:
    """Whether a file is owned by the user of this process; True where files have no owner number:
    there it is as private as the folder of the user's profile."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def is_private(status: os.stat_result) -> bool:
    """Whether the user owns a file and its mode lets nobody else read or write it."""
    return not hasattr(os, "geteuid") or (
        status.st_uid == os.geteuid() and not status.st_mode & 0o077
    )


def user_number() -> int:
    """The number of the user; 0 where users have none."""
    return os.getuid() if hasattr(os, "getuid") else 0


def user_and_group() -> tuple[int, int]:
    """The numbers that new files get; on Windows those that every file has."""
    return (os.geteuid(), os.getegid()) if hasattr(os, "geteuid") else (0, 0)


def user_name() -> str:
    """The login name of the user, or the number where there is no name for it."""
    if pwd is None:
        return os.environ.get("USERNAME") or "user"
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def show_escape_codes() -> bool:
    """Let the terminal follow escape codes, which old consoles of Windows print as they are;
    returns whether it does."""
    if sys.platform == "win32":
        kernel = ctypes.windll.kernel32
        # The error stream, which is to process text, wrap lines and follow codes.
        return bool(kernel.SetConsoleMode(kernel.GetStdHandle(-12), 7))
    return True


def detached(system: str = sys.platform) -> dict[str, Any]:
    """The options of `subprocess.Popen` for a process that outlives this one and its terminal."""
    if system == "win32":
        return {"creationflags": _DETACHED_NEW_GROUP}
    return {"start_new_session": True}


def replace_file(part: Path, target: Path, patience_s: float = REPLACE_PATIENCE_S) -> None:
    """Give a file the name of another, which it replaces in one step; waits for readers that keep
    it from doing so."""
    until = monotonic() + patience_s
    while True:
        try:
            part.replace(target)
            return
        except PermissionError:
            if monotonic() >= until:
                raise
            sleep(_REPLACE_POLL_S)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power failure; Windows has no such call."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | OPEN_FLAGS)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
