"""Server-sent events.

A stream sends a heartbeat when nothing happens, so that a client that is gone is noticed and its
resources are freed. All streams end with the server, and when the key of a listener is revoked.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, NamedTuple

from starlette.responses import StreamingResponse

from holdfast.errors import BusyError
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.principal import Principal

# Each costs a task and a connection, for as long as a client listens.
MAX_LISTENERS = 100
# Proxies close idle connections, often after 60 seconds; a shorter time only costs more traffic.
HEARTBEAT_S = 15.0


class ServerEvent(NamedTuple):
    """One event: its name, its data, and the id after which a client can resume."""

    event: str
    data: Any
    id: str = ""


class EventStreams:
    """All streams of one server."""

    def __init__(
        self,
        is_still_valid: Callable[[Principal], Awaitable[bool]],
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        """`is_still_valid` tells whether the key of a listener is still valid."""
        self.listeners = 0
        self._heartbeat_s = heartbeat_s
        self._is_still_valid = is_still_valid
        self._closed = asyncio.Event()

    def close(self) -> None:
        """End all streams."""
        self._closed.set()

    def respond(self, events: AsyncGenerator[ServerEvent]) -> StreamingResponse:
        """A response that streams events."""
        if self.listeners >= MAX_LISTENERS:
            raise BusyError("Too many open streams.", "Close a page, or try again later.")
        event = self._write_events(events, principal())
        return StreamingResponse(event, media_type="text/event-stream")

    async def _write_events(
        self, events: AsyncGenerator[ServerEvent], listener: Principal
    ) -> AsyncGenerator[str]:
        self.listeners += 1
        closed = asyncio.create_task(self._closed.wait())
        next_event: asyncio.Task[ServerEvent | None] | None = None
        try:
            yield ": listening\n\n"
            while not closed.done():
                next_event = next_event or asyncio.create_task(_next(events))
                await asyncio.wait(
                    (next_event, closed),
                    timeout=self._heartbeat_s,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if not await self._is_still_valid(listener):
                    return
                if not next_event.done():
                    yield ": still here\n\n"
                    continue
                event = next_event.result()
                next_event = None
                if event is None:
                    return
                yield encode_event(event)
        finally:
            self.listeners -= 1
            closed.cancel()
            if next_event is not None and not next_event.done():
                next_event.cancel()
                await asyncio.wait((next_event,))
            await events.aclose()


async def _next(events: AsyncGenerator[ServerEvent]) -> ServerEvent | None:
    return await anext(events, None)


def encode_event(event: ServerEvent) -> str:
    """An event in the text format of server-sent events."""
    head = f"id: {event.id}\n" if event.id else ""
    data = json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))
    return f"{head}event: {event.event}\ndata: {data}\n\n"
