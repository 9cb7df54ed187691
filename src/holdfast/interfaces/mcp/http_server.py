"""`holdfast mcp --http`: the server over streamable HTTP on the standard library.

It listens on the loopback address only and requires a bearer token. A request whose Host or Origin
is not of this machine is refused, because a page in a browser could otherwise send one. All
sessions share the threads that answer. The rules of the protocol are in `streamable_http`.
"""

from __future__ import annotations

import hmac
import queue
import select
import sys
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import MSG_PEEK, SHUT_RDWR, socket
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from holdfast.errors import BusyError, HoldfastError, InputError, NotFoundError
from holdfast.interfaces.mcp.connection_room import (
    HEAD_TIMEOUT_S,
    MAX_LOCAL_WITHOUT_KEY,
    MESSAGES,
    REMEDY,
    RETRY_AFTER_S,
    STATUS,
    RoomLimits,
    find_crowd,
)
from holdfast.interfaces.mcp.jsonrpc import (
    BUSY,
    INVALID_REQUEST,
    MAX_LINE_CHARS,
    Message,
    RpcError,
    encode_error,
    read_messages,
)
from holdfast.interfaces.mcp.server import MAX_PENDING_CALLS, EngineThreads, MessageHandler
from holdfast.interfaces.mcp.server_spec import ServerSpec
from holdfast.interfaces.mcp.streamable_http import (
    CANCELLED,
    JSON_TYPE,
    PATH,
    Post,
    SessionTable,
    check_version,
    is_json,
)

ADDRESS = "127.0.0.1"
_LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
# Sessions belong to keys; here there is one key, the token.
_OWNER = ""
_TOO_LATE = RpcError(BUSY, "It took too long.")


class HttpLimits(NamedTuple):
    """What the clients of this machine can make the server hold or wait for."""

    # Every agent that runs has one session; the idle ones make room for new ones.
    sessions: int = 64
    # Connections each have a thread. Of these, few may be without a key (`connection_room`).
    connections: int = 400
    # A call that has not ended by then is answered with an error.
    call_timeout_s: float = 300.0
    # A connection that has shown the token and asks nothing is closed after this.
    idle_s: float = 60.0
    # How often a waiting request checks whether its client hung up.
    hangup_check_s: float = 0.25


LIMITS = HttpLimits()
_ROOM = RoomLimits(LIMITS.connections, MAX_LOCAL_WITHOUT_KEY, LIMITS.connections)


