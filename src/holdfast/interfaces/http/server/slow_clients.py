"""A connection that must come to the point: who opens one and never finishes a request is hung up
on, and nobody has more than a part of them, so that nobody can hold them all."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 15.0
# Of a thousand that a server has. A proxy that we trust speaks for many, and counts them itself.
MOST_OF_ONE = 250


class Impatient(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with an end to waiting for the head of a request."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Somebody is there."""
        super().connection_made(transport)
        if self._has_too_many():
            self.transport.abort()
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        """Something came: the whole head of a request, or a piece of one."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _has_too_many(self) -> bool:
        mine = self.client[0] if self.client else ""
        trusted = self.config.forwarded_allow_ips if self.config.proxy_headers else ()
        if not mine or mine in (trusted or ()):
            return False
        clients: list[Any] = [getattr(one, "client", None) for one in self.connections]
        return sum(bool(client) and client[0] == mine for client in clients) > MOST_OF_ONE

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_S, self._hang_up)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _hang_up(self) -> None:
        self._waiting = None
        cycle: Any = self.cycle  # None before the first request
        busy = cycle is not None and not cycle.response_complete
        if not busy and not self.transport.is_closing():
            self.transport.close()
