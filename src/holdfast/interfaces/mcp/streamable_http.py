"""The protocol over streamable HTTP: headers, sessions, and which form an answer has.

Both HTTP transports use it: `http_server` (`holdfast mcp --http`, standard library) and
`http/mcp/mcp_endpoint` (`holdfast serve`, FastAPI). They read the request, run the calls, and write
the response. The rules are the same for both:

- Every message is a POST to one path. We never send anything unasked, so GET is not offered.
- `initialize` begins a session; its id is in the response header `Mcp-Session-Id`, and every other
  request must carry it. DELETE ends the session.
- A request with a progress token is answered with server-sent events, any other with JSON, and one
  that needs no answer with 202.
- A call whose client hangs up is cancelled, because its answer could not be delivered later.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from typing import Protocol

from holdfast.errors import BusyError, InputError, NotFoundError
from holdfast.interfaces.mcp.dispatch import ActiveCalls
from holdfast.interfaces.mcp.jsonrpc import (
    PROTOCOL_VERSIONS,
    REQUEST_CANCELLED,
    Message,
    RpcError,
)
from holdfast.interfaces.mcp.server_spec import client_name, progress_token

PATH = "/mcp"
SESSION_HEADER = "Mcp-Session-Id"
_VERSION_HEADER = "MCP-Protocol-Version"
JSON_TYPE = "application/json"
# A cancelled call is owed no answer, but the POST that waits for it must end with one.
CANCELLED = RpcError(REQUEST_CANCELLED, "It was cancelled.")


class Headers(Protocol):
    """The headers of a request, whose names are in any case."""

    def get(self, name: str, /) -> str | None: ...


class McpSession:
    """One client. The ids of its calls are its own.

    A session belongs to the key (`owner`) that began it; for any other key it does not exist.
    """

    def __init__(self, owner: str, client: str, max_calls: int) -> None:
        self.id = secrets.token_urlsafe(24)
        self.owner = owner
        self.client = client
        self.calls = ActiveCalls(max_calls)


class SessionTable:
    """The sessions of one server, the least recently used first.

    When there is no room, an owner's least recently used idle session is dropped. Its client gets
    404 with its next request and begins a new one.
    """

    def __init__(self, max_sessions: int, max_per_owner: int, max_calls: int) -> None:
        """`max_calls` bounds the calls of one session that wait or run at once."""
        self._max_sessions = max_sessions
        self._max_per_owner = max_per_owner
        self._max_calls = max_calls
        self._sessions: dict[str, McpSession] = {}
        self._lock = threading.Lock()

    def begin(self, owner: str, client: str) -> McpSession:
        """A new session; raises `BusyError` if all sessions are busy and there is no room."""
        session = McpSession(owner, client, self._max_calls)
        with self._lock:
            own = [known for known in self._sessions.values() if known.owner == owner]
            if len(own) >= self._max_per_owner:
                self._drop_idle(own)
            elif len(self._sessions) >= self._max_sessions:
                self._drop_idle(list(self._sessions.values()))
            self._sessions[session.id] = session
        return session

    def _drop_idle(self, candidates: Sequence[McpSession]) -> None:
        idle = next((session for session in candidates if not session.calls), None)
        if idle is None:
            raise BusyError("Too many sessions.", "End one, or try again later.")
        del self._sessions[idle.id]

    def find(self, id: str | None, owner: str) -> McpSession:
        """The session that a request names, which is now the most recently used."""
        if id is None:
            raise InputError(f"{SESSION_HEADER} is missing.", "Initialize first.")
        with self._lock:
            found = self._sessions.get(id)
            if found is None or found.owner != owner:
                raise NotFoundError("There is no such session.", "Initialize again.")
            self._sessions[id] = self._sessions.pop(id)
        return found

    def end(self, headers: Headers, owner: str) -> None:
        """End the session that a request names."""
        session = self.find(headers.get(SESSION_HEADER), owner)
        with self._lock:
            self._sessions.pop(session.id, None)


class Post:
    """One POST: its messages, their session, and the form of its response."""

    def __init__(
        self, messages: Sequence[Message], headers: Headers, sessions: SessionTable, owner: str
    ) -> None:
        """Begins a session if the request initializes, else finds the one that it names."""
        self.messages = messages
        first = next((m for m in messages if m.method == "initialize"), None)
        self.begins_session = first is not None
        if first is None:
            self.session = sessions.find(headers.get(SESSION_HEADER), owner)
        else:
            self.session = sessions.begin(owner, client_name(first.params))

    @property
    def wants_events(self) -> bool:
        """Whether it is answered with a stream of events. One that begins a session is not,
        because its response must be JSON with the header that names the session."""
        return not self.begins_session and any(
            message.id is not None and progress_token(message.params) is not None
            for message in self.messages
        )

    def json_response(self, answers: Sequence[str]) -> tuple[str, dict[str, str]]:
        """The body and the headers of a JSON response: the answer to a single message, or a list
        for a batch; a new session is named in a header."""
        bodies = [answer.strip() for answer in answers]
        body = bodies[0] if len(self.messages) == 1 else f"[{','.join(bodies)}]"
        return body, {SESSION_HEADER: self.session.id} if self.begins_session else {}


def check_version(headers: Headers) -> None:
    """Raise `InputError` if a request is in a version of the protocol that we do not speak."""
    version = headers.get(_VERSION_HEADER)
    if version is not None and version not in PROTOCOL_VERSIONS:
        raise InputError("This protocol version is not supported.", f"One of: {PROTOCOL_VERSIONS}.")


def is_json(content_type: str) -> bool:
    """Whether a Content-Type header says JSON."""
    return content_type.partition(";")[0].strip().lower() == JSON_TYPE
