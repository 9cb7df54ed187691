"""Research sessions that are started and followed over HTTP.

They run one after the other on one thread of the pool and write journals; following one means
reading its journal as it grows. A client gets the id at once, while the session may still wait for
its turn, so questions that are not in a journal yet are kept here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from functools import partial
from typing import NamedTuple

from holdfast.app.answers.ask import AskOptions
from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.core.context import utc_now
from holdfast.app.memory import Holdfast
from holdfast.errors import BusyError, HoldfastError, InputError, NotFoundError
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.streaming import ServerEvent
from holdfast.research.journal_lines import mask_removed_records
from holdfast.research.session_journal import ASKED, Line, SessionState, SessionSummary, new_id

# Sessions that wait or run; more are refused with 503, because they run one after the other.
MAX_RUNNING = 20
# How late a step reaches a follower; a check costs one `stat` call.
_POLL_INTERVAL_S = 0.1
# Questions that ended before they reached a journal, kept so that their outcome can be shown.
_MAX_UNWRITTEN = 200


class _PendingQuestion(NamedTuple):
    """A question that may not be in its journal yet: its text and time, how many questions the
    journal had before it, and how it ended if it ended before it was written."""

    text: str
    time: str
    before: int
    end: SessionState = SessionState.RUNNING
    problem: str = ""


class ResearchRuns:
    """The research sessions that one server runs."""

    def __init__(self, pool: MemoryPool) -> None:
        self._pool = pool
        self._sessions = sessions_of(pool.settings)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._stopped: set[str] = set()
        self._pending: dict[str, _PendingQuestion] = {}

    def start(self, options: AskOptions, session: str = "") -> str:
        """Start a session, or ask a further question in one; returns its id."""
        if len(self._running) >= MAX_RUNNING:
            raise BusyError("Too many questions at once.", "Try again in a moment.")
        id = self._sessions.find(session) if session else new_id()
        if id in self._running:
            raise InputError(f"{id} is running.", "Wait for its answer, or cancel it.")
        self._pending[id] = _PendingQuestion(
            options.question, utc_now(), self._questions_written(id)
        )
        task = asyncio.create_task(self._run(options, bool(session), id))
        self._running[id] = task
        return id

    async def _run(self, options: AskOptions, is_follow_up: bool, id: str) -> None:
        def run_all(memory: Holdfast) -> None:
            if id in self._stopped:
                return
            for _ in memory.answers.investigate(options, id if is_follow_up else "", id):
                pass

        end, problem = SessionState.CANCELLED, "It was stopped before it began."
        try:
            await self._pool.search_with_model(run_all)
        except HoldfastError as error:
            end, problem = SessionState.FAILED, f"{error.message} {error.remedy}".strip()
        finally:
            del self._running[id]
            self._stopped.discard(id)
            self._record_end(id, end, problem)

    def _record_end(self, id: str, end: SessionState, problem: str) -> None:
        """Keep the outcome of a question that never reached its journal."""
        pending = self._pending.pop(id)
        if self._questions_written(id) <= pending.before:
            if len(self._pending) >= _MAX_UNWRITTEN:
                del self._pending[next(iter(self._pending))]
            self._pending[id] = pending._replace(end=end, problem=problem)

    def _questions_written(self, id: str) -> int:
        """How many questions the journal of a session has."""
        try:
            return sum(line.get("stage") == ASKED for line in self._sessions.lines(id))
        except NotFoundError:
            return 0

    def find(self, id: str) -> str:
        """The full id of a session, whether or not it has started."""
        return id if id in self._pending else self._sessions.find(id)

    def state(self, id: str) -> str:
        """The state of a session; one that waits for its turn is `running`."""
        return (
            self._pending[id].end.value if id in self._pending else self._sessions.state(id).value
        )

    def read(self, memory: Holdfast, id: str) -> tuple[SessionSummary, list[Line]]:
        """A session with its lines, whether or not it has started; without the text of records that
        are no longer shown."""
        pending = self._pending.get(id)
        try:
            session, lines = memory.answers.research_session(id)
        except NotFoundError:
            if pending is None:
                raise
            session, lines = SessionSummary(id, pending.end, (), pending.time, pending.time, ""), []
        if pending is None:
            return session, lines
        if sum(line.get("stage") == ASKED for line in lines) <= pending.before:
            lines = [*lines, {"time": pending.time, "stage": ASKED, "question": pending.text}]
            session = session._replace(questions=(*session.questions, pending.text))
            if pending.problem:
                end: Line = {"stage": pending.end.value, "text": pending.problem}
                lines.append({"time": pending.time, **end})
        return session._replace(state=pending.end), lines

    def cancel(self, id: str) -> bool:
        """Stop a session; returns whether it was waiting or running."""
        waits = id in self._running
        if waits:
            self._stopped.add(id)
        begun = id in self._sessions.ids() and self._sessions.cancel(id)
        return waits or begun

    def remove(self, id: str) -> None:
        """Delete a session for good. One that runs is not deleted: it would go on writing."""
        if self.state(id) == SessionState.RUNNING.value:
            raise InputError(f"{id} is running.", "Cancel it first.")
        if id not in self._sessions.ids():
            raise NotFoundError(f"There is no session {id!r}.", "GET /research lists them.")
        self._sessions.remove(id)

    async def follow(self, id: str, after: int) -> AsyncGenerator[ServerEvent]:
        """The steps of a session after the first `after`, and those to come until it ends."""
        seen = -1
        while True:
            # The state is read before the lines, so that the last lines are not missed.
            state = self.state(id)
            size = self._size(id)
            if size != seen:
                seen = size
                for line in await self._pool.read(partial(self._lines, id, after)):
                    after += 1
                    yield ServerEvent("step", {"session_id": id, **line}, str(after))
            if state != SessionState.RUNNING.value:
                data = {"session_id": id, "state": state}
                if id in self._pending:
                    data["problem"] = self._pending[id].problem
                yield ServerEvent("done", data, str(after))
                return
            await asyncio.sleep(_POLL_INTERVAL_S)

    def _lines(self, id: str, after: int, memory: Holdfast) -> list[Line]:
        if id not in self._sessions.ids():
            return []
        return mask_removed_records(memory.reader, self._sessions.lines(id))[after:]

    def _size(self, id: str) -> int:
        try:
            return os.stat(self._sessions.journal(id)).st_size  # noqa: PTH116 - asked very often
        except OSError:
            return -1
