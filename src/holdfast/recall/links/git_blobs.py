"""Files by the name that git has for what they hold."""

from __future__ import annotations

import hashlib

from holdfast.recall.links.disk_check import MAX_FILE_BYTES


def has_blob(path: str, blob: str) -> bool:
    """Whether a file holds what git knows by this name, whatever its line ends; True where that
    cannot be told."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            content = file.read(MAX_FILE_BYTES)
    except OSError:
        return True
    return blob in (_name(content, blob), _name(content.replace(b"\r\n", b"\n"), blob))


def _name(content: bytes, like: str) -> str:
    head = b"blob %d\x00" % len(content)
    made = hashlib.sha1(usedforsecurity=False) if len(like) == 40 else hashlib.sha256()
    made.update(head + content)
    return made.hexdigest()
