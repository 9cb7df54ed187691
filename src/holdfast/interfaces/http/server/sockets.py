"""The socket and the uvicorn configuration that both servers use."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.errors import InputError
from holdfast.interfaces.http.server.slow_clients import HeadTimeoutProtocol

# When a request that the end of a server broke off should be sent again.
_RETRY_S = 5


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


class ClearLengths:
    """Refuses requests that give their length in two ways: a proxy and a server that choose
    differently see different requests, of which one can be smuggled past the proxy."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        names = {name for name, _ in scope["headers"]} if scope["type"] == "http" else set[bytes]()
        if not {b"content-length", b"transfer-encoding"} <= names:
            await self._app(scope, receive, send)
            return
        error = {
            "code": "two_lengths",
            "message": "The request has Content-Length and Transfer-Encoding.",
            "remedy": "Send one of them.",
        }
        refusal = JSONResponse({"error": error}, 400, {"connection": "close"})
        await refusal(scope, receive, send)


class ToldOfEnding:
    """Answers a request that the end of the server breaks off: it may be sent again."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_answered = False

        async def note(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await send(message)

        try:
            await self._app(scope, receive, note)
        except asyncio.CancelledError:
            if is_answered or scope["type"] != "http":
                raise
            error = {
                "code": "ending",
                "message": "The server is shutting down, before it could answer.",
                "remedy": "Send the request again when it is back.",
            }
            headers = {"connection": "close", "retry-after": str(_RETRY_S)}
            await JSONResponse({"error": error}, 503, headers)(scope, receive, send)


def uvicorn_config(
    app: ASGIApp,
    shutdown_s: int,
    protocol: type[HeadTimeoutProtocol] = HeadTimeoutProtocol,
    **extra: Any,
) -> uvicorn.Config:
    """A configuration. Running requests have `shutdown_s` seconds when the server stops; how many
    connections there may be is an attribute of the protocol."""
    return uvicorn.Config(
        ClearLengths(ToldOfEnding(app)),
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=shutdown_s,
        h11_max_incomplete_event_size=65_536,
        http=protocol,
        ws="none",
        **extra,
    )
