"""Finds the session of a line that another line names: before version 2.0 Claude Code wrote the
title of a session into the file of a later one, with the uuid of its last line.

The files are searched, not the memory, so it does not matter which of them is read first.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import orjson

from holdfast.regex import regex
from holdfast.sources.json_fields import Record

_UUID = regex(rb'"uuid": ?"([^"\\]{1,80})"')
# Files whose uuids are kept: those of a folder are asked for as often as it has such titles.
_KEPT_FILES = 2000


def find_leaf(path: str, uuid: str) -> tuple[Record, str] | None:
    """The record with a uuid, in a transcript or in the others of its folder, and the stem of its
    file; None if there is none. Of several, that of the eldest file: others are copies."""
    if not uuid:
        return None
    wanted = uuid.encode()
    for file in _by_age(Path(path).parent):
        try:
            seen = file.stat()
            if wanted in _uuids(str(file), seen.st_mtime_ns, seen.st_size):
                return _record(file, uuid), file.stem
        except OSError:
            continue  # it was removed, or may not be read
    return None


def _by_age(folder: Path) -> list[Path]:
    found: list[tuple[int, str, Path]] = []
    for file in folder.glob("*.jsonl"):
        try:
            found.append((file.stat().st_mtime_ns, file.name, file))
        except OSError:
            continue
    return [file for _, _, file in sorted(found)]


@lru_cache(maxsize=_KEPT_FILES)
def _uuids(path: str, mtime_ns: int, size: int) -> frozenset[bytes]:
    """The uuids in a file, as it was at that time."""
    with Path(path).open("rb") as file:
        return frozenset(found for line in file for found in _UUID.findall(line))


def _record(file: Path, uuid: str) -> Record:
    """The record with this uuid of its own in a file that has it somewhere."""
    wanted = uuid.encode()
    with file.open("rb") as lines:
        for line in lines:
            if wanted not in line:
                continue
            try:
                record: Any = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if isinstance(record, dict) and cast(Record, record).get("uuid") == uuid:
                return cast(Record, record)
    return {}
