"""What a reader makes of one record of another program, before it has a bank or is redacted.

Every record that a source holds is given once: as a draft, or as one that was left out and why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.errors import InputError

MAX_TEXT_CHARS = 200_000
_HALF = re.compile("[\ud800-\udfff]")
_LARGEST_JSON = 256 * 1024 * 1024
_OURS = "holdfast-export"


class DraftRecord(NamedTuple):
    """One record as its program has it; `key` is what it is known by there, `origin` its name. A
    `project` is what the program itself calls it, "" where it tells of none."""

    kind: str
    key: tuple[str, ...]
    title: str
    text: str
    time: str
    origin: str
    project: str = ""
    session: str = ""
    files: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


class SkippedRecord(NamedTuple):
    """One record that gives nothing, or cannot be understood, and why."""

    kind: str
    reason: str
    failed: bool = False


ImportItem = DraftRecord | SkippedRecord
# Called with how many records were read, and how many there are.
ProgressCallback = Callable[[int, int], None]


def replace_surrogates(text: str) -> str:
    """The text with a mark for each half of a character: escaped ones of JSON, bytes in names of
    files that are no UTF-8."""
    return _HALF.sub("\ufffd", text)


def checked(draft: DraftRecord) -> ImportItem:
    """The draft itself, without halves of characters, which no store takes; or why there is nothing
    to keep of it. What it is known by stays as it is."""
    draft = DraftRecord(
        replace_surrogates(draft.kind), draft.key, replace_surrogates(draft.title), replace_surrogates(draft.text), draft.time,
        replace_surrogates(draft.origin), replace_surrogates(draft.project), replace_surrogates(draft.session),
        tuple(map(replace_surrogates, draft.files)), tuple(map(replace_surrogates, draft.labels)),
    )  # fmt: skip
    if not (draft.text.strip() or draft.title.strip()):
        return SkippedRecord(draft.kind, "empty")
    if len(draft.text) > MAX_TEXT_CHARS:
        return SkippedRecord(draft.kind, "too-large", failed=True)
    return draft


def load_json(path: Path, what: str) -> Any:
    """The one JSON value of a file, or of one value a line; in words what is wrong otherwise."""
    data = read_bytes(path, _LARGEST_JSON, what)
    try:
        # A shell on Windows may have written it as UTF-16.
        text = data.decode(json.detect_encoding(data)).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text, so not {what}.", "Check the file.") from error
    try:
        return json.loads(text)
    except RecursionError as error:
        raise InputError(f"{path} is nested too deeply.", "Check the file.") from error
    except ValueError as error:
        lines = _by_line(text)
        if lines is None:
            raise InputError(
                f"{path} is not whole JSON, so not {what}: {error}.",
                "Export it again; nothing was imported.",
            ) from error
        if _is_ours(lines[0]):
            raise InputError(
                f"{path} is an export of Holdfast's, not {what}.",
                "`holdfast import holdfast FILE` brings it back; nothing was imported.",
            ) from error
        return lines


def _is_ours(first: object) -> bool:
    return isinstance(first, dict) and cast(dict[str, object], first).get("format") == _OURS


def _by_line(text: str) -> list[Any] | None:
    """One JSON value a line, if it is that."""
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()] or None
    except (ValueError, RecursionError):
        return None


def read_bytes(path: Path, most: int, what: str) -> bytes:
    """What a file holds, unless it is none, cannot be read, or is too large to be one of these."""
    if not path.is_file():
        raise InputError(f"{path} is not a file.", f"Name {what}.")
    try:
        if path.stat().st_size > most:
            raise InputError(
                f"{path} is larger than {most // 1024 // 1024} MB.", "Export it in parts."
            )
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}.", "Check its permissions."
        ) from error
