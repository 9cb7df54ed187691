"""At most one worker per home.

The lease is a lock of the kernel's on a file, so it ends with the process that holds it, however
that ends, and no clock has a say in it. The pid file beside the hooks is only a hint, which spares
the shell the start of a process; nobody relies on it.
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

LEASE_TIMEOUT_S = 5.0
_POLL_S = 0.05
_START_TIME_FIELD = 19  # its place in /proc/PID/stat, counted behind the name


class Lease:
    """The right to work on a home, while the context that gave it lasts."""

    def __init__(self, places: HomePaths) -> None:
        self._pid = places.worker_pid
        # Whoever leaves as it should removes its pid file.
        self.orphaned = places.worker_pid.exists()

    def announce(self) -> None:
        """Let hooks know that a worker is there, so that they start none."""
        beside = self._pid.with_name(f".{self._pid.name}.{os.getpid()}")
        with suppress(OSError):  # no hooks, or they start workers that find the lock taken
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
            with os.fdopen(os.open(beside, flags, 0o600), "w") as file:
                file.write(f"{os.getpid()}\n{process_start(os.getpid())}\n")
            beside.replace(self._pid)

    def withdraw(self) -> None:
        """Let hooks start a worker again. What comes after this is theirs; what came before is
        still ours to look for."""
        with suppress(OSError):
            self._pid.unlink()


@contextmanager
def take_lease(places: HomePaths, timeout_s: float = LEASE_TIMEOUT_S) -> Generator[Lease | None]:
    """Take the lease, waiting a little for a worker that is just coming or leaving; None if it
    stays. One that has announced itself will look at the inbox again before it goes, so there
    is nothing to wait for."""
    places.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(OSError):  # before anything is decided: what hooks leave from here on is news
        places.starting_worker.unlink()
    descriptor = _lock(places, monotonic() + timeout_s)
    if descriptor is None:
        yield None
        return
    held = Lease(places)
    try:
        held.announce()
        yield held
    finally:
        held.withdraw()
        os.close(descriptor)


@contextmanager
def try_lock(path: Path) -> Generator[bool]:
    """Whether nobody else does what this file stands for; while it lasts, nobody else begins."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield lock_file(descriptor, wait=False)
    finally:
        os.close(descriptor)


def _lock(places: HomePaths, give_up: float) -> int | None:
    while True:
        descriptor = os.open(places.worker_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            held = lock_file(descriptor, wait=False)
        except OSError:
            os.close(descriptor)
            raise
        # The lock of a file that someone has removed meanwhile is nobody's.
        if held and _is_same_file(descriptor, places.worker_lock):
            return descriptor
        os.close(descriptor)
        if held:
            continue
        pid, started = _read_pid(places.worker_pid)
        if monotonic() >= give_up or (pid is not None and _is_alive(pid, started)):
            return None
        sleep(_POLL_S)


def _is_same_file(descriptor: int, path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.stat())
    return False


class WorkerStatus(NamedTuple):
    """Whether a worker runs, by its lock, and what the pid file says of it. `stale` is a pid
    file that nobody is behind."""

    running: bool
    pid: int | None
    stale: bool


def worker_status(places: HomePaths) -> WorkerStatus:
    """Look without touching anything."""
    running = is_locked(places.worker_lock)
    pid, started = _read_pid(places.worker_pid)
    alive = pid is not None and _is_alive(pid, started)
    return WorkerStatus(running, pid if alive and running else None, pid is not None and not running)


def _read_pid(path: Path) -> tuple[int | None, str]:
    try:
        lines = path.read_text("ascii").split("\n")
        return int(lines[0]), lines[1] if len(lines) > 1 else ""
    except (OSError, ValueError):
        return None, ""


def _is_alive(pid: int, started: str) -> bool:
    known = _proc_stat(pid)
    if started and known:
        # One that is dead may stay to be seen, where nobody buries it.
        return known[0] != "Z" and started == process_start(pid)
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def process_start(pid: int) -> str:
    """When a process started, as the kernel counts; "" where it does not tell."""
    known = _proc_stat(pid)
    return known[_START_TIME_FIELD] if len(known) > _START_TIME_FIELD else ""


def _proc_stat(pid: int) -> list[str]:
    """What the kernel tells of a process, from its state on."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return []
    return stat.rpartition(")")[2].split()