class _RefusedError(Exception):
    """A request that is refused before its messages are read, and why."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Connection:
    """A connection, as `connection_room` counts it. Every client has the address of this machine,
    or as many of 127.0.0.0/8 as it likes, so addresses tell nothing."""

    address = ADDRESS
    is_trusted = is_busy = False

    def __init__(self, request: socket) -> None:
        self.request = request
        self.opened_at = time.monotonic()
        # Only then is anything of it answered.
        self.has_key = False

    def hang_up(self, why: str) -> None:
        """Say why and close it, from another thread than the one that serves it."""
        error = encode_error(None, RpcError(BUSY, f"{MESSAGES[why]} {REMEDY}")).strip().encode()
        status = HTTPStatus(STATUS[why])
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {JSON_TYPE}\r\n"
            f"Content-Length: {len(error)}\r\nRetry-After: {RETRY_AFTER_S}\r\n"
            "Connection: close\r\n\r\n"
        )
        with suppress(OSError):
            self.request.send(head.encode() + error)
        with suppress(OSError):
            self.request.shutdown(SHUT_RDWR)


class _Line(NamedTuple):
    text: str
    is_answer: bool


Lines = queue.SimpleQueue[_Line]


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    timeout = HEAD_TIMEOUT_S

    @property
    def _server(self) -> HttpServer:
        return cast(HttpServer, self.server)

    def do_POST(self) -> None:
        """Answer a request of any method."""
        try:
            self._check()
            match self.command:
                case "POST":
                    self._post()
                case "DELETE":
                    self._server.sessions.end(self.headers, _OWNER)
                    self._reply(HTTPStatus.NO_CONTENT)
                case _:
                    raise _RefusedError(
                        HTTPStatus.METHOD_NOT_ALLOWED, "This server sends no messages on its own."
                    )
        except (_RefusedError, HoldfastError) as error:
            self._refuse(error)

    do_DELETE = do_GET = do_POST

    def _post(self) -> None:
        post = Post(self._read(), self.headers, self._server.sessions, _OWNER)
        handler = self._server.message_handler(post)
        lines: Lines = queue.SimpleQueue()
        for message in post.messages:
            handler.handle(
                message,
                lambda line: lines.put(_Line(line, is_answer=True)),
                lambda line: lines.put(_Line(line, is_answer=False)),
            )
        try:
            self._answer(post, lines)
        finally:
            handler.cancel_pending()

    def _check(self) -> None:
        """Refuse requests from elsewhere, without the token, or in an unknown version."""
        if not _is_local(f"//{self.headers.get('Host', '')}"):
            raise _RefusedError(HTTPStatus.FORBIDDEN, "This host is not served.")
        origin = self.headers.get("Origin")
        if origin is not None and not _is_local(origin):
            raise _RefusedError(HTTPStatus.FORBIDDEN, "This origin is not served.")
        if urlsplit(self.path).path != PATH:
            raise _RefusedError(HTTPStatus.NOT_FOUND, f"There is only {PATH}.")
        scheme, _, given = self.headers.get("Authorization", "").partition(" ")
        token = self._server.token.encode()
        is_right = hmac.compare_digest(given.strip().encode("utf-8", "replace"), token)
        if scheme.lower() != "bearer" or not is_right:
            raise _RefusedError(HTTPStatus.UNAUTHORIZED, "The token is missing or wrong.")
        self._server.note_key(self.connection)
        self.connection.settimeout(LIMITS.idle_s)
        check_version(self.headers)

    def _read(self) -> list[Message]:
        """The messages of a request."""
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "Content-Length is missing.")
        if int(length[:20]) > MAX_LINE_CHARS:
            raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too long.")
        if not is_json(self.headers.get("Content-Type", "")):
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Send {JSON_TYPE}.")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            self.close_connection = True
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "The request ended early.")
        return read_messages(body.decode("utf-8", "replace"))

    def _answer(self, post: Post, lines: Lines) -> None:
        expected = sum(message.needs_answer for message in post.messages)
        if not expected:
            self._reply(HTTPStatus.ACCEPTED)
        elif post.wants_events:
            self._stream(lines, expected)
        else:
            answers: list[str] = []
            while len(answers) < expected:
                line = self._next_line(lines)
                answers += [line.text] if line.is_answer else []
            body, headers = post.json_response(answers)
            self._reply(HTTPStatus.OK, body.encode(), headers)

    def _stream(self, lines: Lines, expected: int) -> None:
        """Send notifications and answers as they come, up to the last expected answer."""
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        answers = 0
        while answers < expected:
            line = self._next_line(lines)
            answers += line.is_answer
            self.wfile.write(f"event: message\ndata: {line.text.strip()}\n\n".encode())
            self.wfile.flush()

    def _next_line(self, lines: Lines) -> _Line:
        """The next line of an answer; raises ConnectionError if the client hung up."""
        until = time.monotonic() + self._server.call_timeout_s
        while (left := until - time.monotonic()) > 0:
            with suppress(queue.Empty):
                return lines.get(timeout=min(left, LIMITS.hangup_check_s))
            if self._is_client_gone():
                raise ConnectionAbortedError
        return _Line(encode_error(None, _TOO_LATE), is_answer=True)

    def _is_client_gone(self) -> bool:
        """Whether the client hung up. One that sends its next request early has not."""
        ready, _, _ = select.select([self.connection], [], [], 0)
        return bool(ready) and not self.connection.recv(1, MSG_PEEK)

    def _reply(
        self, status: HTTPStatus, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if body:
            self.send_header("Content-Type", JSON_TYPE)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _refuse(self, error: _RefusedError | HoldfastError) -> None:
        """Answer with an error. The rest of the request is not read, so the connection ends."""
        self.close_connection = True
        status = _status(error)
        reason = error.full_text if isinstance(error, HoldfastError) else str(error)
        headers = {"Connection": "close"}
        if status is HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = "Bearer"
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = "POST, DELETE"
        body = encode_error(None, RpcError(INVALID_REQUEST, reason)).strip()
        self._reply(status, body.encode(), headers)

    def version_string(self) -> str:
        """The Server header, without any version."""
        return "holdfast"

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


class HttpServer(ThreadingHTTPServer):
    """Listens on this machine, with a thread for each connection."""

    daemon_threads = True
    # Connections that the kernel holds until they are accepted; enough for a burst of clients.
    request_queue_size = 128

    def __init__(
        self,
        engines: EngineThreads,
        spec: ServerSpec,
        token: str,
        port: int = 0,
        call_timeout_s: float = LIMITS.call_timeout_s,
    ) -> None:
        self.token = token
        self.call_timeout_s = call_timeout_s
        self.sessions = SessionTable(LIMITS.sessions, LIMITS.sessions, MAX_PENDING_CALLS)
        self._engines = engines
        self._spec = spec
        self._connections: dict[socket, _Connection] = {}
        self._lock = threading.Lock()
        try:
            super().__init__((ADDRESS, port), _Handler)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"Port {port} cannot be used: {getattr(error, 'strerror', None) or error}.",
                "Choose another, or 0 for any that is free.",
            ) from error

    @property
    def url(self) -> str:
        """The address that clients use."""
        return f"http://{ADDRESS}:{self.server_port}{PATH}"

    def message_handler(self, post: Post) -> MessageHandler:
        """What answers the messages of one POST."""
        session = post.session
        return MessageHandler(self._spec, self._engines, session.calls, session.client, CANCELLED)

    def note_key(self, request: socket) -> None:
        """Note that a connection has shown the token."""
        with self._lock:
            if request in self._connections:
                self._connections[request].has_key = True

    def process_request(self, request: Any, client_address: Any) -> None:
        """Accept a connection. If there are too many, the oldest that has shown no key has to go,
        or else this one."""
        new = _Connection(request)
        with self._lock:
            self._connections[request] = new
            crowded = find_crowd(new, self._connections.values(), _ROOM)
            refused = None if crowded is None else crowded.oldest or new
            if refused is not None:
                del self._connections[refused.request]
        if crowded is not None and refused is not None:
            refused.hang_up(crowded.why)
        if refused is new:
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._connections.pop(request, None)

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """Report an error, unless the client is simply gone."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def _status(error: _RefusedError | HoldfastError) -> HTTPStatus:
    match error:
        case _RefusedError():
            return error.status
        case NotFoundError():
            return HTTPStatus.NOT_FOUND
        case BusyError():
            return HTTPStatus.SERVICE_UNAVAILABLE
        case _:
            return HTTPStatus.BAD_REQUEST


def _is_local(url: str) -> bool:
    """Whether a URL is of this machine."""
    with suppress(ValueError):
        parts = urlsplit(url)
        return parts.hostname in _LOCAL_HOSTS and "@" not in parts.netloc
    return False
