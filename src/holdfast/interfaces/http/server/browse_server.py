"""`holdfast browse`: a server on the loopback addresses that stops by itself when it is idle.

While it runs, another `holdfast browse` asks it for a new link, over a socket in the home that only
its owner can use.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from holdfast.app.core.hook_socket import HookSocket, ask_socket
from holdfast.app.core.token import read_or_make_token, token_file
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import InputError
from holdfast.interfaces.http.app import WebApp
from holdfast.interfaces.http.auth.browser_token import OwnerKeys, private_host_name
from holdfast.interfaces.http.auth.guard import GuardRules
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.server.running import open_socket, run, shut_down
from holdfast.settings import Settings

ADDRESS = "127.0.0.1"
_ADDRESS_6 = "::1"
# How long requests may take to finish when the server stops.
_SHUTDOWN_S = 5
# How long a command waits for a running server to hand out a link; it does so between requests.
_LINK_TIMEOUT_S = 5.0
# How many ports are tried until one is free on both loopback addresses.
_PORT_TRIES = 20


class Address(NamedTuple):
    """Where a server answers: a link for one browser, and the file with the token for programs."""

    url: str
    enter: str
    token_file: str


class BrowseOptions(NamedTuple):
    """How a server listens; with `plain` browsers open it as 127.0.0.1, not by a name of its own,
    and the cookie is sent to every port of this machine."""

    port: int = 0
    idle_s: float = 0.0
    plain: bool = False


def serve(settings: Settings, options: BrowseOptions, ready: Callable[[Address], None]) -> None:
    """Serve until stopped, or until there was no request for `idle_s` seconds."""
    listening = listen(options.port)
    port = listening[0].getsockname()[1]
    token = read_or_make_token(settings.home)
    keys = OwnerKeys(token)
    site = f"{ADDRESS if options.plain else private_host_name(token)}:{port}"
    hosts = frozenset({*(f"{name}:{port}" for name in (ADDRESS, "localhost")), site})
    web = WebApp(MemoryPool(settings), keys, GuardRules(hosts, cookie_hosts=frozenset({site})))

    def address() -> Address:
        web.guard.last_request = time.monotonic()
        enter = f"http://{site}/enter?key={keys.make_link_key()}"
        return Address(f"http://{ADDRESS}:{port}", enter, str(token_file(settings.home)))

    links = HookSocket(HomePaths(settings.home).browse_socket, _LinkAnswerer(address))

    async def run_all() -> None:
        # Nothing stands before this server, so nobody may say on whose behalf it is asked.
        how = {"proxy_headers": False, "timeout_graceful_shutdown": _SHUTDOWN_S}
        await run(web, listening, lambda: ready(address()), links.close, options.idle_s, **how)
        await shut_down(web.pool)

    links.start()
    try:
        asyncio.run(run_all())
    finally:
        links.close()


def running_server(settings: Settings, options: BrowseOptions) -> Address | None:
    """A new link of the server that runs for this home; None if none runs, or another port or
    another kind of name is wanted."""
    path = HomePaths(settings.home).browse_socket
    reply = ask_socket(path, {"op": "link"}, _LINK_TIMEOUT_S)
    if reply is None:
        return None
    found = Address(*(str(reply[name]) for name in Address._fields))
    is_plain = urlsplit(found.enter).hostname == ADDRESS
    fits = options.port in (0, urlsplit(found.url).port) and is_plain == options.plain
    return found if fits else None


class _LinkAnswerer:
    """Hands out links, to whoever can use a socket in the home."""

    def __init__(self, address: Callable[[], Address]) -> None:
        self._address = address

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """A new link."""
        if request.get("op") != "link":
            raise InputError("Only links are handed out here.")
        return self._address()._asdict()

    def close(self) -> None:
        """Nothing has to be closed."""


def listen(port: int, tries: int = _PORT_TRIES) -> list[socket.socket]:
    """Sockets on the loopback addresses, on one port. Both are taken, because a browser that looks
    for a name of this machine asks on either, and must not find somebody else on one of them."""
    first = _open(ADDRESS, port)
    try:
        return [first, _open(_ADDRESS_6, first.getsockname()[1])]
    except (InputError, OSError) as error:
        cause = error.__cause__ or error
        if getattr(cause, "errno", 0) in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return [first]  # this machine has no loopback address of IPv6
        first.close()
        if port or tries == 1:
            raise
    return listen(port, tries - 1)


def _open(host: str, port: int) -> socket.socket:
    return open_socket(host, port, 128, f"Port {port}", "Choose another one, or 0 for any.")
