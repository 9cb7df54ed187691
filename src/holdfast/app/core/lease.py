"""At most one worker per home.

The lease is a kernel lock on a file, so it ends when the process that holds it ends, in whatever
way, and depends on no clock. The pid file is only a hint for hooks: it saves them from starting a
process that would find the lock taken. Nothing relies on it.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

from holdfast.capture.home_paths import HomePaths
from holdfast.locks import is_locked, lock_file
from holdfast.operating_system import OPEN_FLAGS
from holdfast.private_files import file_identity, write_private

# How long to wait for a worker that is starting or ending. One that is running is not waited for.
LEASE_TIMEOUT_S = 5.0
_POLL_S = 0.05
# The index of the start time in /proc/PID/stat, counted from the field after the name.
_START_TIME_FIELD = 19


class Lease:
    """The right to work on a home, within the block of `take_lease`."""

    def __init__(self, places: HomePaths) -> None:
        self._pid = places.worker_pid
        # A worker that ends normally removes its pid file.
        self.orphaned = places.worker_pid.exists()

    def announce(self) -> None:
        """Write the pid file, so that hooks start no worker."""
        pid = os.getpid()
        with suppress(OSError):  # then hooks start workers, which find the lock taken
            write_private(self._pid, f"{pid}\n{process_start(pid)}\n".encode())

    def withdraw(self) -> None:
        """Remove the pid file, so that hooks start workers again. Events that arrived before this
        are still for this worker to process."""
        with suppress(OSError):
            self._pid.unlink()


@contextmanager
def take_lease(places: HomePaths, timeout_s: float = LEASE_TIMEOUT_S) -> Generator[Lease | None]:
    """Take the lease; yields None if another worker keeps it. A worker that is starting or ending
    is waited for. One that has announced itself is not: it looks at the inbox again before it
    ends."""
    places.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(OSError):  # first: a mark that a hook writes after this must survive
        places.starting_worker.unlink()
    descriptor = _lock(places, monotonic() + timeout_s)
    if descriptor is None:
        yield None
        return
    lease = Lease(places)
    try:
        lease.announce()
        yield lease
    finally:
        lease.withdraw()
        os.close(descriptor)


@contextmanager
def try_lock(path: Path) -> Generator[bool]:
    """Lock a file without waiting, for the length of the block; yields whether that worked."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | OPEN_FLAGS, 0o600)
    try:
        yield lock_file(descriptor, wait=False)
    finally:
        os.close(descriptor)


def _lock(places: HomePaths, deadline: float) -> int | None:
    while True:
        descriptor = os.open(places.worker_lock, os.O_RDWR | os.O_CREAT | OPEN_FLAGS, 0o600)
        try:
            locked = lock_file(descriptor, wait=False)
        except OSError:
            os.close(descriptor)
            raise
        # A lock on a file that was removed meanwhile does not count.
        if locked and file_identity(places.worker_lock) == _identity(descriptor):
            return descriptor
        os.close(descriptor)
        if not locked:
            if monotonic() >= deadline or places.worker_pid.exists():
                return None
            sleep(_POLL_S)


def _identity(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


class WorkerStatus(NamedTuple):
    """Whether a worker holds the lock, the pid that it announced, and whether the pid file is
    `stale`: left behind by a worker that died."""

    running: bool
    pid: int | None
    stale: bool


def worker_status(places: HomePaths) -> WorkerStatus:
    """The state of the worker; changes nothing."""
    running, pid = is_locked(places.worker_lock), None
    with suppress(OSError, ValueError):
        pid = int(places.worker_pid.read_text("ascii").split("\n")[0])
    return WorkerStatus(running, pid if running else None, pid is not None and not running)


def process_start(pid: int) -> str:
    """The start time of a process in clock ticks since boot; "" if there is no /proc. With it,
    hooks tell a worker from another process that got its pid later."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return fields[_START_TIME_FIELD] if len(fields) > _START_TIME_FIELD else ""
