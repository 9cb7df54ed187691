"""Files that only their owner can read, replaced in one step."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.operating_system import NO_FOLLOW, OPEN_FLAGS, replace_file

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | OPEN_FLAGS | NO_FOLLOW


def write_private(path: Path, data: bytes, sync: bool = False) -> None:
    """Write a file that only its owner can read. A reader sees the old content or the new, never a
    part of it; with `sync` that holds after a power failure, too."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, _FLAGS, 0o600), "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        replace_file(part, path)
    finally:
        part.unlink(missing_ok=True)


def file_identity(path: Path) -> tuple[int, int] | None:
    """A value that differs between two files that had the same path; None if there is no file."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
