"""Runs a program and sees to its end: a file of its own, on the standard library alone.

It is started as `python -I -S guard.py LIFELINE COMMAND…`. LIFELINE is the read end of a pipe whose
other end is held by whoever wants the program; when that end closes, for whatever reason, be it
`kill -9`, the program goes with all that it started. On Linux that includes what left its process
group, because the guard inherits every orphan below it; elsewhere it is the group.
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

GRACE_S = 0.3
NOT_STARTED = 127
_PATIENCE_S = 2.0
_STEP_S = 0.01
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_SUBREAPER = 36


def main(lifeline: int, command: Sequence[str]) -> int:
    """Run a program until it ends or nobody wants it any more; its exit status."""
    _inherit_orphans()
    os.set_inheritable(lifeline, False)
    wake, alarm = os.pipe()
    for end in (wake, alarm):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, *_ENDING):
        signal.signal(number, _only_wake)
    try:
        child = os.posix_spawnp(
            command[0],
            list(command),
            os.environ,
            setpgroup=0,
            setsigdef=(signal.SIGPIPE, signal.SIGCHLD, *_ENDING),
        )
    except OSError:
        return NOT_STARTED
    _let_go_of_streams()
    status = _watch(child, lifeline, wake)
    _end(child, status is None)
    return 0 if status is None else status


def _only_wake(number: int, frame: FrameType | None) -> None:
    """A signal with a handler wakes us; what it was is read from the pipe."""


def _inherit_orphans() -> None:
    """Become the parent of whatever loses its own below us."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _let_go_of_streams() -> None:
    """The streams are the program's: whoever reads must see its end, not ours."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)


def _watch(child: int, lifeline: int, wake: int) -> int | None:
    """The status of a program that ended by itself; None when it has to go."""
    while True:
        ready, _, _ = select.select([lifeline, wake], [], [])
        if lifeline in ready:
            return None
        told = os.read(wake, 512)
        if any(number in told for number in _ENDING):
            return None
        for pid, status in _reap():
            if pid == child:
                return os.waitstatus_to_exitcode(status) & 0xFF


def _reap() -> Iterator[tuple[int, int]]:
    """What ended since."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            yield pid, status


def _end(child: int, kindly: bool) -> None:
    """Ask the group to go, then make everything go."""
    if kindly and _signal_group(child, signal.SIGTERM):
        until = time.monotonic() + GRACE_S
        while time.monotonic() < until and _signal_group(child, 0):
            list(_reap())
            time.sleep(_STEP_S)
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        _signal_group(child, signal.SIGKILL)
        for pid in _children():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        list(_reap())
        if not _signal_group(child, 0) and not _children():
            return
        time.sleep(_STEP_S)


def _signal_group(group: int, number: int) -> bool:
    """Whether there was anybody to hear it."""
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def _children() -> list[int]:
    """Whose parent we are, by /proc where there is one."""
    found: list[int] = []
    own = str(os.getpid())
    with suppress(OSError):
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                with suppress(OSError, IndexError):
                    # The name in brackets may hold anything; the parent is the second word after.
                    told = Path(entry.path, "stat").read_text("utf-8", "replace")
                    if told.rpartition(")")[2].split()[1] == own:
                        found.append(int(entry.name))
    return found


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
