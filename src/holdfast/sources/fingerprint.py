"""Notices that a file changed: a stamp of it, and a hash of the part that was read."""

from __future__ import annotations

import hashlib
import os

from holdfast.sources.lines import Openable

# How much is hashed at most: up to this a file is hashed whole.
FINGERPRINT_BYTES = 4 * 1024 * 1024
_WINDOW_BYTES = 64 * 1024
_CHUNK_BYTES = 1024 * 1024


def stamp_of(stat: os.stat_result) -> str:
    """Size, time and inode of a file. The ledger keeps that of a file that was read to its end."""
    return f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ino}"


def fingerprint(path: Openable, offset: int) -> str:
    """The hash of the bytes before `offset`.

    Up to 4 MB every byte is hashed. Beyond that, evenly spread windows of 64 KB are, the first and
    the last bytes among them, so that checking a file of 2 GB again stays cheap.
    """
    digest = hashlib.blake2b(str(offset).encode(), digest_size=16)
    with path.open("rb") as file:
        if offset <= FINGERPRINT_BYTES:
            left = offset
            while left > 0 and (chunk := file.read(min(_CHUNK_BYTES, left))):
                digest.update(chunk)
                left -= len(chunk)
        else:
            windows = FINGERPRINT_BYTES // _WINDOW_BYTES
            step = (offset - _WINDOW_BYTES) / (windows - 1)
            for number in range(windows):
                file.seek(int(number * step))
                digest.update(file.read(_WINDOW_BYTES))
    return digest.hexdigest()
