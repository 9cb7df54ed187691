"""Processes that are killed where they have something to lose."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path


def kill_amid(process: subprocess.Popen[bytes], database: Path, seconds: float) -> bool:
    """Kill a process so many seconds after it has begun to write to a database; whether it still
    ran. Before that it only starts, which takes longer the busier the machine is."""
    before = _written(database)
    while process.poll() is None and _written(database) == before:
        time.sleep(0.002)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=10)
        return True
    return False


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
