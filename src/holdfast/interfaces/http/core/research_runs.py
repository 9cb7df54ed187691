"""Research sessions that are started and followed over HTTP.

They run on threads of their own and write journals; following one means reading its journal as it
grows. A client gets the id as soon as there is a journal, or is told why there will be none.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator

from holdfast.app.answers.ask import AskOptions
from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.memory import Holdfast
from holdfast.errors import BusyError, InputError
from holdfast.interfaces.http.core.memory_pool import RESEARCH_THREADS, MemoryPool
from holdfast.interfaces.http.core.streaming import ServerEvent
from holdfast.research.journal_lines import mask_removed_records
from holdfast.research.session_journal import (
    Line,
    ResearchSessions,
    SessionState,
    SessionSummary,
    new_id,
)

# How late a step reaches a follower; a check costs one `stat` call.
_POLL_INTERVAL_S = 0.1


class ResearchRuns:
    """The research sessions that one server runs."""

    def __init__(self, pool: MemoryPool) -> None:
        self._pool = pool
        self._running: set[asyncio.Task[None]] = set()

    @property
    def _sessions(self) -> ResearchSessions:
        """Those of the principal; a key for some banks sees only its own."""
        return sessions_of(self._pool.settings)

    async def start(self, options: AskOptions, session: str = "") -> str:
        """Start a session, or ask a further question in one; returns its id."""
        if len(self._running) >= RESEARCH_THREADS:
            raise BusyError("Too many questions at once.", "Try again in a moment.")
        id = self._sessions.find(session) if session else new_id()
        loop, begun = asyncio.get_running_loop(), asyncio.Event()

        def investigate(memory: Holdfast) -> None:
            for _ in memory.answers.investigate(options, id if session else "", id):
                loop.call_soon_threadsafe(begun.set)

        running = asyncio.create_task(self._pool.research(investigate))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        beginning = asyncio.create_task(begun.wait())
        await asyncio.wait((running, beginning), return_when=asyncio.FIRST_COMPLETED)
        beginning.cancel()
        if running.done() and not begun.is_set():
            running.result()  # raises why it could not begin
        return id

    def find(self, id: str) -> str:
        """The full id of a session."""
        return self._sessions.find(id)

    def read(self, memory: Holdfast, id: str) -> tuple[SessionSummary, list[Line]]:
        """A session with its lines, without the text of records that are no longer shown."""
        return memory.answers.research_session(id)

    def cancel(self, id: str) -> bool:
        """Stop a session; returns whether it was running."""
        return self._sessions.cancel(id)

    def remove(self, id: str) -> None:
        """Delete a session for good. One that runs is not deleted: it would go on writing."""
        if self._sessions.state(id) is SessionState.RUNNING:
            raise InputError(f"{id} is running.", "Cancel it first.")
        self._sessions.remove(id)

    async def follow(self, id: str, after: int) -> AsyncGenerator[ServerEvent]:
        """The steps of a session after the first `after`, and those to come until it ends."""

        sessions, seen = self._sessions, -1

        def read(memory: Holdfast) -> list[Line]:
            return mask_removed_records(memory.reader, sessions.lines(id))[after:]

        while True:
            # The state is read before the lines, so that the last lines are not missed.
            state = sessions.state(id)
            size = os.stat(sessions.journal(id)).st_size  # noqa: PTH116 - asked very often
            if size != seen:
                seen = size
                for line in await self._pool.read(read):
                    after += 1
                    yield ServerEvent("step", {"session_id": id, **line}, str(after))
            if state is not SessionState.RUNNING:
                yield ServerEvent("done", {"session_id": id, "state": state.value}, str(after))
                return
            await asyncio.sleep(_POLL_INTERVAL_S)
