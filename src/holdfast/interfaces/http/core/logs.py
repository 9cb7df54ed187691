"""The log of a server: one line for each event, without texts of users.

A request is logged with its route (not its path), its status and the name of its key; a failure
with its type and place in the code, not its message.

Lines are written by a separate thread so that a blocked reader cannot stall requests. A bounded
number of lines waits; lines beyond that are dropped.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

JSON, TEXT = "json", "text"
# Lines that wait for a slow reader: a few megabytes, some seconds of a busy server.
_MAX_WAITING_LINES = 10_000
# Frames of the code in the place of a failure, from the innermost.
_MAX_FRAMES = 4


class Log:
    """Writes lines to a file descriptor (default: standard error) without blocking the caller."""

    def __init__(self, format: str = TEXT, out: int | None = None) -> None:
        self._format = format
        # A program that was started with stderr closed may have another file there.
        self._out = out or (2 if sys.stderr is not None else os.open(os.devnull, os.O_WRONLY))
        self._lines: queue.Queue[bytes] = queue.Queue(_MAX_WAITING_LINES)
        threading.Thread(target=self._write_all, name="log", daemon=True).start()

    def write(self, event: str, **fields: object) -> None:
        """Write a line soon, without fields that are ""."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        known = {name: value for name, value in fields.items() if value != ""}
        if self._format == JSON:
            line = json.dumps({"time": now, "event": event, **known}, separators=(",", ":"))
        else:
            values = (f"{name}={_text_value(value)}" for name, value in known.items())
            line = " ".join((now, event, *values))
        with suppress(queue.Full):
            self._lines.put_nowait(f"{line}\n".encode())

    def flush(self, timeout_s: float = 1.0) -> None:
        """Wait until all lines are written, at most `timeout_s` seconds."""
        deadline = time.monotonic() + timeout_s
        while self._lines.unfinished_tasks and time.monotonic() < deadline:
            time.sleep(0.01)

    def _write_all(self) -> None:
        """Write waiting lines. Not through the stream: a thread that blocks here holds no lock of
        it, so the program can still end."""
        while True:
            line = self._lines.get()
            with suppress(OSError):
                while line:
                    line = line[os.write(self._out, line) :]
            self._lines.task_done()


def _text_value(value: object) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text else json.dumps(text)


def traceback_location(error: BaseException) -> str:
    """Where in the code an error was raised, without its message."""
    frames = traceback.extract_tb(error.__traceback__)[-_MAX_FRAMES:]
    return " < ".join(f"{Path(one.filename).name}:{one.lineno}" for one in reversed(frames))
