"""What is new in the memory, told to whoever listens.

One look at the size and the time of the memory's files a second serves all listeners, and only
while there are any; the memory itself is asked only when these have changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from holdfast.app.answers.research_sessions import state_of
from holdfast.app.memory import Holdfast
from holdfast.errors import HoldfastError
from holdfast.interfaces.http.core.memory_pool import Desk
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.core.streaming import Told

LOOK_S = 1.0
_LATEST = 20
_MOST_UNHEARD = 16


class Live:
    """Those who look, one for each choice of banks that somebody listens to."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._looks: dict[tuple[str, ...] | None, _Look] = {}

    async def listen(self) -> AsyncGenerator[Told]:
        """How the memory stands, as far as whoever asks sees it, and then every change."""
        banks = principal().banks
        look = self._looks.setdefault(banks, _Look(self._desk))
        events = look.listen()
        try:
            async for told in events:
                yield told
        finally:
            await events.aclose()
            if not look.is_heard:
                self._looks.pop(banks, None)


class _Look:
    """One who looks."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._listeners: set[asyncio.Queue[Told]] = set()
        self._looking: asyncio.Task[None] | None = None
        self._number = 0

    async def listen(self) -> AsyncGenerator[Told]:
        """How the memory stands, and then every change."""
        mine: asyncio.Queue[Told] = asyncio.Queue(_MOST_UNHEARD)
        self._listeners.add(mine)
        try:
            yield Told("hello", _without(await self._desk.read(_stands)), str(self._number))
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._look())
            while True:
                yield await mine.get()
        finally:
            self._listeners.discard(mine)
            if not self._listeners and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    @property
    def is_heard(self) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners)

    async def _look(self) -> None:
        seen = await self._state()
        known: dict[str, Any] = await self._desk.read(_stands)
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                now = await self._state()
                if now == seen:
                    continue
                found = await self._desk.read(_stands)
            except HoldfastError:
                continue  # busy, or being replaced; it is looked at again
            seen, known = now, self._tell(known, found)

    async def _state(self) -> str:
        """A word that changes when the memory does: of a file by its size and time, of a server
        by asking it."""
        settings = self._desk.settings
        if settings.store:
            return await self._desk.read(lambda memory: memory.reader.generation())
        return state_of(settings.database)

    def _tell(self, known: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
        changed = [one for id, one in found["latest"].items() if known["latest"].get(id) != one]
        self._number += 1
        told = Told("changed", {**_without(found), "changed": changed}, str(self._number))
        for queue in self._listeners:
            if queue.full():
                queue.get_nowait()  # who does not keep up misses the oldest
            queue.put_nowait(told)
        return found


def _stands(memory: Holdfast) -> dict[str, Any]:
    counts = memory.counts()
    latest = {
        one.id: {"id": one.id, "bank": one.bank, "title": one.title, "ended": one.ended}
        for one in memory.reader.sessions(None, _LATEST)
    }
    return {
        "last_event": memory.reader.last_event() or None,
        "sessions": counts.sessions,
        "turns": counts.turns,
        "exchanges": counts.exchanges,
        "latest": latest,
    }


def _without(stands: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stands.items() if name != "latest"}
