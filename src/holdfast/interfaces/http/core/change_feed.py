"""Changes of the memory as a stream of events.

The size and time of the database files are checked once a second for all listeners together, and
only while there are any. The memory is read only when these changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from holdfast.app.answers.research_sessions import database_state
from holdfast.app.memory import Holdfast
from holdfast.app.views.review_queue import count_waiting
from holdfast.errors import HoldfastError
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.core.streaming import ServerEvent

# How late a change is noticed; a check costs a few file system calls.
POLL_INTERVAL_S = 1.0
# The newest sessions are compared to see which changed.
_LATEST_SESSIONS = 20
# Events that wait for a slow listener; then it misses the oldest.
_MAX_UNREAD = 16


class ChangeFeed:
    """The pollers of one server, one for each set of banks that somebody listens to."""

    def __init__(self, pool: MemoryPool) -> None:
        self._pool = pool
        self._pollers: dict[tuple[str, ...] | None, _ChangePoller] = {}

    async def subscribe(self) -> AsyncGenerator[ServerEvent]:
        """The state of the banks that the principal of the request sees, then every change."""
        banks = principal().banks
        poller = self._pollers.setdefault(banks, _ChangePoller(self._pool))
        events = poller.subscribe()
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()
            if not poller.has_listeners:
                self._pollers.pop(banks, None)


class _ChangePoller:
    """Watches one set of banks for all who listen to it."""

    def __init__(self, pool: MemoryPool) -> None:
        self._pool = pool
        self._listeners: set[asyncio.Queue[ServerEvent]] = set()
        self._polling: asyncio.Task[None] | None = None
        self._number = 0

    async def subscribe(self) -> AsyncGenerator[ServerEvent]:
        """The current state, then every change."""
        queue: asyncio.Queue[ServerEvent] = asyncio.Queue(_MAX_UNREAD)
        self._listeners.add(queue)
        try:
            state, _ = await self._pool.read(_memory_state)
            yield ServerEvent("hello", state, str(self._number))
            if self._polling is None or self._polling.done():
                self._polling = asyncio.create_task(self._poll())
            while True:
                yield await queue.get()
        finally:
            self._listeners.discard(queue)
            if not self._listeners and self._polling is not None:
                self._polling.cancel()
                self._polling = None

    @property
    def has_listeners(self) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners)

    async def _poll(self) -> None:
        seen_version = await self._version()
        _, known = await self._pool.read(_memory_state)
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            try:
                version = await self._version()
                if version == seen_version:
                    continue
                state, latest = await self._pool.read(_memory_state)
            except HoldfastError:
                continue  # busy, or being replaced; try again after the next interval
            changed = [one for id, one in latest.items() if known.get(id) != one]
            self._publish({**state, "changed": changed})
            seen_version, known = version, latest

    async def _version(self) -> str:
        """A text that changes when the memory does: from the size and time of the file, or from the
        database server."""
        settings = self._pool.settings
        if settings.store:
            return await self._pool.read(lambda memory: memory.reader.generation())
        return database_state(settings.database)

    def _publish(self, data: dict[str, Any]) -> None:
        self._number += 1
        event = ServerEvent("changed", data, str(self._number))
        for queue in self._listeners:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(event)


def _memory_state(memory: Holdfast) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """The counts of the memory and of what waits for review, and its latest sessions by id."""
    counts = memory.inventory.counts()
    latest = {
        one.id: {"id": one.id, "bank": one.bank, "title": one.title, "ended": one.ended}
        for one in memory.reader.sessions.latest(None, _LATEST_SESSIONS)
    }
    state = {
        "last_event": memory.reader.sessions.last_end() or None,
        "sessions": counts.sessions,
        "turns": counts.turns,
        "exchanges": counts.exchanges,
        "waiting": count_waiting(memory),
    }
    return state, latest
