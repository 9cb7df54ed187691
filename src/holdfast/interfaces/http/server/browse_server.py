"""`holdfast browse`: a server on the loopback address that stops by itself when it is idle."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from typing import NamedTuple

import uvicorn

from holdfast.app.core.token import read_or_make_token, token_file
from holdfast.interfaces.http.app import WebApp
from holdfast.interfaces.http.auth.browser_token import OwnerKeys
from holdfast.interfaces.http.auth.guard import GuardRules
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.server.sockets import open_socket, start, uvicorn_config
from holdfast.settings import Settings

ADDRESS = "127.0.0.1"
# How late an idle server notices that it should stop.
_IDLE_CHECK_S = 1.0
# How long requests may take to finish when the server stops.
_SHUTDOWN_S = 5
# Connections of one user's browser tabs and programs.
_MAX_CONNECTIONS = 500


class Address(NamedTuple):
    """Where a server answers: a link for one browser, and the file with the token for programs."""

    url: str
    enter: str
    token_file: str


def serve(settings: Settings, port: int, idle_s: float, ready: Callable[[Address], None]) -> None:
    """Serve until stopped, or until there was no request for `idle_s` seconds."""
    listening = listen(port)
    port = listening.getsockname()[1]
    keys = OwnerKeys(read_or_make_token(settings.home))
    hosts = frozenset(f"{name}:{port}" for name in (ADDRESS, "localhost"))
    web = WebApp(MemoryPool(settings), keys, GuardRules(hosts))
    server = uvicorn.Server(uvicorn_config(web.guard, _MAX_CONNECTIONS, _SHUTDOWN_S))
    url = f"http://{ADDRESS}:{port}"
    enter = f"{url}/enter?key={keys.make_link_key()}"
    address = Address(url, enter, str(token_file(settings.home)))

    async def run() -> None:
        serving = await start(server, listening)
        if server.started:
            ready(address)
        while not serving.done():
            await asyncio.sleep(_IDLE_CHECK_S)
            if idle_s and time.monotonic() - web.guard.last_request > idle_s:
                server.should_exit = True
            if server.should_exit:
                web.streams.close()
        await serving

    asyncio.run(run())


def listen(port: int) -> socket.socket:
    """A socket on this machine."""
    return open_socket(ADDRESS, port, 128, f"Port {port}", "Choose another one, or 0 for any.")
