"""The token that an HTTP client must show, in a file that only its owner can read.

It stays the same from run to run, so that a client is configured once. A new one is made if the
file is removed.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from holdfast.errors import InputError
from holdfast.operating_system import is_private

_BYTES = 32  # 256 random bits, 43 characters
# A file with less is damaged; a token that somebody chose must be at least this long.
_MIN_CHARS = 20


def token_file(home: Path) -> Path:
    """Where the token of a home is."""
    return home / "mcp.token"


def read_or_make_token(home: Path) -> str:
    """The token, which is created if there is none. Raises `InputError` if the file is damaged or
    others can read it."""
    path = token_file(home)
    if not path.exists():
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{secrets.token_urlsafe(_BYTES)}\n")
        # A link, not a rename: the first process wins, and no reader sees half a token.
        with suppress(FileExistsError):
            os.link(part, path)
        part.unlink()
    try:
        status, token = path.lstat(), path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read.", "Remove it; a new one is made.") from error
    if not is_private(status):
        raise InputError(f"{path} can be read by other users.", "Remove it; a new one is made.")
    if len(token) < _MIN_CHARS:
        raise InputError(f"{path} contains no token.", "Remove it; a new one is made.")
    return token
