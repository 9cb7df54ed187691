"""The URL of a memory on a server: that of PostgreSQL, and two options of our own at its end."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from holdfast.errors import SettingsError

BUSY_S = 30.0
MOST = 10


class Address(NamedTuple):
    """What PostgreSQL is given, how long one waits, and for how many connections at most."""

    url: str
    wait_s: float = BUSY_S
    connections: int = MOST


def read_address(url: str, wait_s: float | None = None) -> Address:
    """An address as it stands in the settings: `?wait_s=` and `?connections=` are ours."""
    parts = urlsplit(url)
    options = parse_qsl(parts.query, keep_blank_values=True)
    own = {name: text for name, text in options if name in ("wait_s", "connections")}
    if not own:
        return Address(url, BUSY_S if wait_s is None else wait_s)
    others = "&".join(f"{name}={quote(text)}" for name, text in options if name not in own)
    try:
        asked = float(own.get("wait_s", BUSY_S)), int(own.get("connections", MOST))
    except ValueError:
        asked = 0.0, 0
    # Two at least: who writes may have something looked up meanwhile.
    if not 0 < asked[0] <= 3600 or asked[1] < 2:
        raise SettingsError(
            "`wait_s` and `connections` in the address of the store do not fit.",
            "They are seconds, up to 3600, and a number of connections, at least 2.",
        )
    rest = urlunsplit(parts._replace(query=others))
    return Address(rest, asked[0] if wait_s is None else wait_s, asked[1])


def place_of(url: str) -> str:
    """Where a memory lies, without who may open it."""
    parts = urlsplit(url)
    hosts = parts.netloc.rpartition("@")[2] or "this machine"
    return f"postgresql://{hosts}/{parts.path.lstrip('/')}"
