"""What a server writes down of what it does: one line an event, without anybody's words.

Of a request that is its pattern, not its path, how it ended and in whose name; of a fault its kind
and where it happened, not what it said. Nothing of it is a secret, and only where it is asked for
are paths and questions told.
"""

from __future__ import annotations

import json
import sys
import traceback
from datetime import UTC, datetime
from typing import TextIO

JSON, TEXT = "json", "text"
_FRAMES = 4


class Log:
    """Where lines go."""

    def __init__(self, form: str = TEXT, out: TextIO | None = None) -> None:
        self._form = form
        self._out = out or sys.stderr

    def write(self, event: str, **fields: object) -> None:
        """One line. A log that cannot be written stops nothing."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        told = {"time": now, "event": event, **{k: v for k, v in fields.items() if v != ""}}
        if self._form == JSON:
            line = json.dumps(told, ensure_ascii=True, separators=(",", ":"))
        else:
            rest = " ".join(
                f"{name}={_plain(value)}" for name, value in fields.items() if value != ""
            )
            line = f"{now} {event} {rest}"
        try:
            self._out.write(line + "\n")
            self._out.flush()
        except (OSError, ValueError):
            return


def _plain(value: object) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text else json.dumps(text)


def place_of(error: BaseException) -> str:
    """Where something failed, without what was said about it."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return " < ".join(
        f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(frames)
    )
