"""The transport to a plugin's MCP server on the network: streamable HTTP.

Only over TLS, or on this machine. Redirects are not followed and no proxy is used.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPResponse
from urllib.parse import urlsplit

from holdfast.errors import ProviderError
from holdfast.http_client import (
    CHUNK_BYTES,
    HttpError,
    Request,
    fits_header,
    is_loopback,
    open_response,
)
from holdfast.sources.providers.rpc import (
    ByteCounter,
    Deadline,
    Object,
    encode_message,
    is_answer_to,
    parse_messages,
    reply_to,
)

# How long the notification at the end of a session may take; its answer is not used.
_CLOSE_TIMEOUT_S = 0.3
_SESSION = "Mcp-Session-Id"
_VERSION = "MCP-Protocol-Version"
# The longest session id or version that is sent back in a header.
_MAX_HEADER_CHARS = 512


def url_problem(url: str) -> str:
    """Why an address is not used; "" where it can be."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "its address is none"
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        return "its address is none"
    if parts.scheme == "http" and not is_loopback(host):
        return "its address is not encrypted (http:// is for this machine alone)"
    return ""


class HttpTransport:
    """Sends each message as a POST request; the answer is JSON or a stream of events."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        problem = url_problem(url)
        if problem:
            raise ProviderError(problem)
        self._url = url
        self._headers = {
            **headers,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._session = ""
        self._counter = ByteCounter()

    def request(self, message: Object, deadline: Deadline) -> Object:
        """Send a request and wait for its answer, which may come in a stream with others."""
        with self._open("POST", deadline, encode_message(message)) as response:
            _check_status(response.status)
            session = response.getheader(_SESSION, "")
            if message["method"] == "initialize" and fits_header(session, _MAX_HEADER_CHARS):
                self._session = session
            for received in self._messages(response, deadline):
                if is_answer_to(received, message):
                    self._note_version(message, received)
                    return received
                reply = reply_to(received)
                if reply is not None:
                    self.notify(reply, deadline)
        raise ProviderError("it closed the connection without an answer")

    def notify(self, message: Object, deadline: Deadline) -> None:
        with self._open("POST", deadline, encode_message(message)) as response:
            _check_status(response.status)

    def close(self, kindly: bool = True) -> None:
        """End the session; with `kindly` the server is notified. Never fails."""
        if self._session and kindly:
            with suppress(ProviderError), self._open("DELETE", Deadline(_CLOSE_TIMEOUT_S)):
                pass

    def _note_version(self, message: Object, answer: Object) -> None:
        """Send the protocol version that was agreed on with every later request."""
        if message["method"] == "initialize" and isinstance(answer.get("result"), dict):
            version: object = answer["result"].get("protocolVersion")
            if isinstance(version, str) and version and fits_header(version, _MAX_HEADER_CHARS):
                self._headers[_VERSION] = version

    @contextmanager
    def _open(
        self, method: str, deadline: Deadline, body: bytes | None = None
    ) -> Generator[HTTPResponse]:
        left_s = deadline.left_s()
        headers = {**self._headers, **({_SESSION: self._session} if self._session else {})}
        try:
            with open_response(Request(method, self._url, headers, body), left_s, left_s) as opened:
                yield opened
        except HttpError as error:
            deadline.left_s()
            raise ProviderError(error.message, error.remedy) from error

    def _messages(self, response: HTTPResponse, deadline: Deadline) -> Generator[Object]:
        kind = response.getheader("Content-Type", "").partition(";")[0].strip().lower()
        if kind == "text/event-stream":
            yield from self._events(response, deadline)
            return
        body = bytearray()
        while piece := self._read_piece(response, deadline, len(body)):
            body += piece
        yield from parse_messages(bytes(body))

    def _events(self, response: HTTPResponse, deadline: Deadline) -> Generator[Object]:
        """The messages of a stream of events: each is the `data` lines up to a blank line."""
        pending, data = b"", list[bytes]()
        while piece := self._read_piece(response, deadline, len(pending) + sum(map(len, data))):
            *lines, pending = (pending + piece).split(b"\n")
            for line in (line.rstrip(b"\r") for line in lines):
                if line.startswith(b"data:"):
                    data.append(line.removeprefix(b"data:").removeprefix(b" "))
                elif not line:
                    yield from parse_messages(b"\n".join(data))
                    data.clear()

    def _read_piece(self, response: HTTPResponse, deadline: Deadline, pending: int) -> bytes:
        deadline.left_s()
        piece = response.read1(CHUNK_BYTES)
        self._counter.add(len(piece), pending + len(piece))
        return piece


def _check_status(status: int) -> None:
    if status in (401, 403):
        raise ProviderError(f"it needs a login (HTTP {status})")
    if 300 <= status < 400:
        raise ProviderError(f"it redirects to another address, which is not followed ({status})")
    if not 200 <= status < 300:
        raise ProviderError(f"it refused with HTTP {status}")
