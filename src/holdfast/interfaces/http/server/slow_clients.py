"""Limits for connections of uvicorn: one that does not send the head of a request in time is
closed, and where there is no room for a new one, `connection_room` says which has to go. Whoever
has to go is told so, with 429 or 503 and when to come again.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import h11
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

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

# How long a connection that will be refused has for the head of its request: it holds a file
# descriptor until then.
_REFUSED_HEAD_TIMEOUT_S = 2.0
# Of the thousand connections of a server. Trusted proxies are exempt: they speak for many clients
# and count them themselves.
MAX_CONNECTIONS_PER_CLIENT = 250
# Connections that have shown no key yet, of all clients; half of those of a server.
MAX_CONNECTIONS_WITHOUT_KEY = 500
MAX_CONNECTIONS = 1000
# Connections that were told to go and are not closed yet; beyond that they are closed at once, so
# that a flood of them takes no room.
_MAX_LINGERING = 100
_lingering: set[H11Protocol] = set()
# Under load connections are refused by the thousand; the log has one line for all of a minute.
_LOG_INTERVAL_S = 60.0
_REASONS = {429: "Too Many Requests", 503: "Service Unavailable"}


class RefusedConnections:
    """Counts the connections that were refused, by reason, and logs their number once a minute."""

    def __init__(
        self,
        counts: Counter[str],
        log: Callable[[Counter[str]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._counts = counts
        self._log = log
        self._clock = clock
        self._unlogged: Counter[str] = Counter()
        self._logged_at: float | None = None

    def add(self, why: str) -> None:
        """Count one."""
        self._counts[why] += 1
        self._unlogged[why] += 1
        now = self._clock()
        if self._logged_at is None or now - self._logged_at >= _LOG_INTERVAL_S:
            self._logged_at = now
            self._log(self._unlogged)
            self._unlogged = Counter()


class _Refusal:
    """Answers every request with the reason why its connection has no room."""

    def __init__(self, why: str) -> None:
        error = {
            "code": "too_many_connections",
            "message": MESSAGES[why],
            "remedy": REMEDY,
        }
        headers = {"retry-after": str(RETRY_AFTER_S), "connection": "close"}
        self.response = JSONResponse({"error": error}, STATUS[why], headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.response(scope, receive, send)

    def as_bytes(self) -> bytes:
        """The same as it goes over the line, where there was no request."""
        status = self.response.status_code
        lines = [f"HTTP/1.1 {status} {_REASONS[status]}".encode()]
        lines += [name + b": " + value for name, value in self.response.raw_headers]
        return b"\r\n".join(lines) + b"\r\n\r\n" + bytes(self.response.body)


class HeadTimeoutProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 with a time limit for the head of a request. uvicorn makes one for every
    connection, so the limits are attributes of the class."""

    head_timeout_s = HEAD_TIMEOUT_S
    max_connections_per_client = MAX_CONNECTIONS_PER_CLIENT
    max_connections_without_key = MAX_CONNECTIONS_WITHOUT_KEY
    max_connections = MAX_CONNECTIONS
    refused_connections: RefusedConnections | None = None
    _head_timer: asyncio.TimerHandle | None = None
    opened_at = 0.0
    _has_shown_key = False
    _is_refused = False
    # Whether it was told to go and what it still sends is ignored.
    _lingers = False

    def connection_made(self, transport: Any) -> None:
        """Start the timer, and close another connection if there are too many."""
        super().connection_made(transport)
        self.opened_at = self.loop.time()
        self._make_room()
        if not self.transport.is_closing():
            self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Stop the timer once the head of a request is complete."""
        if self._lingers:
            return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._start_timer()
        else:
            self._stop_timer()

    def on_response_complete(self) -> None:
        """Remember that a key was shown, until the connection ends."""
        self._has_shown_key = self.has_key
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
        _lingering.discard(self)
        super().connection_lost(exc)

    @property
    def address(self) -> str:
        """The address of the client; "" for a socket that has none."""
        return self.client[0] if self.client else ""

    @property
    def is_trusted(self) -> bool:
        """Whether this is a proxy, or a socket that has no address."""
        trusted = self.config.forwarded_allow_ips if self.config.proxy_headers else ()
        return not self.address or self.address in (trusted or ())

    @property
    def has_key(self) -> bool:
        """Whether this connection has shown a key; the guard names its principal in the request."""
        scope: Any = self.scope  # None before the first request
        return self._has_shown_key or (scope is not None and "principal" in scope)

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered."""
        cycle: Any = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete

    def _make_room(self) -> None:
        """Refuse the oldest other connection without a key if there are too many; where there is
        none that could go, the new one."""
        connections: set[Any] = self.connections
        open_ones = [
            one
            for one in connections
            if isinstance(one, HeadTimeoutProtocol)
            and not one.transport.is_closing()
            and not one._is_refused
        ]
        limits = RoomLimits(
            self.max_connections_per_client, self.max_connections_without_key, self.max_connections
        )
        crowded = find_crowd(self, open_ones, limits)
        if crowded is None:
            return
        if crowded.oldest is not None:
            crowded.oldest._hang_up(crowded.why)
        else:
            self._refuse_requests(crowded.why)

    def _hang_up(self, why: str) -> None:
        """Tell a client that waits for nothing that it has to go, and close its connection. One
        that was answered before is closed as any that was idle for long."""
        self._count_refusal(why)
        self._stop_timer()
        first_request: Any = self.cycle  # None before it
        if first_request is None:
            self.transport.write(_Refusal(why).as_bytes())
        if len(_lingering) >= _MAX_LINGERING or not self.transport.can_write_eof():
            self.transport.close()
            return
        # Closing while something of the client's is unread would reset the connection, and the
        # client might not hear why.
        self._lingers = True
        _lingering.add(self)
        self.connections.discard(self)  # it takes no room
        self.transport.write_eof()
        self.loop.call_later(_REFUSED_HEAD_TIMEOUT_S, self.transport.close)

    def _refuse_requests(self, why: str) -> None:
        """Answer the first request of this connection with a refusal: closing it at once would
        reset it, and its client would never hear why."""
        self._count_refusal(why)
        self._is_refused = True
        self.head_timeout_s = min(self.head_timeout_s, _REFUSED_HEAD_TIMEOUT_S)
        refusal: Any = _Refusal(why)
        self.app = refusal

    def _count_refusal(self, why: str) -> None:
        if self.refused_connections is not None:
            self.refused_connections.add(why)

    def _start_timer(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_timeout_s, self._close_if_idle)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _close_if_idle(self) -> None:
        self._head_timer = None
        if not self.is_busy and not self.transport.is_closing():
            self.transport.close()


class LoopbackProtocol(HeadTimeoutProtocol):
    """The same for a server that only this machine can reach. Every client has the address of this
    machine there, or as many of 127.0.0.0/8 as it likes, so addresses tell nothing."""

    # All that the server takes.
    max_connections_per_client = max_connections = 500
    max_connections_without_key = MAX_LOCAL_WITHOUT_KEY
