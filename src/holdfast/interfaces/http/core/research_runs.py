"""Investigations that somebody follows over HTTP.

They run on one thread of the desk's, one after the other, and are written to their journals;
following one is reading its journal on. Whoever starts one gets its name at once, though it may
still wait for its turn: until it is written down, what was asked is known here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from functools import partial
from typing import NamedTuple

from holdfast.app.answers.ask import Wish
from holdfast.app.answers.research_sessions import Investigation, sessions_of, shown
from holdfast.app.memory import Holdfast
from holdfast.app.search.old_recall import utc_now
from holdfast.errors import BusyError, HoldfastError, InputError, NotFoundError
from holdfast.interfaces.http.core.memory_pool import Desk
from holdfast.interfaces.http.core.streaming import Told
from holdfast.research.journal_lines import mask_removed_records
from holdfast.research.session_journal import ASKED, Line, SessionSummary, SessionState, new_id

MOST_AT_ONCE = 20
_LOOK_S = 0.1
_KEPT = 200


class _Question(NamedTuple):
    """What was asked, when, behind how many questions of its session; how it ended, if it did
    before it was written down."""

    text: str
    time: str
    before: int
    end: SessionState = SessionState.RUNNING
    problem: str = ""


class Investigations:
    """Those of one server."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._sessions = sessions_of(desk.settings)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._stopped: set[str] = set()
        self._asked: dict[str, _Question] = {}

    def start(self, wish: Wish, session: str = "") -> str:
        """Begin one, or go on with one; returns its name."""
        if len(self._running) >= MOST_AT_ONCE:
            raise BusyError("Too many questions at once.", "Ask again in a moment.")
        id = self._sessions.find(session) if session else new_id()
        if id in self._running:
            raise InputError(f"{id} is being worked on.", "Wait for its answer, or cancel it.")
        self._asked[id] = _Question(wish.question, utc_now(), self._written(id))
        task = asyncio.create_task(self._drive(wish, bool(session), id))
        self._running[id] = task
        return id

    async def _drive(self, wish: Wish, follows: bool, id: str) -> None:
        def all_of_it(memory: Holdfast) -> None:
            if id in self._stopped:
                return
            for _ in Investigation(memory, wish, id if follows else "", id):
                pass

        end, problem = SessionState.CANCELLED, "It was stopped before it began."
        try:
            await self._desk.think(all_of_it)
        except HoldfastError as error:
            end, problem = SessionState.FAILED, f"{error.message} {error.remedy}".strip()
        finally:
            del self._running[id]
            self._stopped.discard(id)
            self._ended(id, end, problem)

    def _ended(self, id: str, end: SessionState, problem: str) -> None:
        """What is not in its journal is told from here, for a while."""
        asked = self._asked.pop(id)
        if self._written(id) <= asked.before:
            if len(self._asked) >= _KEPT:
                del self._asked[next(iter(self._asked))]
            self._asked[id] = asked._replace(end=end, problem=problem)

    def _written(self, id: str) -> int:
        """How many questions of a session are written down."""
        try:
            return sum(line.get("stage") == ASKED for line in self._sessions.lines(id))
        except NotFoundError:
            return 0

    def find(self, id: str) -> str:
        """The investigation that is meant, whether or not it has begun."""
        return id if id in self._asked else self._sessions.find(id)

    def state(self, id: str) -> str:
        """How one stands; one that waits for its turn is `running`."""
        return self._asked[id].end.value if id in self._asked else self._sessions.state(id).value

    def told(self, memory: Holdfast, id: str) -> tuple[SessionSummary, list[Line]]:
        """One with its lines, whether or not it has begun; without the words of what is not shown
        any more."""
        asked = self._asked.get(id)
        try:
            session, lines = shown(memory, id)
        except NotFoundError:
            if asked is None:
                raise
            session, lines = SessionSummary(id, asked.end, (), asked.time, asked.time, ""), []
        if asked is None:
            return session, lines
        if sum(line.get("stage") == ASKED for line in lines) <= asked.before:
            lines = [*lines, {"time": asked.time, "stage": ASKED, "question": asked.text}]
            session = session._replace(questions=(*session.questions, asked.text))
            if asked.problem:
                end: Line = {"stage": asked.end.value, "text": asked.problem}
                lines.append({"time": asked.time, **end})
        return session._replace(state=asked.end), lines

    def cancel(self, id: str) -> bool:
        """Stop one; returns whether anybody worked on it."""
        waits = id in self._running
        if waits:
            self._stopped.add(id)
        begun = id in self._sessions.ids() and self._sessions.cancel(id)
        return waits or begun

    async def follow(self, id: str, after: int) -> AsyncGenerator[Told]:
        """The steps of one behind the first `after`, and those to come until it rests."""
        seen = -1
        while True:
            # Whether it runs is looked at first: what it wrote before it left is read after.
            state = self.state(id)
            size = self._size(id)
            if size != seen:
                seen = size
                for line in await self._desk.read(partial(self._lines, id, after)):
                    after += 1
                    yield Told("step", {"session_id": id, **line}, str(after))
            if state != SessionState.RUNNING.value:
                said = {"problem": self._asked[id].problem} if id in self._asked else {}
                yield Told("done", {"session_id": id, "state": state, **said}, str(after))
                return
            await asyncio.sleep(_LOOK_S)

    def _lines(self, id: str, after: int, memory: Holdfast) -> list[Line]:
        if id not in self._sessions.ids():
            return []
        return mask_removed_records(memory.reader, self._sessions.lines(id))[after:]

    def _size(self, id: str) -> int:
        try:
            return os.stat(self._sessions.journal(id)).st_size  # noqa: PTH116 - asked very often
        except OSError:
            return -1
