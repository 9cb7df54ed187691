"""A server on the loopback that ends by itself when nobody asks any more."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from typing import NamedTuple

import uvicorn

from holdfast.app.core.token import read_or_make_token, token_file
from holdfast.interfaces.http.app import Site
from holdfast.interfaces.http.auth.browser_token import Keys
from holdfast.interfaces.http.auth.guard import Rules
from holdfast.interfaces.http.core.memory_pool import Desk
from holdfast.interfaces.http.server.sockets import manner, open_socket
from holdfast.settings import Settings

ADDRESS = "127.0.0.1"
IDLE_S = 1800.0
_LOOK_S = 1.0
_LAST_S = 5


class Address(NamedTuple):
    """Where a server answers: for a browser once, for programs with a token."""

    url: str
    enter: str
    token_file: str


def serve(settings: Settings, port: int, idle_s: float, ready: Callable[[Address], None]) -> None:
    """Serve until stopped, or until nobody asked for `idle_s` seconds."""
    listening = listen(port)
    port = listening.getsockname()[1]
    keys = Keys(read_or_make_token(settings.home))
    hosts = frozenset(f"{name}:{port}" for name in (ADDRESS, "localhost"))
    site = Site(Desk(settings), keys, Rules(hosts))
    server = uvicorn.Server(manner(site.guard, 500, _LAST_S))
    url = f"http://{ADDRESS}:{port}"
    enter = f"{url}/enter?key={keys.make_link_key()}"
    told = Address(url, enter, str(token_file(settings.home)))

    async def run() -> None:
        serving = asyncio.create_task(server.serve([listening]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started:
            ready(told)
        while not serving.done():
            await asyncio.sleep(_LOOK_S)
            if idle_s and time.monotonic() - site.guard.last > idle_s:
                server.should_exit = True
            if server.should_exit:
                site.streams.close()
        await serving

    asyncio.run(run())


def listen(port: int) -> socket.socket:
    """A socket on this machine."""
    return open_socket(ADDRESS, port, 128, f"Port {port}", "Choose another one, or 0 for any.")
