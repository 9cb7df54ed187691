"""The URL of a memory on a server: that of PostgreSQL, and options of our own at its end."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from holdfast.errors import SettingsError

BUSY_S = 30.0
MOST = 10
SCHEMA = "holdfast"
_OWN = ("wait_s", "connections", "schema")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


class Address(NamedTuple):
    """What PostgreSQL is given, how long one waits, for how many connections at most, and the
    schema that the tables are in."""

    url: str
    wait_s: float = BUSY_S
    connections: int = MOST
    schema: str = SCHEMA


def read_address(url: str, wait_s: float | None = None) -> Address:
    """An address as it stands in the settings: `?wait_s=`, `?connections=` and `?schema=` are
    ours."""
    parts = urlsplit(url)
    options = parse_qsl(parts.query, keep_blank_values=True)
    own = {name: text for name, text in options if name in _OWN}
    if not own:
        return Address(url, BUSY_S if wait_s is None else wait_s)
    others = "&".join(f"{name}={quote(text)}" for name, text in options if name not in own)
    try:
        asked = float(own.get("wait_s", BUSY_S)), int(own.get("connections", MOST))
    except ValueError:
        asked = 0.0, 0
    schema = own.get("schema", SCHEMA)
    # Two at least: who writes may have something looked up meanwhile.
    if not 0 < asked[0] <= 3600 or asked[1] < 2 or not _SCHEMA.fullmatch(schema):
        raise SettingsError(
            "`wait_s`, `connections` or `schema` in the address of the store does not fit.",
            "They are seconds, up to 3600; a number of connections, at least 2; and a name of "
            "small letters, digits and _.",
        )
    rest = urlunsplit(parts._replace(query=others))
    return Address(rest, asked[0] if wait_s is None else wait_s, asked[1], schema)


def with_schema(url: str, schema: str) -> str:
    """The same place, but for the schema."""
    return f"{url}{'&' if urlsplit(url).query else '?'}schema={schema}"


def place_of(url: str) -> str:
    """Where a memory lies, without who may open it."""
    parts = urlsplit(url)
    hosts = parts.netloc.rpartition("@")[2] or "this machine"
    return f"postgresql://{hosts}/{parts.path.lstrip('/')}"
