"""The journal: redacted events on disk, one file a session, one JSON object a line.

A line is there whole or not at all: one that a kill cut short is taken off by the next to append,
whose event still lies in the inbox. Appending the same event again changes nothing, so whoever
reads the inbox may die at any point, or do so twice at once.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from holdfast.locks import hold

Event = dict[str, Any]

_ID = re.compile(rb'\{"v":\d+,"id":"([^"\\]+)"')
_TAIL = 64 * 1024


def append(path: Path, events: Sequence[Event]) -> int:
    """Add the events that are not there yet, for good; returns how many those were. Either all
    are there afterwards, or OSError is raised and none is."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = _open_locked(path)
    try:
        with open(os.dup(descriptor), "rb") as file:  # noqa: PTH123 - it is open already
            known = set(_ids(file))
        new = {event["id"]: event for event in events if event["id"] not in known}
        lines = "".join(f"{to_line(event)}\n" for event in new.values())
        end = _heal(descriptor)
        if new:
            _write(descriptor, end, lines.encode("utf-8", "replace"))
            os.fsync(descriptor)
        return len(new)
    finally:
        os.close(descriptor)


def _open_locked(path: Path) -> int:
    """The journal of that name, which nobody else may change until it is closed. One that was
    removed while we waited for it is not it any more."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        descriptor = os.open(path, flags, 0o600)
        try:
            hold(descriptor)
            if os.path.lexists(path) and os.path.samestat(os.fstat(descriptor), path.lstat()):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def remove(path: Path, may: Callable[[os.stat_result], bool]) -> bool:
    """Remove a journal, if it may go as it is once nobody else can append to it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        hold(descriptor)
        if not may(os.fstat(descriptor)):
            return False
        path.unlink()
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)


def rewrite(path: Path, change: Callable[[Event], Event]) -> int:
    """Change the events of a journal where it lies, so that nobody who appends to it is missed;
    returns how many changed. A line that is no event goes."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        hold(descriptor)
        with open(os.dup(descriptor), "rb") as file:  # noqa: PTH123 - it is open already
            lines = file.readlines()
        found = [(line, event) for line in lines if (event := parse(line)) is not None]
        told = [(line, event, change(event)) for line, event in found]
        changed = sum(old != new for _, old, new in told)
        if changed or len(found) < len(lines):
            kept = [
                line if old == new else f"{to_line(new)}\n".encode("utf-8", "replace")
                for line, old, new in told
            ]
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.ftruncate(descriptor, 0)
            _write(descriptor, 0, b"".join(kept))
            os.fsync(descriptor)
        return changed + len(lines) - len(found)
    finally:
        os.close(descriptor)


def to_line(event: Event) -> str:
    """One line, its number and its id first."""
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def _write(descriptor: int, end: int, data: bytes) -> None:
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError:
        os.ftruncate(descriptor, end)
        raise


def _heal(descriptor: int) -> int:
    """Take off a last line that was cut short; returns where the journal ends then."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    start = end
    while start > 0:
        step = min(_TAIL, start)
        found = os.pread(descriptor, step, start - step).rfind(b"\n")
        if found >= 0:
            start += found + 1 - step
            break
        start -= step
    if start < end:
        os.ftruncate(descriptor, start)
    return start


def event_ids(path: Path) -> Iterator[str]:
    """The events that a journal holds whole."""
    yield from _ids(_lines(path))


def _ids(lines: Iterable[bytes]) -> Iterator[str]:
    for line in lines:
        found = _ID.match(line)
        if found and line.endswith(b"\n"):
            yield found.group(1).decode("utf-8", "replace")


def read(path: Path) -> Iterator[Event]:
    """The events in order; a line that is none is passed over."""
    for line in _lines(path):
        event = parse(line)
        if event is not None:
            yield event


def parse(line: bytes) -> Event | None:
    """The event on a line."""
    try:
        event: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast(Event, event) if isinstance(event, dict) else None


def _lines(path: Path) -> Iterator[bytes]:
    """Whole lines; of a journal that cannot be opened there are none. Whoever wants to append to
    it will hear why."""
    try:
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield line
    except OSError:
        return
