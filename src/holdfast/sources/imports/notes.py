"""Markdown of other programs: which files there are, what their frontmatter says, and what follows.

Frontmatter is read as far as notes use it: words, lists in either style, and one level below a
key. What cannot be understood is passed over; nothing in a note is ever run or followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from holdfast.errors import InputError
from holdfast.sources.json_fields import normal_time
from holdfast.sources.rule_files import decode, frontmatter_end

MAX_NOTE_BYTES = 1_000_000
_KEY = re.compile(r"([A-Za-z_][\w.-]{0,60})\s*:\s*(.*)$")
_ITEM = re.compile(r"\s*-\s+(.*)$")
_QUOTES = "\"' \t"
_NOT_NAMED = re.compile(r"[^\w/.-]+")


class Note(NamedTuple):
    """A file taken apart: where it lies below the folder that was named, its frontmatter with a
    list of words under each key, its text, and when it was last written."""

    path: Path
    name: str
    frontmatter: dict[str, list[str]]
    text: str
    time: str

    def first_value(self, *keys: str) -> str:
        """The first word under any of some keys, or ""."""
        found = (words[0] for key in keys if (words := self.frontmatter.get(key)))
        return next(found, "")


def find_notes(path: Path) -> Iterator[Path]:
    """The Markdown files of a folder, or the one that is named; links are not followed, and what
    begins with a dot is left alone."""
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
    """One file; None if it is too large to be a note."""
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
    told = dict(_frontmatter(lines[1 : end - 1])) if end else {}
    written = datetime.fromtimestamp(stat.st_mtime, UTC).isoformat()
    below = path.relative_to(base) if path.is_relative_to(base) else Path(path.name)
    return Note(path, below.as_posix(), told, "\n".join(lines[end:]).strip(), normal_time(written))


def _frontmatter(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each key with its words; a key below another is told with both names and a dot."""
    above, under = "", ""
    words: dict[str, list[str]] = {}
    for line in lines:
        inner = line.startswith((" ", "\t"))
        item, found = _ITEM.match(line), _KEY.match(line.strip())
        if item and under:
            words.setdefault(under, []).extend(_words(item.group(1), False))
        elif found:
            above = above if inner else found.group(1)
            under = f"{above}.{found.group(1)}" if inner else above
            words[under] = _words(found.group(2), True)
    yield from words.items()


def _words(value: str, split: bool) -> list[str]:
    value = value.strip()
    if split and value.startswith("[") and value.endswith("]"):
        parts = value[1:-1].split(",")
    else:
        parts = [value]
    return [word for part in parts if (word := part.strip().strip(_QUOTES))]


def address_part(text: str) -> str:
    """A text as a part of an address: no blanks, nothing that has a meaning there."""
    return quote(_NOT_NAMED.sub("-", text.strip()).strip("-"), safe="/.-_")
