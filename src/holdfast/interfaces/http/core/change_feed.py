"""Changes of the memory as a stream of events.

The size and time of the database files are checked once a second. The memory is read only when
these changed.
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
from holdfast.interfaces.http.core.streaming import ServerEvent

# How late a change is noticed; a check costs a few file system calls.
POLL_INTERVAL_S = 1.0
# The newest sessions are compared to see which changed.
_LATEST_SESSIONS = 20


async def watch_changes(pool: MemoryPool) -> AsyncGenerator[ServerEvent]:
    """The state of the banks that the principal of the request sees, then every change."""
    seen_version, number = await _version(pool), 0
    state, known = await pool.read(_memory_state)
    yield ServerEvent("hello", state, str(number))
    while True:
        await asyncio.sleep(POLL_INTERVAL_S)
        try:
            version = await _version(pool)
            if version == seen_version:
                continue
            state, latest = await pool.read(_memory_state)
        except HoldfastError:
            continue  # busy, or being replaced; try again after the next interval
        changed = [one for id, one in latest.items() if known.get(id) != one]
        seen_version, known, number = version, latest, number + 1
        yield ServerEvent("changed", {**state, "changed": changed}, str(number))


async def _version(pool: MemoryPool) -> str:
    """A text that changes when the memory does: from the size and time of the file, or from the
    database server."""
    if pool.settings.store:
        return await pool.read(lambda memory: memory.reader.generation())
    return database_state(pool.settings.database)


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
