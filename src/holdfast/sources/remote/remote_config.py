"""The remote servers that the user added: one file in the home that only its owner can read.

The file holds their keys, which is why they are not in the settings. Each server has a list of
banks; nothing of other banks is sent to it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from holdfast.errors import InputError
from holdfast.operating_system import is_private
from holdfast.private_files import write_private
from holdfast.regex import regex

_VERSION = 1
# Not http_client.is_loopback: that module brings ssl, which `holdfast share` does not need.
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NAME = regex(r"[a-z0-9][a-z0-9._-]{0,39}")
_KEY = regex(r"[\x21-\x7e]{8,512}")


class Remote(NamedTuple):
    """A server: its address and key, and its banks as pairs of our name and the server's. One that
    is `insecure` may be reached without encryption."""

    name: str
    url: str
    key: str
    banks: tuple[tuple[str, str], ...]
    insecure: bool = False
    added: str = ""

    def __repr__(self) -> str:
        return f"Remote({self.name!r}, {self.url!r}, banks={self.banks!r})"

    def bank_for(self, *names: str) -> str:
        """The server's name of one of our banks, given by its id and names; "" where it is not
        listed."""
        return next((there for here, there in self.banks if here and here in names), "")


def checked_address(url: str, insecure: bool = False) -> str:
    """A normalised address; raises InputError for one that is none, or that is not encrypted."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = None, None, None
    if parts is None or parts.scheme not in ("http", "https") or not host or not _is_bare(url):
        raise InputError(
            "This is not the address of a server.", "Give one such as https://memory.example.com."
        )
    if parts.scheme == "http" and host not in _LOOPBACK and not insecure:
        raise InputError(
            f"The connection to {host} would not be encrypted: the key and all questions could be "
            "read on the way.",
            "Give an address with https://. On a network that only you use: --insecure.",
        )
    netloc = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{netloc}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def _is_bare(url: str) -> bool:
    """Whether an address has no user, no password, no query and no fragment."""
    return not any(sign in url for sign in "@?#") and url.isascii() and url.strip().isprintable()


def check_name(name: str) -> str:
    """The name of a server; raises InputError where it is not allowed."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"A server cannot be called {name!r}.",
            "Use lower-case letters, digits, dots and dashes.",
        )
    return name


def default_name(url: str) -> str:
    """The name of a server that the user gave none: its host."""
    host = urlsplit(url).hostname or ""
    return host.lower().replace(":", "-").strip("-.") or "server"


def check_key(key: str) -> str:
    """A key without spaces around it; raises InputError where it is none."""
    key = key.strip()
    if not key:
        raise InputError(
            "No key was given.",
            "Type it when asked, send it to standard input, or set HOLDFAST_REMOTE_KEY.",
        )
    if not _KEY.fullmatch(key):
        raise InputError("This is not a key.", "Copy it as `holdfast key new` printed it.")
    return key


def read_remotes(path: Path) -> list[Remote]:
    """All servers by name; none where there is no file. A file that others can read is refused: its
    keys may be known."""
    try:
        stat = path.stat()
        content: Any = json.loads(path.read_text("utf-8"))
        listed = cast(list[dict[str, Any]], content["remotes"])
        found = [
            Remote(
                check_name(str(one["name"])),
                checked_address(str(one["url"]), insecure=one.get("insecure") is True),
                str(one["key"]),
                tuple((str(here), str(there)) for here, there in one["banks"]),
                one.get("insecure") is True,
                str(one.get("added", "")),
            )
            for one in listed
        ]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path} cannot be read.", "Remove it, and add your servers again."
        ) from error
    if not is_private(stat):
        raise InputError(
            f"{path} can be read by other users, and contains keys.",
            f"chmod 600 {path}; if others use this machine, ask for new keys.",
        )
    return sorted(found)


def write_remotes(path: Path, remotes: Sequence[Remote]) -> None:
    """Write the list of all servers."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not remotes:
        path.unlink(missing_ok=True)
        return
    content = {"version": _VERSION, "remotes": [one._asdict() for one in sorted(remotes)]}
    write_private(path, json.dumps(content, indent=1).encode())
