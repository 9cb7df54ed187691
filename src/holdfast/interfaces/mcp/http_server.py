"""The server over streamable HTTP: the same messages, by POST to one address of this machine.

It listens on the loopback alone and wants a bearer token. A request whose Host or Origin is not
of this machine is refused, since a page in a browser could otherwise be made to ask. Each client
has a session; all sessions share the threads that answer. A call that wants to know how far it is
gets a stream of events, any other plain JSON; of a client that hangs up it is taken back, for it
could not be told later. There is nothing that we would say unasked, so nobody can listen by GET.
"""

from __future__ import annotations

import hmac
import json
import queue
import secrets
import select
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import MSG_PEEK, socket
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from holdfast.errors import InputError
from holdfast.interfaces.mcp.jsonrpc import (
    BUSY,
    INVALID_REQUEST,
    MAX_LINE_CHARS,
    PROTOCOL_VERSIONS,
    Message,
    RpcError,
    encode_error,
    read_messages,
)
from holdfast.interfaces.mcp.server import Server
from holdfast.interfaces.mcp.server_spec import ServerSpec, progress_token

PATH = "/mcp"
ADDRESS = "127.0.0.1"
MOST_SESSIONS = 64
MOST_CONNECTIONS = 400
PATIENCE_S = 300.0
IDLE_S = 60.0
_LOOK_S = 0.25
_LOCAL = ("127.0.0.1", "localhost", "::1")
_SESSION = "Mcp-Session-Id"
_CANCELLED = RpcError(-32800, "It was cancelled.")
_LATE = RpcError(BUSY, "It took too long.")
_USED = RpcError(INVALID_REQUEST, "This id is in use.")

Key = tuple[str, object]


class _Refusal(Exception):
    """A request that is not even looked at, and why."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


class _Post:
    """One POST: what it still waits for, and what came of it."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.ids = {key for m in messages if (key := _id_key(m)) is not None}
        tokens = [progress_token(m.params) for m in messages if m.id is not None]
        self.tokens = {_key("token", token) for token in tokens if token is not None}


def _id_key(message: Message) -> Key | None:
    """What the answer to a message is known by; None where it is owed none."""
    if message.id is not None:
        return _key("id", message.id)
    return _key("id", None) if message.error is not None and not message.method else None


def _key(kind: str, value: object) -> Key:
    return f"{kind} {type(value).__name__}", value


