"""The log of a server: one line for each event, without texts of users.

A request is logged with its route (not its path), its status and the name of its key; a failure
with its type and place in the code, not its message. Paths and queries are logged only on request.

Lines are written by a separate thread so that a blocked reader cannot stall requests. A bounded
number of lines waits; lines beyond that are dropped, and their number is logged later.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections import deque
from datetime import UTC, datetime
from typing import TextIO

JSON, TEXT = "json", "text"
# Lines that wait for a slow reader: a few megabytes, some seconds of a busy server.
MAX_WAITING_LINES = 10_000
# Frames of the code in the place of a failure, from the innermost.
_MAX_FRAMES = 4
# How soon a write to a full non-blocking pipe is tried again.
_RETRY_S = 0.05


class Log:
    """Writes lines to a stream without blocking the caller."""

    def __init__(
        self, format: str = TEXT, out: TextIO | None = None, max_waiting: int = MAX_WAITING_LINES
    ) -> None:
        self._format = format
        # None where the program was started with stderr closed.
        self._out: TextIO | None = out or sys.stderr
        self._max_waiting = max_waiting
        # How many lines were dropped because the reader was too slow.
        self.lost = 0
        self._reported_lost = 0
        self._waiting: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._is_writing = False
        self._thread: threading.Thread | None = None

    def write(self, event: str, **fields: object) -> None:
        """Write a line soon. Errors of the stream are ignored."""
        if self._out is None:
            return
        line = self._line(event, fields)
        descriptor = _file_descriptor(self._out)
        if descriptor is None:
            _write_directly(self._out, line)
            return
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._write_all, args=(descriptor,), name="log", daemon=True
                )
                self._thread.start()
            if len(self._waiting) >= self._max_waiting:
                self.lost += 1
                return
            if self.lost > self._reported_lost:
                lost, self._reported_lost = self.lost - self._reported_lost, self.lost
                self._waiting.append(self._line("log_lost", {"lines": lost}).encode())
            self._waiting.append(line.encode())
            self._changed.notify_all()

    def flush(self, timeout_s: float = 1.0) -> None:
        """Wait until all lines are written, at most `timeout_s` seconds."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while self._waiting or self._is_writing:
                if not self._changed.wait(deadline - time.monotonic()):
                    return

    def _write_all(self, descriptor: int) -> None:
        """Write waiting lines, in a daemon thread. It writes to the file descriptor directly: a
        thread that blocks here holds no lock of the stream, so the program can still end."""
        while True:
            with self._changed:
                self._is_writing = False
                self._changed.notify_all()
                while not self._waiting:
                    self._changed.wait()
                self._is_writing = True
                line = self._waiting.popleft()
            if not _write_fully(descriptor, line):
                with self._changed:
                    self.lost += 1

    def _line(self, event: str, fields: dict[str, object]) -> str:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        known = {name: value for name, value in fields.items() if value != ""}
        if self._format == JSON:
            record = {"time": now, "event": event, **known}
            return json.dumps(record, ensure_ascii=True, separators=(",", ":")) + "\n"
        rest = " ".join(f"{name}={_text_value(value)}" for name, value in known.items())
        return f"{now} {event} {rest}\n"


def _write_directly(out: TextIO, line: str) -> None:
    try:
        out.write(line)
        out.flush()
    except (OSError, ValueError):
        return


def _write_fully(descriptor: int, line: bytes) -> bool:
    """Write a line, however long that takes; returns whether that was possible."""
    while line:
        try:
            line = line[os.write(descriptor, line) :]
        except BlockingIOError:  # another process made the pipe non-blocking
            time.sleep(_RETRY_S)
        except OSError:
            return False
    return True


def _file_descriptor(out: TextIO) -> int | None:
    """The file descriptor of a stream; None if it has none."""
    try:
        return out.fileno()
    except (OSError, ValueError):
        return None


def _text_value(value: object) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text else json.dumps(text)


def traceback_location(error: BaseException) -> str:
    """Where in the code an error was raised, without its message."""
    frames = traceback.extract_tb(error.__traceback__)[-_MAX_FRAMES:]
    return " < ".join(
        f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(frames)
    )
