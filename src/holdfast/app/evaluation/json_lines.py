"""Reads the JSON lines of a set, and names the line and the remedy where one cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import orjson

from holdfast.errors import InputError
from holdfast.model.query import SourceLocation

LINE_REMEDY = "Write one JSON object per line."
JsonLine = dict[str, Any]


def read_lines(path: Path) -> Iterator[tuple[SourceLocation, JsonLine]]:
    """The objects of a file, each with its location; blank lines are skipped."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    location = SourceLocation(str(path), number)
                    yield location, _parse_line(location, line)
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}.", "Make it a file you may read."
        ) from error


def _parse_line(location: SourceLocation, line: bytes) -> JsonLine:
    try:
        value: object = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise line_error(location, f"not JSON ({error})", LINE_REMEDY) from error
    if not isinstance(value, dict):
        raise line_error(location, "not a JSON object", LINE_REMEDY)
    return cast(JsonLine, value)


def line_error(location: SourceLocation, what: str, remedy: str) -> InputError:
    """The error for a line that cannot be used."""
    return InputError(f"{location.path}, line {location.line}: {what}.", remedy)


def name_text(value: object) -> str:
    """A name as text; numbers are allowed. "" if it is neither."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value).strip()


def required_name(location: SourceLocation, line: JsonLine, key: str, noun: str) -> str:
    """The name under a key; an error if there is none. `noun` is what the line describes."""
    name = name_text(line.get(key))
    if not name:
        what = f"{key} is missing" if line.get(key) in (None, "") else f"{key} is no text"
        raise line_error(location, what, f"Every {noun} needs {key} as a text that is not empty.")
    return name
