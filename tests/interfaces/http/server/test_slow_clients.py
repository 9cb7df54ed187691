"""Those who begin and never end: they are hung up on, and everybody else is served meanwhile."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.interfaces.http.auth.browser_token import OwnerKeys
from holdfast.interfaces.http.auth.guard import Guard, GuardRules
from holdfast.interfaces.http.server.slow_clients import HeadTimeoutProtocol
from tests.support.waiting import wait_until

TOKEN = "t" * 30
SLOW = "127.0.0.9"


async def _echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Says how much came."""
    if scope["type"] == "http":
        body = await Request(scope, receive).body()
        await PlainTextResponse(str(len(body)))(scope, receive, send)


class Strict(HeadTimeoutProtocol):
    head_timeout_s = 1.0
    max_connections_per_client = 40


class Narrow(HeadTimeoutProtocol):
    max_connections_per_client = 2


@contextmanager
def running(
    app: ASGIApp, protocol: type[HeadTimeoutProtocol] = HeadTimeoutProtocol
) -> Generator[int]:
    """A server of few connections; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(
            app,
            http=protocol,
            log_level="critical",
            limit_concurrency=60,
            lifespan="off",
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: server.run([listening]))
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def asked(port: int, body: bytes = b"") -> tuple[int, bytes]:
    """One request of somebody who does nothing wrong."""
    line = HTTPConnection("127.0.0.1", port, timeout=60)
    line.request("POST", "/", body, {"Authorization": f"Bearer {TOKEN}"})
    got = line.getresponse()
    told = got.status, got.read()
    line.close()
    return told


def ended(line: socket.socket, within_s: float) -> bool:
    """Whether the other side hangs up in time."""
    line.settimeout(within_s)
    with suppress(ConnectionError):
        try:
            while line.recv(4096):
                pass
        except TimeoutError:
            return False
    return True


def test_unfinished_request_headers_do_not_block_others() -> None:
    with running(_echo, Strict) as port, ExitStack() as stack:
        lines: list[socket.socket] = []
        for _ in range(100):  # more than the server has room for
            line = socket.create_connection(("127.0.0.1", port), 60, (SLOW, 0))
            lines.append(stack.enter_context(line))
            with suppress(ConnectionError):
                line.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        assert [asked(port, b"abc") for _ in range(20)] == [(200, b"3")] * 20
        assert all(ended(line, 60) for line in lines)
        assert asked(port) == (200, b"0")


def test_a_trusted_proxy_may_open_more_connections() -> None:
    with running(_echo, Narrow) as port, ExitStack() as stack:
        lines = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), 60)) for _ in range(5)
        ]
        for line in lines:
            with suppress(ConnectionError):
                line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        # uvicorn trusts this machine unless it is told otherwise
        heard = [line.recv(15) for line in lines]
        assert heard == [b"HTTP/1.1 200 OK"] * 5


@contextmanager
def slow_line(app: ASGIApp) -> Generator[tuple[int, socket.socket]]:
    """A server, and a connection of somebody who takes their time."""
    with (
        running(app) as port,
        socket.create_connection(("127.0.0.1", port), 60, (SLOW, 0)) as line,
    ):
        yield port, line


def test_a_body_sent_too_slowly_is_cut_off() -> None:
    """However regularly something comes: the whole must come in time."""
    with slow_line(Guard(_echo, OwnerKeys(TOKEN), GuardRules(body_timeout_s=1.0))) as (port, line):
        head = f"POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
        line.sendall(f"{head}Content-Length: 1000\r\n\r\n".encode())

        def is_ended_by_a_drop() -> bool:
            try:
                line.sendall(b"x")
            except ConnectionError:
                return True
            assert asked(port, b"abc") == (200, b"3")
            return _said(line)

        wait_until(is_ended_by_a_drop, "the server hangs up", every_s=0.1)


def test_who_sends_a_body_too_slowly_is_told_so() -> None:
    async def echo(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(await request.body())))

    site = Starlette(routes=[Route("/", echo, methods=["POST"])])
    rules = GuardRules(body_timeout_s=0.2)
    with slow_line(Guard(site, OwnerKeys(TOKEN), rules)) as (_, line):
        head = f"POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
        line.sendall(f"{head}Content-Length: 1000\r\n\r\nx".encode())
        told = HTTPResponse(line)
        told.begin()
        assert told.status == 408
        assert json.loads(told.read())["error"]["code"] == "slow_body"


def test_a_slow_request_without_a_key_is_refused_at_once() -> None:
    with slow_line(Guard(_echo, OwnerKeys(TOKEN), GuardRules())) as (_, line):
        line.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\nx")
        assert line.recv(12) == b"HTTP/1.1 401"


def _said(line: socket.socket) -> bool:
    """Whether the other side said anything, or hung up."""
    line.setblocking(False)
    try:
        line.recv(4096)
    except BlockingIOError:
        return False
    finally:
        line.setblocking(True)
    return True
