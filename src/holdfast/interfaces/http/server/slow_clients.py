"""Limits for slow clients: a connection that does not send the head of a request in time is closed,
one address cannot hold all connections, and those without a key leave room for those with one.

Where there is no room for a new connection, the oldest without a key is closed for it: whoever has
a key shows it at once, so a connection that has waited longest belongs to nobody.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# A client sends the head of a request at once; this leaves time for bad networks. The nginx
# configuration in the deployment guide uses the same number.
HEAD_TIMEOUT_S = 15.0
# Of the thousand connections of a server. Trusted proxies are exempt: they speak for many clients
# and count them themselves.
MAX_CONNECTIONS_PER_CLIENT = 250
# Connections that have shown no key yet, of all clients; half of those of a server.
MAX_CONNECTIONS_WITHOUT_KEY = 500


class HeadTimeoutProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 with a time limit for the head of a request. uvicorn makes one for every
    connection, so the limits are attributes of the class."""

    head_timeout_s = HEAD_TIMEOUT_S
    max_connections_per_client = MAX_CONNECTIONS_PER_CLIENT
    max_connections_without_key = MAX_CONNECTIONS_WITHOUT_KEY
    _head_timer: asyncio.TimerHandle | None = None
    _opened_at = 0.0
    _has_shown_key = False

    def connection_made(self, transport: Any) -> None:
        """Start the timer, and close another connection if there are too many."""
        super().connection_made(transport)
        self._opened_at = self.loop.time()
        if not self._is_trusted:
            self._make_room()
        if not self.transport.is_closing():
            self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Stop the timer once the head of a request is complete."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._start_timer()
        else:
            self._stop_timer()

    def on_response_complete(self) -> None:
        """Remember that a key was shown, until the connection ends."""
        self._has_shown_key = self._has_key
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def _is_trusted(self) -> bool:
        """Whether this is a proxy, or a socket that has no address."""
        trusted = self.config.forwarded_allow_ips if self.config.proxy_headers else ()
        return not self._address or self._address in (trusted or ())

    @property
    def _has_key(self) -> bool:
        """Whether this connection has shown a key; the guard names its principal in the request."""
        scope: Any = self.scope  # None before the first request
        return self._has_shown_key or (scope is not None and "principal" in scope)

    def _make_room(self) -> None:
        """Close the oldest other connection without a key if there are too many: of this client, or
        of all those without a key. Where this client has only connections with a key, the new one
        is closed."""
        connections: set[Any] = self.connections
        open_ones = [
            one
            for one in connections
            if isinstance(one, HeadTimeoutProtocol)
            and not one.transport.is_closing()
            and not one._is_trusted
        ]
        own = [one for one in open_ones if one._address == self._address]
        keyless = [one for one in open_ones if not one._has_key]
        if len(own) > self.max_connections_per_client:
            closable = [one for one in own if one in keyless and one is not self]
        elif len(keyless) > self.max_connections_without_key:
            closable = [one for one in keyless if one is not self]
        else:
            return
        oldest = min(closable, key=lambda one: one._opened_at, default=self)
        oldest.transport.abort()

    def _start_timer(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_timeout_s, self._close_if_idle)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _close_if_idle(self) -> None:
        self._head_timer = None
        cycle: Any = self.cycle  # None before the first request
        busy = cycle is not None and not cycle.response_complete
        if not busy and not self.transport.is_closing():
            self.transport.close()


class LoopbackProtocol(HeadTimeoutProtocol):
    """The same for a server that only this machine can reach. Every client has the address of this
    machine there, or as many of 127.0.0.0/8 as it likes, so addresses tell nothing."""

    # All that the server takes.
    max_connections_per_client = 500
    # A browser opens six at a time.
    max_connections_without_key = 100
