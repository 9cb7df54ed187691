"""How times are written in records and answers (in UTC, with milliseconds and a Z), and how old a
file is at such a time."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path


def format_time(time: datetime) -> str:
    """A time with a zone, such as `2026-03-01T12:30:00.000Z`."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def add_seconds(time: str, seconds: float) -> str:
    """The time so many seconds after another, in the format of records."""
    at = datetime.fromisoformat(time) + timedelta(seconds=min(seconds, 366 * 86400.0))
    return format_time(at)


def age_s(stat: os.stat_result, now: str) -> float:
    """The seconds from the last change of a file to a time; negative if the clock was set back."""
    return datetime.fromisoformat(now).timestamp() - stat.st_mtime


def mark_time(path: Path, now: str) -> None:
    """Write an empty file whose time of change is `now`, readable by its owner only."""
    path.touch(0o600)
    seconds = datetime.fromisoformat(now).timestamp()
    os.utime(path, (seconds, seconds))
