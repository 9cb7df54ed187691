"""Fields of JSON from other programs. A value of another type counts as absent.

Only the standard library is imported: `holdfast status` needs this, and no JSON parser.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

Record = dict[str, Any]


def string(record: Record, key: str) -> str:
    """The string under a key, or ""."""
    value = record.get(key)
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Record:
    """The value if it is an object, or an empty one."""
    return cast(Record, value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The value if it is an array, or an empty one."""
    return cast(list[Any], value) if isinstance(value, list) else []


def objects(value: object) -> list[Record]:
    """The objects among the elements of an array."""
    return [cast(Record, item) for item in items(value) if isinstance(item, dict)]


def normal_time(value: object) -> str:
    """A time as ISO 8601 in UTC, from ISO 8601 or Unix time in (milli)seconds; "" if it is none."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        elif isinstance(value, int | float) and not isinstance(value, bool):
            # Unix time in seconds reaches this number in the year 5138.
            seconds = value / 1000 if value > 1e11 else value
            moment = datetime.fromtimestamp(seconds, UTC)
        else:
            return ""
        spelled = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return ""
    return spelled.replace("+00:00", "Z")
