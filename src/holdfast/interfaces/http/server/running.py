"""What both servers do: listen, run until a signal comes or nobody asks any more, and shut down."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn

from holdfast.errors import InputError
from holdfast.interfaces.http.app import WebApp
from holdfast.interfaces.http.core.memory_pool import MemoryPool

# How late an idle server notices that it should stop.
_IDLE_CHECK_S = 1.0
# How long running tasks may take when the server stops; queries are interrupted after half of it.
_SHUTDOWN_S = 6.0


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signals to us, so that a signal is a normal end."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Catch nothing."""
        yield


def open_socket(host: str, port: int, backlog: int, name: str, remedy: str) -> socket.socket:
    """A listening socket; `name` and `remedy` are for the error if the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # uvicorn sets TCP_NODELAY only if the protocol is given here; without it responses are delayed.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise InputError(f"{name} cannot be used: {error}.", remedy) from error
    listening.listen(backlog)
    listening.setblocking(False)
    return listening


async def run(
    web: WebApp,
    listening: Sequence[socket.socket],
    ready: Callable[[], object],
    ending: Callable[[], object] = lambda: None,
    idle_s: float = 0.0,
    **options: Any,
) -> None:
    """Serve until a signal, or until there was no request for `idle_s` seconds. `ready` is called
    once the server answers, and `ending` when it begins to stop; `options` are those of uvicorn."""
    config = uvicorn.Config(
        web.guard,
        log_level="critical",
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=65_536,
        http="h11",
        ws="none",
        lifespan="off",
        **options,
    )
    server = _Server(config)

    def end() -> None:
        if not server.should_exit:
            server.should_exit = True
            ending()
            web.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        # Windows' event loop has no such handlers; there Ctrl+C ends the server at once.
        with suppress(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(number, end)
    serving = asyncio.create_task(server.serve([*listening]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    if server.started:
        ready()
    while not serving.done():
        await asyncio.wait((serving,), timeout=_IDLE_CHECK_S)
        if idle_s and time.monotonic() - web.guard.last_request > idle_s:
            end()
    await serving


async def shut_down(
    pool: MemoryPool, ended: Callable[[bool], object] = lambda aborted: None
) -> None:
    """Let running tasks finish for a while, then interrupt their queries, then end the process.
    That leaves nothing half-written, because every change is one transaction. `ended` is told
    whether tasks still run."""
    pool.stop_accepting()
    begun = time.monotonic()
    while pool.is_busy and time.monotonic() - begun < _SHUTDOWN_S:
        await asyncio.sleep(0.05)
        if time.monotonic() - begun > _SHUTDOWN_S / 2:
            pool.interrupt_queries()
    ended(pool.is_busy)
    if pool.is_busy:
        pool.interrupt_queries()
        sys.stdout.flush()
        os._exit(0)
    pool.close()
