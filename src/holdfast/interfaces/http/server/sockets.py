"""What the server for one and the server for many have in common: a socket, and the manner in
which uvicorn answers on it."""

from __future__ import annotations

import socket
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from holdfast.errors import InputError
from holdfast.interfaces.http.server.slow_clients import Impatient


def open_socket(host: str, port: int, backlog: int, name: str, remedy: str) -> socket.socket:
    """A socket that listens there; `name` and `remedy` are for whoever chose a place that cannot
    be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only where the protocol is named are answers sent at once, not held back for more of them.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except (OSError, OverflowError) as error:
        found.close()
        raise InputError(f"{name} cannot be used: {error}.", remedy) from error
    found.listen(backlog)
    found.setblocking(False)
    return found


def manner(app: ASGIApp, most: int, end_s: int, **more: Any) -> uvicorn.Config:
    """For `most` connections at once; who is being answered when we stop has `end_s` seconds."""
    return uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=end_s,
        limit_concurrency=most,
        h11_max_incomplete_event_size=65_536,
        http=Impatient,
        ws="none",
        **more,
    )
