"""Comparing a file with a git blob by its hash."""

from __future__ import annotations

import hashlib

from holdfast.recall.links.disk_check import MAX_FILE_BYTES


def has_blob(path: str, blob: str) -> bool:
    """Whether a file has the content of a git blob, with any line endings; True if the file cannot
    be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            content = file.read(MAX_FILE_BYTES)
    except OSError:
        return True
    unix = content.replace(b"\r\n", b"\n")
    return blob in (_blob_hash(content, blob), _blob_hash(unix, blob))


def _blob_hash(content: bytes, like: str) -> str:
    """The hash that git gives to a content, of the same kind as another."""
    head = b"blob %d\x00" % len(content)
    made = hashlib.sha1(usedforsecurity=False) if len(like) == 40 else hashlib.sha256()
    made.update(head + content)
    return made.hexdigest()
