"""Server-sent events: what is told as it happens, to whoever listens, until they go away.

A stream says something now and then though nothing happens, so that a listener that vanished is
noticed; what it held is let go of then. When the server ends, so do all streams.
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

MOST_LISTENERS = 100
HEARTBEAT_S = 15.0


class Told(NamedTuple):
    """One event: what it is called, what it says, and the number to go on behind it."""

    event: str
    data: Any
    id: str = ""


class Streams:
    """All streams of one server."""

    def __init__(self, admits: Callable[[Principal], Awaitable[bool]]) -> None:
        """`admits` tells whether somebody may still listen."""
        self.listeners = 0
        self._admits = admits
        self._over = asyncio.Event()

    def close(self) -> None:
        """End them all."""
        self._over.set()

    def answer(self, events: AsyncGenerator[Told]) -> StreamingResponse:
        """A stream of events as an answer."""
        if self.listeners >= MOST_LISTENERS:
            raise BusyError("Too many are listening.", "Close a page, or try again later.")
        told = self._written(events, principal())
        return StreamingResponse(told, media_type="text/event-stream")

    async def _written(self, events: AsyncGenerator[Told], who: Principal) -> AsyncGenerator[str]:
        self.listeners += 1
        over = asyncio.create_task(self._over.wait())
        coming: asyncio.Task[Told | None] | None = None
        try:
            yield ": listening\n\n"
            while not over.done():
                coming = coming or asyncio.create_task(_next(events))
                await asyncio.wait(
                    (coming, over), timeout=HEARTBEAT_S, return_when=asyncio.FIRST_COMPLETED
                )
                if not await self._admits(who):
                    return
                if not coming.done():
                    yield ": still here\n\n"
                    continue
                told = coming.result()
                coming = None
                if told is None:
                    return
                yield written(told)
        finally:
            self.listeners -= 1
            over.cancel()
            if coming is not None and not coming.done():
                coming.cancel()
                await asyncio.wait((coming,))
            await events.aclose()


async def _next(events: AsyncGenerator[Told]) -> Told | None:
    return await anext(events, None)


def written(told: Told) -> str:
    """An event as it goes over the wire."""
    head = f"id: {told.id}\n" if told.id else ""
    data = json.dumps(told.data, ensure_ascii=False, separators=(",", ":"))
    return f"{head}event: {told.event}\ndata: {data}\n\n"
