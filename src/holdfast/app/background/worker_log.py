"""The worker's log: for what it can tell nobody else. It never grows beyond a bound."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MAX_LOG_BYTES = 200_000
_LINE = 4_000


class WorkerLog:
    """A file of lines, each with its time. That it cannot be written is no reason to stop."""

    def __init__(self, path: Path, now: Callable[[], str]) -> None:
        self._path = path
        self._now = now

    def write(self, text: str) -> None:
        """Add a line."""
        line = f"{self._now()} [{os.getpid()}] {' '.join(text.split())[:_LINE]}\n"
        with suppress(OSError):
            self._trim()
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            with os.fdopen(os.open(self._path, flags, 0o600), "ab") as file:
                file.write(line.encode("utf-8", "replace"))

    def _trim(self) -> None:
        """Keep the later half of a file that is too long."""
        if not self._path.exists() or self._path.stat().st_size <= MAX_LOG_BYTES:
            return
        with self._path.open("rb") as file:
            file.seek(-MAX_LOG_BYTES // 2, os.SEEK_END)
            file.readline()
            kept = file.read()
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as to:
            to.write(kept)
        beside.replace(self._path)


def last_lines(path: Path, count: int = 5) -> list[str]:
    """The end of a log."""
    try:
        return path.read_text("utf-8", "replace").splitlines()[-count:]
    except OSError:
        return []
