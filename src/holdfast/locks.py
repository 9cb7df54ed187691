"""Locks of the kernel's on open files: they end with their process, however that ends.

Where there is no flock, as on Windows, one byte far behind the end of the file is locked instead:
such a lock keeps others from reading what it covers, and nothing is ever written there.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Protocol

# Behind anything that we write, and within what every system can count to.
LOCKED_BYTE_OFFSET = 1 << 30
_POLL_S = 0.05
_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
# Not every system has these; without them a file is opened as usual.
_OPEN = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class FileLocking(Protocol):
    """How a system locks an open file."""

    def lock_file(self, descriptor: int, wait: bool, shared: bool) -> bool:
        """Lock it until it is closed; False where another has it and we do not wait."""
        ...


class ByteLocking:
    """By the means of Windows: `locking` is `msvcrt.locking`, which takes a descriptor, what to do
    and how many bytes from where the file stands. There are no shared locks."""

    def __init__(self, locking: Callable[[int, int, int], None], lock: int) -> None:
        self._locking = locking
        self._lock = lock

    def lock_file(self, descriptor: int, wait: bool, shared: bool) -> bool:
        """Lock the far byte; where the file stands stays the same."""
        while True:
            stood = os.lseek(descriptor, 0, os.SEEK_CUR)
            os.lseek(descriptor, LOCKED_BYTE_OFFSET, os.SEEK_SET)
            try:
                self._locking(descriptor, self._lock, 1)
                return True
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
            finally:
                os.lseek(descriptor, stood, os.SEEK_SET)
            if not wait:
                return False
            sleep(_POLL_S)


if sys.platform == "win32":
    import msvcrt

    _SYSTEM: FileLocking = ByteLocking(msvcrt.locking, msvcrt.LK_NBLCK)
else:
    import fcntl

    class FlockLocking:
        """By flock."""

        def lock_file(self, descriptor: int, wait: bool, shared: bool) -> bool:
            """Lock the file as a whole."""
            how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
            try:
                fcntl.flock(descriptor, how if wait else how | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

    _SYSTEM: FileLocking = FlockLocking()


def lock_file(descriptor: int, wait: bool = True, shared: bool = False) -> bool:
    """Lock an open file until it is closed. Without `wait` False where another holds it."""
    return _SYSTEM.hold(descriptor, wait, shared)


def is_locked(path: Path) -> bool:
    """Look without touching anything; what cannot be looked at, nobody holds."""
    try:
        descriptor = os.open(path, _OPEN)
    except OSError:
        return False
    try:
        return not lock_file(descriptor, wait=False, shared=True)
    except OSError:
        return False
    finally:
        os.close(descriptor)
