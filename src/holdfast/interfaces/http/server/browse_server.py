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
from contextlib import closing
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import uvicorn

from holdfast.app.core.hook_socket import HookSocket, ask_socket
from holdfast.app.core.token import read_or_make_token, token_file
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import InputError
from holdfast.interfaces.http.app import WebApp
from holdfast.interfaces.http.auth.browser_token import OwnerKeys, private_host_name
from holdfast.interfaces.http.auth.guard import GuardRules
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.server.sockets import open_socket, start, uvicorn_config
from holdfast.settings import Settings

ADDRESS = "127.0.0.1"
_ADDRESS_6 = "::1"
# How late an idle server notices that it should stop.
_IDLE_CHECK_S = 1.0
# How long requests may take to finish when the server stops.
_SHUTDOWN_S = 5
# How long a command waits for a running server to hand out a link; it does so between requests.
_LINK_TIMEOUT_S = 5.0
# How many ports are tried until one is free on both loopback addresses.
_PORT_TRIES = 20


class _Server(uvicorn.Server):
    """A uvicorn server that hands out no more links once it stops. A signal ends the process as
    soon as it has stopped."""

    links: HookSocket | None = None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        if self.links is not None:
            self.links.close()
        await super().shutdown(sockets)


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
    rules = GuardRules(hosts, cookie_hosts=frozenset({site}))
    web = WebApp(MemoryPool(settings), keys, rules)
    server = _Server(
        # Nothing stands before this server, so nobody may say on whose behalf it is asked.
        uvicorn_config(web.guard, _SHUTDOWN_S, proxy_headers=False)
    )

    def address() -> Address:
        web.guard.last_request = time.monotonic()
        enter = f"http://{site}/enter?key={keys.make_link_key()}"
        return Address(f"http://{ADDRESS}:{port}", enter, str(token_file(settings.home)))

    async def run() -> None:
        serving = await start(server, *listening)
        if server.started:
            ready(address())
        while not serving.done():
            await asyncio.sleep(_IDLE_CHECK_S)
            if options.idle_s and time.monotonic() - web.guard.last_request > options.idle_s:
                server.should_exit = True
            if server.should_exit:
                web.streams.close()
        await serving

    server.links = HookSocket(HomePaths(settings.home).browse_socket, _LinkAnswerer(address))
    with closing(server.links):
        server.links.start()
        asyncio.run(run())


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


def listen(port: int) -> list[socket.socket]:
    """Sockets on the loopback addresses, on one port. Both are taken, because a browser that looks
    for a name of this machine asks on either, and must not find somebody else on one of them."""
    for _ in range(_PORT_TRIES):
        first = _open(ADDRESS, port)
        if not _has_ipv6():
            return [first]
        try:
            return [first, _open(_ADDRESS_6, first.getsockname()[1])]
        except InputError:
            first.close()
            if port:
                raise
    raise InputError("No port is free on both 127.0.0.1 and ::1.", "Choose one with --port.")


def _open(host: str, port: int) -> socket.socket:
    return open_socket(host, port, 128, f"Port {port}", "Choose another one, or 0 for any.")


def _has_ipv6() -> bool:
    """Whether this machine has the loopback address of IPv6."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind((_ADDRESS_6, 0))
    except OSError as error:
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return False
        raise
    return True
