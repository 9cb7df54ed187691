"""How times are written in records and answers: in UTC, with milliseconds and a Z."""

from __future__ import annotations

from datetime import UTC, datetime


def format_time(time: datetime) -> str:
    """A time with a zone, such as `2026-03-01T12:30:00.000Z`."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
