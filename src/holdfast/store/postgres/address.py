"""The URL of a memory on a server: PostgreSQL's, with options of Holdfast at its end."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from holdfast.errors import SettingsError

# How long a writer waits for another one, as long as with a file.
BUSY_S = 30.0
# Connections of one process. More let more threads read at once, and use up those of the server,
# which has 100 unless it is configured otherwise.
MAX_CONNECTIONS = 10
_OPTIONS = ("wait_s", "connections", "schema", "partitions")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


class Address(NamedTuple):
    """The URL that PostgreSQL gets; how long is waited for a lock or a connection; how many
    connections a process has at most; the schema of the tables; and into how many partitions large
    tables are split when they are made (0: none)."""

    url: str
    wait_s: float = BUSY_S
    connections: int = MAX_CONNECTIONS
    schema: str = "holdfast"
    partitions: int = 0


def read_address(url: str, wait_s: float | None = None) -> Address:
    """Parse an address as the settings have it."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    own = {name: options.pop(name) for name in _OPTIONS if name in options}
    if own:
        query = "&".join(f"{name}={quote(text)}" for name, text in options.items())
        url = urlunsplit(parts._replace(query=query))
    try:
        numbers = {name: int(own[name]) for name in ("connections", "partitions") if name in own}
        seconds = float(own.get("wait_s", BUSY_S)) if wait_s is None else wait_s
        address = Address(url, seconds, schema=own.get("schema", "holdfast"), **numbers)
        # Two connections at least: a thread may read while another writes.
        fits = address.connections >= 2 and 0 <= address.partitions <= 1000
        if fits and 0 < seconds <= 3600 and _SCHEMA.fullmatch(address.schema):
            return address
    except ValueError:
        pass
    raise SettingsError(
        f"{', '.join(own)} in the address of the store: one of these does not fit.",
        "wait_s is seconds, up to 3600; connections at least 2; partitions at most 1000; and "
        "a schema's name has small letters, digits and _.",
    )


def location_of(url: str) -> str:
    """The server and database of a URL, without user and password, for messages."""
    parts = urlsplit(url)
    hosts = parts.netloc.rpartition("@")[2] or "this machine"
    return f"postgresql://{hosts}/{parts.path.lstrip('/')}"