class Session:
    """One client. Its ids are its own; the threads that answer are everybody's."""

    def __init__(self, hub: Server, offer: ServerSpec) -> None:
        self.id = secrets.token_urlsafe(24)
        self._server = Server(self._deliver, offer)
        self._server.lanes = hub.lanes
        self._posts: dict[Key, _Post] = {}
        self._lock = threading.Lock()

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits for anything."""
        return not self._posts

    def take(self, messages: Sequence[Message]) -> _Post:
        """Have messages answered; what comes of it arrives in the lines of the post."""
        post = _Post(messages)
        keys = post.ids | post.tokens
        with self._lock:
            if keys & self._posts.keys():
                post.ids.clear()
                post.tokens.clear()
                post.lines.put(encode_error(None, _USED))
                return post
            self._posts |= dict.fromkeys(keys, post)
        for message in messages:
            self._server.handle(message)
            self._end_cancelled(message)
        return post

    def _end_cancelled(self, message: Message) -> None:
        """Who cancels a call is owed no answer by it, but its POST must end."""
        if message.method == "notifications/cancelled":
            id: object = message.params.get("requestId")
            if isinstance(id, str | int):
                self._deliver(encode_error(id, _CANCELLED))

    def leave(self, post: _Post) -> None:
        """Nobody waits for this any more: what is not answered yet is taken back."""
        with self._lock:
            self._posts = {key: held for key, held in self._posts.items() if held is not post}
        for _, id in post.ids:
            if isinstance(id, str | int):
                self._server.take_back(id)

    def _deliver(self, line: str) -> None:
        told = json.loads(line)
        if "method" in told:
            key = _key("token", told["params"].get("progressToken"))
        else:
            key = _key("id", told["id"])
        with self._lock:
            post = self._posts.get(key)
        if post is not None:
            post.lines.put(line)


class Sessions:
    """The clients that are known. The one that was silent longest makes room for a new one; it
    hears that its session is gone, and begins another."""

    def __init__(self, hub: Server, offer: ServerSpec, most: int = MOST_SESSIONS) -> None:
        self._hub = hub
        self._offer = offer
        self._most = most
        self._known: dict[str, Session] = {}
        self._lock = threading.Lock()

    def begin(self) -> Session:
        """A new client."""
        made = Session(self._hub, self._offer)
        with self._lock:
            if len(self._known) >= self._most:
                idle = next((id for id, one in self._known.items() if one.is_idle), None)
                if idle is None:
                    raise _Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "Too many sessions.")
                del self._known[idle]
            self._known[made.id] = made
        return made

    def find(self, id: str) -> Session:
        """A client that came before."""
        with self._lock:
            found = self._known.pop(id, None)
            if found is None:
                raise _Refusal(HTTPStatus.NOT_FOUND, "There is no such session.")
            self._known[id] = found  # now the latest
        return found

    def end(self, id: str) -> None:
        """A client that leaves."""
        self.find(id)
        with self._lock:
            self._known.pop(id, None)


class _Asked(NamedTuple):
    session: Session
    messages: list[Message]
    is_new: bool


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_S

    @property
    def _ours(self) -> HttpServer:
        return cast(HttpServer, self.server)

    def do_POST(self) -> None:
        try:
            self._check()
            asked = self._read()
            post = asked.session.take(asked.messages)
            try:
                self._answer(asked, post)
            finally:
                asked.session.leave(post)
        except _Refusal as refusal:
            self._refuse(refusal)

    def do_DELETE(self) -> None:
        try:
            self._check()
            self._ours.sessions.end(self.headers.get(_SESSION, ""))
            self._reply(HTTPStatus.NO_CONTENT)
        except _Refusal as refusal:
            self._refuse(refusal)

    def do_GET(self) -> None:
        try:
            self._check()
            raise _Refusal(HTTPStatus.METHOD_NOT_ALLOWED, "Nothing is said unasked.")
        except _Refusal as refusal:
            self._refuse(refusal)

    def _check(self) -> None:
        """Who may ask at all."""
        if not _is_local(f"//{self.headers.get('Host', '')}"):
            raise _Refusal(HTTPStatus.FORBIDDEN, "This host is not served.")
        origin = self.headers.get("Origin")
        if origin is not None and not _is_local(origin):
            raise _Refusal(HTTPStatus.FORBIDDEN, "This origin is not served.")
        if urlsplit(self.path).path != PATH:
            raise _Refusal(HTTPStatus.NOT_FOUND, f"There is only {PATH}.")
        kind, _, given = self.headers.get("Authorization", "").partition(" ")
        wanted = self._ours.token.encode()
        right = hmac.compare_digest(given.strip().encode("utf-8", "replace"), wanted)
        if kind.lower() != "bearer" or not right:
            raise _Refusal(HTTPStatus.UNAUTHORIZED, "The token is missing or wrong.")
        version = self.headers.get("MCP-Protocol-Version")
        if version is not None and version not in PROTOCOL_VERSIONS:
            raise _Refusal(HTTPStatus.BAD_REQUEST, "This version of the protocol is not spoken.")

    def _read(self) -> _Asked:
        """The messages of a request, and whose they are."""
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            raise _Refusal(HTTPStatus.LENGTH_REQUIRED, "Say how long it is.")
        if int(length[:20]) > MAX_LINE_CHARS:
            raise _Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "It is too long.")
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise _Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Send application/json.")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            self.close_connection = True
            raise _Refusal(HTTPStatus.BAD_REQUEST, "It ended early.")
        messages = read_messages(body.decode("utf-8", "replace"))
        is_new = any(message.method == "initialize" for message in messages)
        if is_new:
            return _Asked(self._ours.sessions.begin(), messages, True)
        id = self.headers.get(_SESSION)
        if id is None:
            raise _Refusal(HTTPStatus.BAD_REQUEST, f"{_SESSION} is missing; initialize first.")
        return _Asked(self._ours.sessions.find(id), messages, False)

    def _answer(self, asked: _Asked, post: _Post) -> None:
        if not post.ids and post.lines.empty():
            self._reply(HTTPStatus.ACCEPTED)
        elif post.tokens and not asked.is_new:
            self._stream(post)
        else:
            expected = max(1, len(post.ids))
            told = [self._next(post).strip() for _ in range(expected)]
            whole = told[0] if len(asked.messages) == 1 else f"[{','.join(told)}]"
            headers = {_SESSION: asked.session.id} if asked.is_new else {}
            self._reply(HTTPStatus.OK, whole.encode(), headers)

    def _stream(self, post: _Post) -> None:
        """Notices and answers as they come, up to the last answer."""
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        left = len(post.ids)
        while left:
            line = self._next(post)
            left -= "method" not in json.loads(line)
            self.wfile.write(f"event: message\ndata: {line.strip()}\n\n".encode())
            self.wfile.flush()

    def _next(self, post: _Post) -> str:
        """The next line of an answer; raises ConnectionError when nobody is there to hear it."""
        until = time.monotonic() + self._ours.patience_s
        while (left := until - time.monotonic()) > 0:
            with suppress(queue.Empty):
                return post.lines.get(timeout=min(left, _LOOK_S))
            if self._is_gone():
                raise ConnectionAbortedError
        return encode_error(None, _LATE)

    def _is_gone(self) -> bool:
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
            self.send_header("Content-Type", "application/json")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _refuse(self, refusal: _Refusal) -> None:
        """Say no. What the client still sends is not read, so the connection ends."""
        self.close_connection = True
        headers = {"Connection": "close"}
        if refusal.status is HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = "Bearer"
        if refusal.status is HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = "POST, DELETE"
        told = encode_error(None, RpcError(INVALID_REQUEST, refusal.why)).strip()
        self._reply(refusal.status, told.encode(), headers)

    def version_string(self) -> str:
        """Who answers, without the version of anything."""
        return "holdfast"

    def log_message(self, format: str, *args: object) -> None:
        """Requests are nobody's business."""


class HttpServer(ThreadingHTTPServer):
    """Listens on this machine, in a thread for each connection."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, hub: Server, offer: ServerSpec, token: str, port: int = 0, patience_s: float = PATIENCE_S
    ) -> None:
        self.token = token
        self.patience_s = patience_s
        self.sessions = Sessions(hub, offer)
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        try:
            super().__init__((ADDRESS, port), _Handler)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"Port {port} cannot be had: {getattr(error, 'strerror', None) or error}.",
                "Choose another, or 0 for any that is free.",
            ) from error

    @property
    def url(self) -> str:
        """Where it can be asked."""
        return f"http://{ADDRESS}:{self.server_port}{PATH}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Take a connection, as long as there is room for it."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """A client that is gone is no fault."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def _is_local(url: str) -> bool:
    """Whether an address is of this machine."""
    with suppress(ValueError):
        parts = urlsplit(url)
        return parts.hostname in _LOCAL and "@" not in parts.netloc
    return False
