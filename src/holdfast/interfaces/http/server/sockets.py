"""The socket and the uvicorn configuration that both servers use."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from holdfast.errors import InputError


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


async def start(server: uvicorn.Server, *listening: socket.socket) -> asyncio.Task[None]:
    """Start a server; returns its task once it answers, or has failed."""
    serving = asyncio.create_task(server.serve([*listening]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    return serving


def uvicorn_config(app: ASGIApp, shutdown_s: int, **extra: Any) -> uvicorn.Config:
    """A configuration. Running requests have `shutdown_s` seconds when the server stops."""
    return uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=shutdown_s,
        h11_max_incomplete_event_size=65_536,
        http="h11",
        ws="none",
        **extra,
    )
