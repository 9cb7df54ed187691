"""The bounded request against real servers on this machine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager

import pytest

from holdfast.http_client import (
    HttpError,
    HttpTimeoutError,
    HttpTooLargeError,
    Limits,
    Request,
    is_loopback,
    send,
)

LIMITS = Limits(wait_s=10, total_s=10, max_bytes=1000)


@contextmanager
def listening(answer: Callable[[socket.socket], None]) -> Generator[tuple[int, list[str]]]:
    """A port of this machine, and the requests that came to it."""
    received: list[str] = []

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client:
                received.append(client.recv(65_536).decode("ascii"))
                try:
                    answer(client)
                except OSError:
                    continue

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1], received
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(60)


def sends(text: str) -> Callable[[socket.socket], None]:
    return lambda client: client.sendall(text.encode("ascii"))


def test_a_response_is_read_completely_whatever_its_status() -> None:
    head = "HTTP/1.1 429 Slow Down\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\n"
    with listening(sends(head + "wait")) as (port, received):
        request = Request("POST", f"http://127.0.0.1:{port}/a?b=c#d", {"X-Own": "1"}, b"body")
        reply = send(request, LIMITS)
    assert (reply.status, reply.reason, reply.body) == (429, "Slow Down", b"wait")
    assert reply.retry_after_s == 7.0
    assert received[0].startswith("POST /a?b=c HTTP/1.1\r\n") and "X-Own: 1\r\n" in received[0]


def test_a_redirect_is_returned_and_not_followed() -> None:
    with listening(sends("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")) as (
        port,
        received,
    ):
        assert send(Request("GET", f"http://127.0.0.1:{port}/a", {}), LIMITS).status == 302
    assert len(received) == 1


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("HTTP/1.1 200 OK\r\n\r\n" + "x" * 1001, HttpTooLargeError),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", HttpError),
        ("SSH-2.0-OpenSSH_9.6\r\n", HttpError),
        ("", HttpError),
    ],
)
def test_a_response_that_is_too_large_or_not_http_is_an_error(
    text: str, error: type[HttpError]
) -> None:
    with listening(sends(text)) as (port, _), pytest.raises(error) as raised:
        send(Request("GET", f"http://127.0.0.1:{port}", {}), LIMITS)
    assert type(raised.value) is error and raised.value.message.startswith("it ")


def test_a_server_that_sends_too_slowly_is_cut_off_at_the_deadline() -> None:
    over = threading.Event()

    def trickle(client: socket.socket) -> None:
        while not over.wait(0.02):
            client.sendall(b"H")

    with listening(trickle) as (port, _):
        with pytest.raises(HttpTimeoutError, match=r"it did not answer within 0\.2 s"):
            send(Request("GET", f"http://127.0.0.1:{port}", {}), LIMITS._replace(total_s=0.2))
        over.set()


def test_an_invalid_url_is_an_error() -> None:
    with pytest.raises(HttpError):
        send(Request("GET", "http://127.0.0.1:port/", {}), LIMITS)


@pytest.mark.slow
def test_a_proxy_is_used_only_where_the_caller_allows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(sends("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) as (port, received):
        for name in ("http_proxy", "https_proxy"):
            monkeypatch.setenv(name, f"http://me:p%40ss@127.0.0.1:{port}")
        monkeypatch.setenv("no_proxy", "near.invalid")
        plain = Request("GET", "http://far.example/a", {"X-Own": "1"})
        assert send(plain, LIMITS, use_proxy=True).body == b"ok"
        with pytest.raises(HttpError):  # the proxy does not speak TLS behind its CONNECT
            send(Request("GET", "https://far.example/a", {}), LIMITS, use_proxy=True)
        for host, use_proxy in (("far.invalid", False), ("near.invalid", True)):
            with pytest.raises(HttpError):
                send(Request("GET", f"http://{host}/", {}), LIMITS, use_proxy=use_proxy)
    assert received[0].startswith("GET http://far.example/a HTTP/1.1\r\nHost: far.example\r\n")
    assert received[1].startswith("CONNECT far.example:443 HTTP/1.")
    assert all("Proxy-Authorization: Basic bWU6cEBzcw==" in text for text in received[:2])
    assert "X-Own" not in received[1] and len(received) == 2


@pytest.mark.parametrize(
    ("host", "expected"),
    [("localhost", True), ("127.0.0.2", True), ("::1", True), ("10.0.0.1", False), ("a.b", False)],
)
def test_loopback_addresses_are_recognised_as_this_machine(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
