"""Processes that are killed where they have something to lose."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Protocol

from tests.support.waiting import wait_until


class RunningProcess(Protocol):
    """A `subprocess.Popen`, or what is used like one."""

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def kill(self) -> None: ...


def kill_after(process: RunningProcess, seconds: float) -> bool:
    """Kill a process that is not done after so many seconds; whether it still ran."""
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=60)
        return True
    return False


def kill_during_writes(process: RunningProcess, database: Path, seconds: float) -> bool:
    """Kill a process so many seconds after it has begun to write to a database; whether it still
    ran. Before that it only starts, which takes longer the busier the machine is."""
    before = _written(database)
    wait_until(
        lambda: process.poll() is not None or _written(database) != before,
        "the process writes or ends",
        every_s=0.002,
    )
    return kill_after(process, seconds)


def _written(database: Path) -> list[tuple[int, int]]:
    """What tells whether anything was written."""
    found: list[tuple[int, int]] = []
    for path in (database, database.with_name(f"{database.name}-wal")):
        try:
            state = path.stat()
        except FileNotFoundError:
            continue
        found.append((state.st_size, state.st_mtime_ns))
    return found
