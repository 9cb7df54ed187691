"""Whether what we have read of a file is still what it was."""

from __future__ import annotations

import hashlib

from holdfast.sources.byte_source import Openable

FINGERPRINT_BYTES = 4 * 1024 * 1024
_WINDOW = 64 * 1024
_CHUNK = 1024 * 1024


def fingerprint(path: Openable, offset: int) -> str:
    """Hash what precedes `offset`.

    Up to 4 MB every byte counts. Beyond that, evenly spread windows of 64 KB (head and tail
    among them) do, so that looking at a 2 GB file again stays cheap.
    """
    digest = hashlib.blake2b(str(offset).encode(), digest_size=16)
    with path.open("rb") as file:
        if offset <= FINGERPRINT_BYTES:
            left = offset
            while left > 0 and (chunk := file.read(min(_CHUNK, left))):
                digest.update(chunk)
                left -= len(chunk)
        else:
            windows = FINGERPRINT_BYTES // _WINDOW
            step = (offset - _WINDOW) / (windows - 1)
            for number in range(windows):
                file.seek(int(number * step))
                digest.update(file.read(_WINDOW))
    return digest.hexdigest()
