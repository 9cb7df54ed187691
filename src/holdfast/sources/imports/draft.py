"""The records that importers read from other programs, before they have a bank and are redacted.

A reader gives every record of its source once: as a draft, or as skipped with a reason.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.errors import InputError
from holdfast.regex import regex
from holdfast.sources.json_fields import mapping

# A longer text is no memory but a whole file; the record fails.
MAX_TEXT_CHARS = 200_000
_SURROGATE = regex("[\ud800-\udfff]")
# The file is parsed at once, which takes several times its size in memory.
_MAX_JSON_BYTES = 256 * 1024 * 1024
_OWN_FORMAT = "holdfast-export"


class DraftRecord(NamedTuple):
    """One record of another program. `key` identifies it there, `origin` is its URI, and `project`
    is the program's own name of the project, "" where it has none."""

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
    """A record that holds nothing, or cannot be understood, and why."""

    kind: str
    reason: str
    failed: bool = False


ImportItem = DraftRecord | SkippedRecord


def unique_texts(*texts: str) -> tuple[str, ...]:
    """Each text once, without empty ones."""
    return tuple(dict.fromkeys(filter(None, texts)))


def replace_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which JSON escapes and file names that are no
    UTF-8 can contain, and no store accepts."""
    return _SURROGATE.sub("\ufffd", text)


def checked(draft: DraftRecord) -> ImportItem:
    """The draft without lone surrogates, except in its key; or why it is skipped."""
    fields = {name: value for name, value in draft._asdict().items() if name != "key"}
    for name, value in fields.items():
        is_text = isinstance(value, str)
        fields[name] = (
            replace_surrogates(value) if is_text else tuple(map(replace_surrogates, value))
        )
    draft = draft._replace(**fields)
    if not (draft.text.strip() or draft.title.strip()):
        return SkippedRecord(draft.kind, "empty")
    if len(draft.text) > MAX_TEXT_CHARS:
        return SkippedRecord(draft.kind, "too-large", failed=True)
    return draft


def load_json(path: Path, what: str) -> Any:
    """The JSON value of a file, or the list of its values if it has one a line. `what` describes
    the file in error messages."""
    data = read_bytes(path, _MAX_JSON_BYTES, what)
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
        lines = _parse_lines(text)
        if lines is None:
            raise InputError(
                f"{path} is not whole JSON, so not {what}: {error}.",
                "Export it again; nothing was imported.",
            ) from error
        if mapping(lines[0]).get("format") == _OWN_FORMAT:
            raise InputError(
                f"{path} is a Holdfast export, not {what}.",
                "`holdfast import holdfast FILE` restores it; nothing was imported.",
            ) from error
        return lines


def _parse_lines(text: str) -> list[Any] | None:
    """One JSON value a line; None where it is something else."""
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()] or None
    except (ValueError, RecursionError):
        return None


def read_bytes(path: Path, max_bytes: int, what: str) -> bytes:
    """The content of a file; raises InputError where there is none, or it is too large."""
    if not path.is_file():
        raise InputError(f"{path} is not a file.", f"Name {what}.")
    try:
        if path.stat().st_size > max_bytes:
            raise InputError(
                f"{path} is larger than {max_bytes // 1024 // 1024} MB.", "Export it in parts."
            )
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}.", "Check its permissions."
        ) from error
