"""The token that a client over HTTP must show: in a file that its owner alone can read.

It stays the same from run to run, so that a client has to be told once. Whoever removes the file
gets a new one.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from holdfast.errors import InputError

FILE = "mcp.token"
_BYTES = 32
_MIN_CHARS = 20


def token_file(home: Path) -> Path:
    """Where the token lies."""
    return home / FILE


def read_or_make_token(home: Path) -> str:
    """The token; made where there is none."""
    path = token_file(home)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with suppress(FileExistsError):
        beside = path.with_name(f"{FILE}.{os.getpid()}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(beside, flags, 0o600), "w", encoding="ascii") as file:
            file.write(f"{secrets.token_urlsafe(_BYTES)}\n")
        try:
            # A link, not a move: whoever was first stays first, and nobody reads half of it.
            os.link(beside, path)
        finally:
            beside.unlink()
    try:
        seen, told = path.lstat(), path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read.", "Remove it; a new one is made.") from error
    if seen.st_mode & 0o077 or seen.st_uid != os.getuid():
        raise InputError(f"{path} can be read by others than you.", "Remove it; a new one is made.")
    if len(told) < _MIN_CHARS:
        raise InputError(f"{path} holds no token.", "Remove it; a new one is made.")
    return told
