"""Runs a program, and ends it together with its parent. Imports the standard library alone.

It is started as `python -I -S process_guard.py LIFELINE COMMAND…`. LIFELINE is the read end of a
pipe whose other end the parent holds. When that end closes, even by `kill -9`, the program is ended
with all that it started. On Linux that includes processes that left its group, because the guard
inherits every orphan below it; on other systems it is the group.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

# Between SIGTERM and SIGKILL. A search that nobody waits for has nothing to save.
GRACE_S = 0.3
NOT_STARTED = 127
# How long killed processes may take to disappear. Only one that hangs in the kernel takes longer.
_KILL_TIMEOUT_S = 60.0
_POLL_S = 0.01
# Windows, where this is imported but never run, has no SIGHUP.
_END_SIGNALS = (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM))
_PR_SET_CHILD_SUBREAPER = 36


def main(lifeline: int, command: Sequence[str]) -> int:
    """Run a program until it ends or the lifeline closes; returns its exit status."""
    _inherit_orphans()
    os.set_inheritable(lifeline, False)
    wake, alarm = os.pipe()
    for end in (wake, alarm):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, *_END_SIGNALS):
        signal.signal(number, _wake_only)
    try:
        child = os.posix_spawnp(
            command[0],
            list(command),
            os.environ,
            setpgroup=0,
            setsigdef=(signal.SIGPIPE, signal.SIGCHLD, *_END_SIGNALS),
        )
    except OSError:
        return NOT_STARTED
    _release_streams()
    status = _watch(child, lifeline, wake)
    _end(child, status is None)
    return 0 if status is None else status


def _wake_only(number: int, frame: FrameType | None) -> None:
    """A signal with a handler wakes `select`; which one it was is read from the pipe."""


def _inherit_orphans() -> None:
    """Become the parent of every process below us that loses its own."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _release_streams() -> None:
    """Close our copies of the program's streams, so that its reader sees when the program ends."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)


def _watch(child: int, lifeline: int, wake: int) -> int | None:
    """The status of a program that ended by itself; None when it must be ended."""
    while True:
        ready, _, _ = select.select([lifeline, wake], [], [])
        if lifeline in ready:
            return None
        signals = os.read(wake, 512)
        if any(number in signals for number in _END_SIGNALS):
            return None
        for pid, status in _reap():
            if pid == child:
                return os.waitstatus_to_exitcode(status) & 0xFF


def _reap() -> Iterator[tuple[int, int]]:
    """The processes that ended, with their status."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            yield pid, status


def _end(child: int, kindly: bool) -> None:
    """End the group with SIGTERM if `kindly`, then kill everything that is left."""
    if kindly and _signal_group(child, signal.SIGTERM):
        until = time.monotonic() + GRACE_S
        while time.monotonic() < until and _signal_group(child, 0):
            list(_reap())
            time.sleep(_POLL_S)
    until = time.monotonic() + _KILL_TIMEOUT_S
    while time.monotonic() < until:
        _signal_group(child, signal.SIGKILL)
        for pid in _children():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        list(_reap())
        if not _signal_group(child, 0) and not _children():
            return
        time.sleep(_POLL_S)


def _signal_group(group: int, number: int) -> bool:
    """Signal a process group; returns whether it has any processes."""
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def _children() -> list[int]:
    """Our child processes, by /proc where there is one."""
    found: list[int] = []
    own = str(os.getpid())
    with suppress(OSError):
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                with suppress(OSError, IndexError):
                    # The name in brackets may hold anything; the parent is the second field after.
                    stat = Path(entry.path, "stat").read_text("utf-8", "replace")
                    if stat.rpartition(")")[2].split()[1] == own:
                        found.append(int(entry.name))
    return found


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
