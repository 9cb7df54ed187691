"""Processes that are killed where they have something to lose."""

from __future__ import annotations

import subprocess
from typing import Protocol


class RunningProcess(Protocol):
    """A `subprocess.Popen`, or what is used like one."""

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
