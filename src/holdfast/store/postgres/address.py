"""The URL of a memory on a server: that of PostgreSQL, and options of our own at its end."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from holdfast.errors import SettingsError

BUSY_S = 30.0
MAX_CONNECTIONS = 10
SCHEMA = "holdfast"
_OPTIONS = ("wait_s", "connections", "schema", "partitions")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


class Address(NamedTuple):
    """What PostgreSQL is given, how long one waits, for how many connections at most, the schema
    that the tables are in, and into how many partitions large ones are cut when they are made."""

    url: str
    wait_s: float = BUSY_S
    connections: int = MAX_CONNECTIONS
    schema: str = SCHEMA
    partitions: int = 0


def read_address(url: str, wait_s: float | None = None) -> Address:
    """An address as it stands in the settings, with the options that are ours."""
    parts = urlsplit(url)
    options = parse_qsl(parts.query, keep_blank_values=True)
    own = {name: text for name, text in options if name in _OPTIONS}
    if not own:
        return Address(url, BUSY_S if wait_s is None else wait_s)
    others = "&".join(f"{name}={quote(text)}" for name, text in options if name not in own)
    schema = own.get("schema", SCHEMA)
    try:
        seconds = float(own.get("wait_s", BUSY_S))
        most, parts_of = int(own.get("connections", MAX_CONNECTIONS)), int(own.get("partitions", 0))
    except ValueError:
        seconds, most, parts_of = 0.0, 0, 0
    # Two connections at least: who writes may have something looked up meanwhile.
    fits = 0 < seconds <= 3600 and most >= 2 and 0 <= parts_of <= 1000
    if not fits or not _SCHEMA.fullmatch(schema):
        raise SettingsError(
            f"{', '.join(own)} in the address of the store: one of these does not fit.",
            "wait_s is seconds, up to 3600; connections at least 2; partitions at most 1000; and "
            "a schema's name has small letters, digits and _.",
        )
    rest = urlunsplit(parts._replace(query=others))
    return Address(rest, seconds if wait_s is None else wait_s, most, schema, parts_of)


def with_schema(url: str, schema: str) -> str:
    """The same place, but for the schema."""
    return f"{url}{'&' if urlsplit(url).query else '?'}schema={schema}"


def location_of(url: str) -> str:
    """Where a memory lies, without who may open it."""
    parts = urlsplit(url)
    hosts = parts.netloc.rpartition("@")[2] or "this machine"
    return f"postgresql://{hosts}/{parts.path.lstrip('/')}"
