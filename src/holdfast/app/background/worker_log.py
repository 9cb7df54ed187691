"""The log file of the worker, which runs without a terminal. Its size is bounded."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from holdfast.operating_system import OPEN_FLAGS
from holdfast.private_files import write_private

# The log is cut to its later half when it is longer than this. A higher value lets `holdfast worth`
# and the status find failures further back.
MAX_LOG_BYTES = 200_000
# Characters of one entry, so that a single long error cannot fill the log.
_MAX_LINE_CHARACTERS = 4_000


class WorkerLog:
    """A file of lines, each with time and process id. Errors while writing are ignored."""

    def __init__(self, path: Path, now: Callable[[], str]) -> None:
        self._path = path
        self._now = now

    def write(self, text: str) -> None:
        """Append one line."""
        line = f"{self._now()} [{os.getpid()}] {' '.join(text.split())[:_MAX_LINE_CHARACTERS]}\n"
        with suppress(OSError):
            self._trim()
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | OPEN_FLAGS
            with os.fdopen(os.open(self._path, flags, 0o600), "ab") as file:
                file.write(line.encode("utf-8", "replace"))

    def _trim(self) -> None:
        """Cut a file that is too long to its later half."""
        if not self._path.exists() or self._path.stat().st_size <= MAX_LOG_BYTES:
            return
        with self._path.open("rb") as file:
            file.seek(-MAX_LOG_BYTES // 2, os.SEEK_END)
            file.readline()
            kept = file.read()
        write_private(self._path, kept)
