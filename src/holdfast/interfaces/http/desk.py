"""The memory behind a server. A connection belongs to its thread, and models take much memory and
are wanted once: so light questions go to a few threads, each with a memory of its own, and what
needs models, or changes anything, goes to one thread that does one thing after the other."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from time import perf_counter
from typing import TypeVar

from holdfast.app.memory import Holdfast
from holdfast.app.standing import standing
from holdfast.app.waiting import count_waiting
from holdfast.errors import BusyError, HoldfastError, InputError
from holdfast.settings import Settings

READERS = 4
# More than this waiting is not being served but being buried.
MOST_WAITING = 200
_REMEMBERED = 500

T = TypeVar("T")
What = Callable[[Holdfast], T]


class Desk:
    """Where questions are handed in."""

    def __init__(self, settings: Settings, readers: int = READERS) -> None:
        self.settings = settings
        self._readers = ThreadPoolExecutor(readers, "reader")
        self._engine = ThreadPoolExecutor(1, "engine")
        self._own = threading.local()
        self._open: list[Holdfast] = []
        self._waiting = 0
        # How much waits for a person, as every page tells.
        self.waiting = 0
        # How many milliseconds the latest took, by the threads they went to.
        self.took = {
            "looks": deque[float](maxlen=_REMEMBERED),
            "work": deque[float](maxlen=_REMEMBERED),
        }

    async def read(self, what: What[T]) -> T:
        """A look into what is stored."""
        return await self._hand_in(self._readers, "looks", what)

    async def work(self, what: What[T]) -> T:
        """What recalls, thinks or changes something."""
        return await self._hand_in(self._engine, "work", what)

    def close(self) -> None:
        """Let go of everything; what was begun is finished first."""
        for threads in (self._readers, self._engine):
            threads.shutdown(wait=True, cancel_futures=True)
        self._open.clear()

    async def _hand_in(self, threads: Executor, sort: str, what: What[T]) -> T:
        if self._waiting >= MOST_WAITING:
            raise BusyError("Too many questions at once.", "Ask again in a moment.")
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(threads, self._done, sort, what)
        finally:
            self._waiting -= 1

    def _done(self, sort: str, what: What[T]) -> T:
        begun, memory = perf_counter(), self._memory()
        try:
            return what(memory)
        except UnicodeEncodeError as error:
            raise InputError("The text holds half a character.", "Send whole ones.") from error
        finally:
            self.took[sort].append((perf_counter() - begun) * 1000)
            self._count(memory)

    def _count(self, memory: Holdfast) -> None:
        """Count what waits for a person, whenever this thread finds that anything was written."""
        with suppress(HoldfastError):
            seen = memory.reader.generation()
            if seen != getattr(self._own, "counted", None):
                self.waiting = count_waiting(memory)
                self._own.counted = seen

    def _memory(self) -> Holdfast:
        """This thread's own, opened anew when the file is another one."""
        seen = standing(self.settings.database)
        known: tuple[object, Holdfast] | None = getattr(self._own, "memory", None)
        if known is None or known[0] != seen:
            if known is not None:
                known[1].close()
            made = Holdfast(self.settings, create=False)
            self._own.memory = known = (seen, made)
        return known[1]
