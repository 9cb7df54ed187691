"""Reads Markdown notes of other programs: their frontmatter and their text.

Frontmatter is parsed as far as notes use it: values, lists in either style, and one level below a
key. What cannot be parsed is ignored; nothing in a note is run or followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from holdfast.errors import InputError
from holdfast.regex import regex
from holdfast.sources.json_fields import normal_time
from holdfast.sources.rule_files import decode, frontmatter_end

# A larger file is no note.
MAX_NOTE_BYTES = 1_000_000
_KEY = regex(r"([A-Za-z_][\w.-]{0,60})\s*:\s*(.*)$")
_ITEM = regex(r"\s*-\s+(.*)$")
_QUOTES = "\"' \t"
_NOT_IN_ADDRESS = regex(r"[^\w/.-]+")


class Note(NamedTuple):
    """A note: its path, its name below the imported folder, the values of its frontmatter by key,
    its text, and when it was last written."""

    path: Path
    name: str
    frontmatter: dict[str, list[str]]
    text: str
    time: str

    def first_value(self, *keys: str) -> str:
        """The first value of the first of some keys that is there, or ""."""
        found = (values[0] for key in keys if (values := self.frontmatter.get(key)))
        return next(found, "")


def find_notes(path: Path) -> Iterator[Path]:
    """The Markdown files of a folder, or the one file. Links are not followed; files and folders
    that begin with a dot are left out."""
    if path.is_file():
        yield path
        return
    for folder, below, names in os.walk(path):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder) / name
            is_note = name.lower().endswith(".md") and not name.startswith(".")
            if is_note and file.is_file() and not file.is_symlink():
                yield file


def read_note(path: Path, base: Path) -> Note | None:
    """The note of a file; None if it is too large."""
    try:
        stat = path.stat()
        if stat.st_size > MAX_NOTE_BYTES:
            return None
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}.", "Check its permissions."
        ) from error
    lines = decode(raw).split("\n")
    end = frontmatter_end(lines)
    frontmatter = _frontmatter(lines[1 : end - 1]) if end else {}
    below = path.relative_to(base) if path.is_relative_to(base) else Path(path.name)
    text = "\n".join(lines[end:]).strip()
    return Note(path, below.as_posix(), frontmatter, text, normal_time(stat.st_mtime))


def _frontmatter(lines: list[str]) -> dict[str, list[str]]:
    """Each key with its values; a key below another is `outer.inner`."""
    outer, key = "", ""
    values: dict[str, list[str]] = {}
    for line in lines:
        is_inner = line.startswith((" ", "\t"))
        item, found = _ITEM.match(line), _KEY.match(line.strip())
        if item and key:
            values.setdefault(key, []).extend(_split_values(item.group(1), False))
        elif found:
            outer = outer if is_inner else found.group(1)
            key = f"{outer}.{found.group(1)}" if is_inner else outer
            values[key] = _split_values(found.group(2), True)
    return values


def _split_values(value: str, is_list: bool) -> list[str]:
    value = value.strip()
    if is_list and value.startswith("[") and value.endswith("]"):
        parts = value[1:-1].split(",")
    else:
        parts = [value]
    return [word for part in parts if (word := part.strip().strip(_QUOTES))]


def address_part(text: str) -> str:
    """A text as part of a URI: spaces become dashes, special characters are quoted."""
    return quote(_NOT_IN_ADDRESS.sub("-", text.strip()).strip("-"), safe="/.-_")
