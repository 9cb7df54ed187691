"""The journal: redacted events on disk, one file per session, one JSON object per line.

A line is written completely or not at all: the next process to append removes one that was cut
short by a kill; its event is still in the inbox. Appending the same event again changes nothing, so
a process that empties the inbox may die at any point, and two may do it at once.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from holdfast.locks import open_locked

Event = dict[str, Any]

_EVENT_ID = re.compile(rb'\{"v":\d+,"id":"([^"\\]+)"')
_TAIL_BYTES = 64 * 1024


def append(path: Path, events: Sequence[Event]) -> int:
    """Append the events that are not in the journal yet, durably; returns how many. Either all
    are there afterwards, or OSError is raised and none is."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        with open_locked(path, os.O_RDWR | os.O_CREAT | os.O_APPEND) as journal:
            # A file that was removed while waiting for the lock is opened again.
            if os.path.lexists(path) and os.path.samestat(os.fstat(journal), path.lstat()):
                return _append_new(journal, events)


def _append_new(descriptor: int, events: Sequence[Event]) -> int:
    with open(os.dup(descriptor), "rb") as file:  # noqa: PTH123 - it is open already
        found = [_EVENT_ID.match(line) for line in file if line.endswith(b"\n")]
    known = {match[1].decode("utf-8", "replace") for match in found if match}
    new = {event["id"]: event for event in events if event["id"] not in known}
    lines = "".join(f"{to_line(event)}\n" for event in new.values())
    end = _drop_partial_line(descriptor)
    if new:
        _write(descriptor, end, lines.encode("utf-8", "replace"))
        os.fsync(descriptor)
    return len(new)


def remove(path: Path, may: Callable[[os.stat_result], bool]) -> bool:
    """Lock a journal and remove it, if `may` allows it in its present state."""
    with suppress(OSError), open_locked(path, os.O_RDONLY) as descriptor:
        if may(os.fstat(descriptor)):
            path.unlink()
            return True
    return False


def rewrite(path: Path, change: Callable[[Event], Event]) -> int:
    """Change the events of a journal in place, so that no process loses what it appends; returns
    how many changed. A line that is no event is removed."""
    with open_locked(path, os.O_RDWR) as descriptor:
        with open(os.dup(descriptor), "rb") as file:  # noqa: PTH123 - it is open already
            lines = file.readlines()
        found = [(line, event) for line in lines if (event := parse(line)) is not None]
        changes = [(line, event, change(event)) for line, event in found]
        changed = sum(old != new for _, old, new in changes)
        if changed or len(found) < len(lines):
            kept = [
                line if old == new else f"{to_line(new)}\n".encode("utf-8", "replace")
                for line, old, new in changes
            ]
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.ftruncate(descriptor, 0)
            _write(descriptor, 0, b"".join(kept))
            os.fsync(descriptor)
        return changed + len(lines) - len(found)


def to_line(event: Event) -> str:
    """The event as one line of JSON, version and id first."""
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def _write(descriptor: int, end: int, data: bytes) -> None:
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError:
        os.ftruncate(descriptor, end)
        raise


def _drop_partial_line(descriptor: int) -> int:
    """Remove a last line that was cut short; returns the end of the journal."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    start = end
    while start > 0:
        step = min(_TAIL_BYTES, start)
        found = os.pread(descriptor, step, start - step).rfind(b"\n")
        if found >= 0:
            start += found + 1 - step
            break
        start -= step
    if start < end:
        os.ftruncate(descriptor, start)
    return start


def read(path: Path) -> Iterator[Event]:
    """The events in order; a line that is no event is skipped."""
    yield from (event for line in _lines(path) if (event := parse(line)) is not None)


def parse(line: bytes) -> Event | None:
    """The event on a line; None if it is none."""
    try:
        event: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast(Event, event) if isinstance(event, dict) else None


def _lines(path: Path) -> Iterator[bytes]:
    """The complete lines; none if the journal cannot be opened. Appending to it reports the
    error."""
    try:
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield line
    except OSError:
        return
