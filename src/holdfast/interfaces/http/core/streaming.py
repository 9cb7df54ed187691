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

from holdfast.interfaces.http.core.request_principal import principal
from holdfast.principal import Principal

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
        self._heartbeat_s = heartbeat_s
        self._is_still_valid = is_still_valid
        self._closed = asyncio.Event()

    def close(self) -> None:
        """End all streams."""
        self._closed.set()

    def respond(self, events: AsyncGenerator[ServerEvent]) -> StreamingResponse:
        """A response that streams events."""
        texts = self._texts(events, principal())
        return StreamingResponse(texts, media_type="text/event-stream")

    async def _texts(
        self, events: AsyncGenerator[ServerEvent], listener: Principal
    ) -> AsyncGenerator[str]:
        closed = asyncio.create_task(self._closed.wait())
        awaited: asyncio.Task[ServerEvent | None] | None = None
        try:
            yield ": listening\n\n"
            while not closed.done():
                awaited = awaited or asyncio.create_task(_next(events))
                either = (awaited, closed)
                await asyncio.wait(either, timeout=self._heartbeat_s, return_when="FIRST_COMPLETED")
                if not await self._is_still_valid(listener):
                    return
                if not awaited.done():
                    yield ": still here\n\n"
                    continue
                if (event := awaited.result()) is None:
                    return
                awaited = None
                yield _encode(event)
        finally:
            closed.cancel()
            if awaited is not None and not awaited.done():
                awaited.cancel()
                await asyncio.wait((awaited,))
            await events.aclose()


async def _next(events: AsyncGenerator[ServerEvent]) -> ServerEvent | None:
    return await anext(events, None)


def _encode(event: ServerEvent) -> str:
    """An event in the text format of server-sent events."""
    head = f"id: {event.id}\n" if event.id else ""
    data = json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))
    return f"{head}event: {event.event}\ndata: {data}\n\n"
