"""Kernel locks on open files, which end with their process, however that ends.

Where there is no flock, as on Windows, one byte far beyond the end of the file is locked instead:
such a lock keeps others from reading the bytes it covers, and nothing is ever written there.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

from holdfast.operating_system import NO_FOLLOW, OPEN_FLAGS

# Beyond anything that we write, and within the file sizes that every system supports.
LOCKED_BYTE_OFFSET = 1 << 30
# How often a waiting process tries again on Windows: the delay after a lock is released, against
# the load of trying.
_POLL_S = 0.05
_LOCKED_ELSEWHERE = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_OPEN_FLAGS = OPEN_FLAGS | NO_FOLLOW


class ByteLocking:
    """Locks as Windows does: `locking` is `msvcrt.locking`, which takes a descriptor, a mode and
    a number of bytes from the current position. There are no shared locks."""

    def __init__(self, locking: Callable[[int, int, int], None], mode: int) -> None:
        self._locking = locking
        self._mode = mode

    def lock(self, descriptor: int, wait: bool, shared: bool) -> bool:
        """Lock the far byte; the position in the file stays the same. False where another process
        has the lock and `wait` is false."""
        while True:
            position = os.lseek(descriptor, 0, os.SEEK_CUR)
            os.lseek(descriptor, LOCKED_BYTE_OFFSET, os.SEEK_SET)
            try:
                self._locking(descriptor, self._mode, 1)
                return True
            except OSError as error:
                if error.errno not in _LOCKED_ELSEWHERE:
                    raise
            finally:
                os.lseek(descriptor, position, os.SEEK_SET)
            if not wait:
                return False
            sleep(_POLL_S)


if sys.platform == "win32":
    import msvcrt

    _lock = ByteLocking(msvcrt.locking, msvcrt.LK_NBLCK).lock
else:
    import fcntl

    def _lock(descriptor: int, wait: bool, shared: bool) -> bool:
        mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(descriptor, mode if wait else mode | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def lock_file(descriptor: int, wait: bool = True, shared: bool = False) -> bool:
    """Lock an open file until it is closed. Without `wait` False where another holds it."""
    return _lock(descriptor, wait, shared)


@contextmanager
def open_locked(path: Path, flags: int) -> Generator[int]:
    """Open a file, which is private to its owner if it is new, and lock it until the end of the
    block. A link is not followed."""
    descriptor = os.open(path, flags | _OPEN_FLAGS, 0o600)
    try:
        lock_file(descriptor)
        yield descriptor
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether another process has the lock, without changing anything; False where that cannot
    be checked."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _OPEN_FLAGS)
    except OSError:
        return False
    try:
        return not lock_file(descriptor, wait=False, shared=True)
    except OSError:
        return False
    finally:
        os.close(descriptor)
