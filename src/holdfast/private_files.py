"""Files that only their owner can read, replaced in one step."""

from __future__ import annotations

import os
from pathlib import Path

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0)
# A link that somebody else put in place of the file is not followed.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def write_private(path: Path, data: bytes, sync: bool = False) -> None:
    """Write a file that only its owner can read. A reader sees the old content or the new, never a
    part of it; with `sync` that holds after a power failure, too."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, _FLAGS | _NO_LINK, 0o600), "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def file_identity(path: Path) -> tuple[int, int] | None:
    """A value that differs between two files that had the same path; None if there is no file."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
