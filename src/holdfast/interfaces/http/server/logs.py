"""What a server writes down of what it does: one line an event, without anybody's words.

Of a request that is its pattern, not its path, how it ended and in whose name; of a fault its kind
and where it happened, not what it said. Nothing of it is a secret, and only where it is asked for
are paths and questions told.

Whoever reads the lines may be slow, or have stopped: nobody waits for them. So many lines are kept
until they are taken, and of what is left out then it is told how much it was.
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
MOST_WAITING = 10_000
_FRAMES = 4
_LOOK_S = 0.05


class Log:
    """Where lines go."""

    def __init__(
        self, form: str = TEXT, out: TextIO | None = None, most: int = MOST_WAITING
    ) -> None:
        self._form = form
        # There is none where a program was started with it closed.
        self._out: TextIO | None = out or sys.stderr
        self._most = most
        # How many lines were left out, because those before them were not taken.
        self.lost = 0
        self._told_lost = 0
        self._waiting: deque[bytes] = deque()
        self._change = threading.Condition()
        self._being_said = False
        self._thread: threading.Thread | None = None

    def write(self, event: str, **fields: object) -> None:
        """One line, some time. A log that cannot be written stops nothing."""
        if self._out is None:
            return
        line = self._line(event, fields)
        number = _number_of(self._out)
        if number is None:
            _say_here(self._out, line)
            return
        with self._change:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._say_all, args=(number,), name="log", daemon=True
                )
                self._thread.start()
            if len(self._waiting) >= self._most:
                self.lost += 1
                return
            if self.lost > self._told_lost:
                lost, self._told_lost = self.lost - self._told_lost, self.lost
                self._waiting.append(self._line("log_lost", {"lines": lost}).encode())
            self._waiting.append(line.encode())
            self._change.notify_all()

    def settle(self, patience_s: float = 1.0) -> None:
        """Wait until all lines are written, but not for long."""
        give_up = time.monotonic() + patience_s
        with self._change:
            while self._waiting or self._being_said:
                if not self._change.wait(give_up - time.monotonic()):
                    return

    def _say_all(self, number: int) -> None:
        """Write what waits. This is past every lock and buffer of the stream itself: who is stuck
        here, because nobody reads, keeps the program from nothing, also not from ending."""
        while True:
            with self._change:
                self._being_said = False
                self._change.notify_all()
                while not self._waiting:
                    self._change.wait()
                self._being_said = True
                line = self._waiting.popleft()
            if not _written(number, line):
                with self._change:
                    self.lost += 1

    def _line(self, event: str, fields: dict[str, object]) -> str:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        told = {"time": now, "event": event, **{k: v for k, v in fields.items() if v != ""}}
        if self._form == JSON:
            return json.dumps(told, ensure_ascii=True, separators=(",", ":")) + "\n"
        rest = " ".join(f"{name}={_plain(value)}" for name, value in fields.items() if value != "")
        return f"{now} {event} {rest}\n"


def _say_here(out: TextIO, line: str) -> None:
    try:
        out.write(line)
        out.flush()
    except (OSError, ValueError):
        return


def _written(number: int, line: bytes) -> bool:
    """Write a line, however long that takes; whether it could be."""
    while line:
        try:
            line = line[os.write(number, line) :]
        except BlockingIOError:  # somebody else who has the file made it one that nobody waits for
            time.sleep(_LOOK_S)
        except OSError:
            return False
    return True


def _number_of(out: TextIO) -> int | None:
    """The number of the file that a stream writes to, if there is one."""
    try:
        return out.fileno()
    except (OSError, ValueError):
        return None


def _plain(value: object) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text else json.dumps(text)


def place_of(error: BaseException) -> str:
    """Where something failed, without what was said about it."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return " < ".join(
        f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(frames)
    )
