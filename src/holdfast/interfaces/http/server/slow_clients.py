"""Limits for slow clients: a connection that does not send the head of a request in time is closed,
and one address cannot hold all connections."""

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


class HeadTimeoutProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 with a time limit for the head of a request. uvicorn makes one for every
    connection, so the limits are attributes of the class."""

    head_timeout_s = HEAD_TIMEOUT_S
    max_connections_per_client = MAX_CONNECTIONS_PER_CLIENT
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the timer, or close the connection if the client has too many."""
        super().connection_made(transport)
        if self._has_too_many():
            self.transport.abort()
        else:
            self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Stop the timer once the head of a request is complete."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._start_timer()
        else:
            self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def _has_too_many(self) -> bool:
        address = self.client[0] if self.client else ""
        trusted = self.config.forwarded_allow_ips if self.config.proxy_headers else ()
        if not address or address in (trusted or ()):
            return False
        clients: list[Any] = [getattr(one, "client", None) for one in self.connections]
        return (
            sum(bool(client) and client[0] == address for client in clients)
            > self.max_connections_per_client
        )

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
