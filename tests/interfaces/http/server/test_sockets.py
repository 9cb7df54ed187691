"""What a server does with requests that its end breaks off."""

from __future__ import annotations

import asyncio
import json

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.interfaces.http.server.sockets import open_socket, start, uvicorn_config


async def never(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer no request."""
    await asyncio.Event().wait()


async def half(scope: Scope, receive: Receive, send: Send) -> None:
    """Begin an answer, and never end it."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"half", "more_body": True})
    await asyncio.Event().wait()


async def _answer_at_end(app: ASGIApp) -> bytes:
    """All that a client hears whose request still runs when its server ends."""
    listening = open_socket("127.0.0.1", 0, 8, "a port", "")
    server = uvicorn.Server(uvicorn_config(app, 1, lifespan="off"))
    serving = await start(server, listening)
    reader, writer = await asyncio.open_connection(*listening.getsockname())
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    while not server.server_state.tasks:
        await asyncio.sleep(0.01)
    server.should_exit = True
    told = await reader.read()
    writer.close()
    await serving
    return told


def test_a_request_that_the_end_of_a_server_breaks_off_may_be_sent_again() -> None:
    head, _, body = asyncio.run(_answer_at_end(never)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 ") and b"\r\nretry-after: 5" in head
    assert json.loads(body)["error"]["code"] == "ending"


def test_an_answer_that_has_begun_gets_no_second_one() -> None:
    told = asyncio.run(_answer_at_end(half))
    assert told.startswith(b"HTTP/1.1 200 ") and told.count(b"HTTP/1.1") == 1
