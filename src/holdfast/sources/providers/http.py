"""A provider on the network, spoken to by streamable HTTP on the standard library.

Only over TLS, or on this machine. Nobody is sent on to another address, no proxy is asked, and a
server that trickles is cut off when the time is up.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from socket import SHUT_RDWR
from urllib.parse import urlsplit

from holdfast.errors import ProviderError
from holdfast.sources.providers.rpc import (
    Deadline,
    ByteCounter,
    Object,
    is_answer_to,
    encode_message,
    parse_messages,
    reply_to,
)

_CHUNK = 65_536
_FAREWELL_S = 0.3
_SESSION = "Mcp-Session-Id"
_VERSION = "MCP-Protocol-Version"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_MOST_SESSION = 512


def url_problem(url: str) -> str:
    """Why an address is not asked; "" where it is."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "its address is none"
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        return "its address is none"
    if parts.scheme == "http" and host not in _LOOPBACK:
        return "its address is not encrypted (http:// is for this machine alone)"
    return ""


class HttpTransport:
    """A server that is asked by POST."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        why = url_problem(url)
        if why:
            raise ProviderError(why)
        self._parts = urlsplit(url)
        self._headers = {
            **headers,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._session = ""
        self._meter = ByteCounter()

    def request(self, message: Object, deadline: Deadline) -> Object:
        """Send a request and wait for its answer, which may come in a stream with others."""
        with self._asked("POST", deadline, encode_message(message)) as response:
            self._refuse(response)
            session = response.getheader(_SESSION, "")
            if message["method"] == "initialize" and _is_plain(session):
                self._session = session
            for told in self._messages(response, deadline):
                if is_answer_to(told, message):
                    self._agree(message, told)
                    return told
                owed = reply_to(told)
                if owed is not None:
                    self.notify(owed, deadline)
        raise ProviderError("it closed the connection without an answer")

    def notify(self, message: Object, deadline: Deadline) -> None:
        """Send what needs no answer."""
        with self._asked("POST", deadline, encode_message(message)) as response:
            self._refuse(response)

    def close(self, kindly: bool = True) -> None:
        """Say that the session is over, if anybody listens."""
        if self._session and kindly:
            with suppress(ProviderError), self._asked("DELETE", Deadline(_FAREWELL_S)):
                pass

    def _agree(self, message: Object, told: Object) -> None:
        if message["method"] == "initialize" and isinstance(told.get("result"), dict):
            version: object = told["result"].get("protocolVersion")
            if isinstance(version, str) and _is_plain(version):
                self._headers[_VERSION] = version

    @contextmanager
    def _asked(
        self, method: str, deadline: Deadline, body: bytes | None = None
    ) -> Generator[HTTPResponse]:
        parts, left = self._parts, deadline.left()
        make = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = make(str(parts.hostname), parts.port, timeout=left)
        alarm = threading.Timer(left, _hang_up, (connection,))
        alarm.daemon = True
        alarm.start()
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = {**self._headers, **({_SESSION: self._session} if self._session else {})}
        try:
            connection.request(method, path, body, headers)
            with connection.getresponse() as response:
                yield response
        except (OSError, HTTPException, ValueError) as error:
            deadline.left()
            raise ProviderError("it cannot be reached, or does not speak HTTP") from error
        finally:
            alarm.cancel()
            connection.close()

    def _refuse(self, response: HTTPResponse) -> None:
        status = response.status
        if status in (401, 403):
            raise ProviderError(f"it wants a login that we do not have (HTTP {status})")
        if 300 <= status < 400:
            raise ProviderError(f"it sends us to another address, where we do not go ({status})")
        if not 200 <= status < 300:
            raise ProviderError(f"it refused with HTTP {status}")

    def _messages(self, response: HTTPResponse, deadline: Deadline) -> Generator[Object]:
        kind = response.getheader("Content-Type", "").partition(";")[0].strip().lower()
        if kind == "text/event-stream":
            yield from self._events(response, deadline)
            return
        whole = bytearray()
        while piece := self._piece(response, deadline, len(whole)):
            whole += piece
        yield from parse_messages(bytes(whole))

    def _events(self, response: HTTPResponse, deadline: Deadline) -> Generator[Object]:
        """The messages of a stream of events: each is the `data` lines up to a blank line."""
        pending, data = b"", list[bytes]()
        while piece := self._piece(response, deadline, len(pending) + sum(map(len, data))):
            *lines, pending = (pending + piece).split(b"\n")
            for line in (line.rstrip(b"\r") for line in lines):
                if line.startswith(b"data:"):
                    data.append(line.removeprefix(b"data:").removeprefix(b" "))
                elif not line:
                    yield from parse_messages(b"\n".join(data))
                    data.clear()

    def _piece(self, response: HTTPResponse, deadline: Deadline, pending: int) -> bytes:
        deadline.left()
        piece = response.read1(_CHUNK)
        self._meter.take(len(piece), pending + len(piece))
        return piece


def _hang_up(connection: HTTPConnection) -> None:
    """Wake whoever waits for a server that trickles."""
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(SHUT_RDWR)


def _is_plain(text: str) -> bool:
    """Whether a text can be sent back in a header."""
    return 0 < len(text) <= _MOST_SESSION and text.isascii() and text.isprintable()
