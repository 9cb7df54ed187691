"""The open memories behind a server, and the threads that use them.

A database connection belongs to one thread. So reads go to a few threads, each with a memory of its
own; tasks that change anything go to a single thread, which takes turns among those who ask; tasks
that can take minutes go to another, so that no request waits behind them. What depends on added
records is derived by a thread of its own. Where the server has several workers, these are processes
that recall for it (`app/server/search_process`), and tasks that search go to twice as many threads;
with only one worker, they go to the thread of those that change something, and recall in this
process. Every task runs in the name of the principal of its request.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from typing import Any, TypeVar

from holdfast.app.core.backends import database_identity
from holdfast.app.memory import Holdfast
from holdfast.app.server.search_process import SearchProcesses, count_cores
from holdfast.errors import BusyError, HoldfastError, InputError
from holdfast.interfaces.http.core.request_principal import owner, principal
from holdfast.operations.decisions.reviews import waiting_counts
from holdfast.principal import Principal
from holdfast.settings import NO_MODEL, Settings

# Each has a connection and its caches. Reads are short, so a few threads keep up with many clients.
READER_THREADS = 4
# Questions that are researched at a time. Most of that time is waiting for a model service.
RESEARCH_THREADS = 8
# While one thread makes an answer of what a process found, the process recalls for another.
_THREADS_PER_PROCESS = 2
# How long deriving pauses, in times of what it took.
_PAUSE = 4.0
# Tasks that are submitted and not done. Beyond this clients would wait longer than they do, so
# further tasks are refused with 503. `[serve] waiting` in the settings overrides it.
MAX_WAITING = 200

T = TypeVar("T")
Task = Callable[[Holdfast], T]


class _Own(threading.local):
    """What a thread of the pool has: its memory, with the identity of the database file; and in
    which state of the store it counted the open reviews of which banks."""

    def __init__(self) -> None:
        self.memory: tuple[object, Holdfast] | None = None
        self.counted: dict[tuple[str, ...] | None, str] = {}


class MemoryPool:
    """Runs tasks with an open memory; a task is a function that takes the memory."""

    def __init__(
        self,
        settings: Settings,
        readers: int = READER_THREADS,
        max_waiting: int = MAX_WAITING,
        workers: int = 1,
    ) -> None:
        """With more than one of `workers`, so many processes recall. Each kind of `Work` of an
        operation is run by the method of its name."""
        self._settings = settings
        self._max_waiting = max_waiting
        # The threads for each sort of task, with their number.
        self._threads: list[tuple[ThreadPoolExecutor, int]] = []
        self._readers = self._add_threads("reader", readers)
        self._engine = self._search = self._add_threads("engine", 1)
        # By the key that asks: it has one task in the queue of the engine, so that keys take turns.
        self._turns: dict[str, asyncio.Lock] = {}
        self._in_turn = 0
        self._long = self._add_threads("long", 1)
        self._research = self._add_threads("research", RESEARCH_THREADS)
        self._deriving = self._add_threads("deriving", 1)
        self._will_derive, self._closing = threading.Event(), threading.Event()
        self._search_processes: SearchProcesses | None = None
        if workers > 1:
            self._search = self._add_threads("search", _THREADS_PER_PROCESS * workers)
            self._search_processes = SearchProcesses(
                settings, settings.serve.request_s, workers, max(1, count_cores() // workers)
            )
        self._own = _Own()
        self._open: set[Holdfast] = set()
        self._submitted: set[Future[Any]] = set()
        self._is_accepting = True
        self._is_closed = False
        # Open reviews, which every page shows; by the banks that the principal sees.
        self._reviews: dict[tuple[str, ...] | None, int] = {}

    def _add_threads(self, name: str, count: int) -> ThreadPoolExecutor:
        self._threads.append((ThreadPoolExecutor(count, name), count))
        return self._threads[-1][0]

    @property
    def settings(self) -> Settings:
        """The settings of the memory, with the principal of the current request."""
        who = principal()
        return replace(self._settings, principal=who) if who.key else self._settings

    @property
    def queued(self) -> int:
        """How many tasks were submitted and are not done."""
        return len(self._submitted) + self._in_turn

    @property
    def is_busy(self) -> bool:
        """Whether any task is running."""
        return any(future.running() for future in list(self._submitted))

    @property
    def review_count(self) -> int:
        """How many open reviews the principal of the current request can see."""
        return self._reviews.get(principal().banks, 0)

    async def read_as_owner(self, task: Task[T]) -> T:
        """Run a short task of the server itself, in the name of its owner."""
        return await self._submit(self._readers, task, owner())

    async def read(self, task: Task[T]) -> T:
        """Run a task that only reads what is stored."""
        return await self._submit(self._readers, task, principal())

    async def search(self, task: Task[T]) -> T:
        """Run a task that recalls and changes nothing in the store."""
        if self._search is self._engine:
            return await self._submit_in_turn(task, principal())
        return await self._submit(self._search, task, principal())

    async def search_with_model(self, task: Task[T]) -> T:
        """Run a task that recalls and may wait for a model service, if the settings name one."""
        return await (self.search(task) if self._has_no_model else self.run_long(task))

    async def run(self, task: Task[T], also: tuple[str, ...] = ()) -> T:
        """Run a task that changes something. The banks `also` are opened to it beside those of the
        principal; the task must reveal only what is public in them."""
        who = principal()
        wider = who if who.banks is None else who._replace(banks=(*who.banks, *also))
        return await self._submit_in_turn(task, wider)

    async def run_with_model(self, task: Task[T]) -> T:
        """Run a task that changes something and may wait for a model service, if there is one."""
        return await (self.run(task) if self._has_no_model else self.run_long(task))

    async def run_long(self, task: Task[T]) -> T:
        """Run a task that can take minutes, such as an import, a backup or research by a model."""
        return await self._submit(self._long, task, principal())

    async def research(self, task: Task[T]) -> T:
        """Run a task that answers a question step by step."""
        return await self._submit(self._research, task, principal())

    @property
    def _has_no_model(self) -> bool:
        return self._settings.models.use == NO_MODEL

    def interrupt_queries(self) -> None:
        """Interrupt the running database queries, and end the processes that recall."""
        for memory in list(self._open):
            memory.store.interrupt()
        if self._search_processes is not None:
            self._search_processes.end()

    def stop_accepting(self) -> None:
        """Start no more tasks; those that wait fail."""
        self._is_accepting = False
        self._closing.set()
        for future in list(self._submitted):
            future.cancel()

    def close(self) -> None:
        """Wait for running tasks, then close the memories and stop the threads."""
        self.stop_accepting()
        if self._is_closed:
            return
        self._is_closed = True
        for threads, count in self._threads:
            # Only the thread that opened a memory can close it. Each of these tasks waits for the
            # others, so that every thread runs one.
            together = threading.Barrier(count)
            closing = [threads.submit(self._close_memory, together) for _ in range(count)]
            threads.shutdown(wait=True)
            for closed in closing:
                closed.result()
        if self._search_processes is not None:
            self._search_processes.end()

    def _derive_soon(self) -> None:
        """Bring up to date what depends on records that were added, once for all that are waiting:
        it takes longer than adding them, and nobody waits for it."""
        if self._is_accepting and not self._will_derive.is_set():
            self._will_derive.set()
            self._deriving.submit(self._run_task, self._derive, owner())

    def _derive(self, memory: Holdfast) -> None:
        self._will_derive.clear()
        started = time.monotonic()
        memory.context.after_change()
        # Those who write go first: no more than a fifth of the time is for this.
        self._closing.wait(_PAUSE * (time.monotonic() - started))

    async def _submit(self, threads: ThreadPoolExecutor, task: Task[T], who: Principal) -> T:
        if not self._is_accepting:
            raise BusyError("The server is stopping.", "Try again in a moment.")
        if self.queued >= self._max_waiting:
            raise BusyError("Too many requests at once.", "Try again in a moment.")
        future = threads.submit(copy_context().run, self._run_task, task, who)
        self._submitted.add(future)
        future.add_done_callback(self._submitted.discard)
        return await asyncio.wrap_future(future)

    async def _submit_in_turn(self, task: Task[T], who: Principal) -> T:
        """Run a task on the thread of the engine, when it is the turn of the key that asks."""
        if self.queued >= self._max_waiting:
            raise BusyError("Too many requests at once.", "Try again in a moment.")
        turn = self._turns.setdefault(who.key, asyncio.Lock())
        self._in_turn += 1
        try:
            await turn.acquire()
        finally:
            self._in_turn -= 1
        try:
            return await self._submit(self._engine, task, who)
        finally:
            turn.release()

    def _run_task(self, task: Task[T], who: Principal) -> T:
        """Run a task with a memory that is scoped to `who`. Nothing else hands out a memory."""
        try:
            memory = self._open_memory()
            with memory.scoped_to(who):
                try:
                    return task(memory)
                finally:
                    with suppress(HoldfastError):
                        seen = memory.reader.generation()
                        if seen != self._own.counted.get(who.banks):
                            self._reviews[who.banks] = sum(waiting_counts(memory))
                            self._own.counted[who.banks] = seen
        except UnicodeEncodeError as error:
            raise InputError("The text is not valid Unicode.", "Send whole characters.") from error

    def _open_memory(self) -> Holdfast:
        """The memory of this thread, opened again if the database file was replaced."""
        seen = database_identity(self._settings.database)
        if self._own.memory is None or self._own.memory[0] != seen:
            self._close_own_memory()
            memory = Holdfast(self._settings, create=False)
            memory.search.elsewhere = self._search_processes
            memory.context.after_adding = self._derive_soon
            self._open.add(memory)
            self._own.memory = (seen, memory)
        return self._own.memory[1]

    def _close_memory(self, together: threading.Barrier) -> None:
        together.wait()
        self._close_own_memory()

    def _close_own_memory(self) -> None:
        """Close the memory of this thread, if it has one."""
        if self._own.memory is not None:
            memory, self._own.memory = self._own.memory[1], None
            self._open.discard(memory)
            memory.close()
