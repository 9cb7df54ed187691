"""The open memories behind a server, and the threads that use them.

A database connection belongs to one thread. So reads go to a few threads, each with a memory of its
own; tasks that change anything go to a single thread; tasks that can take minutes go to another, so
that no request waits behind them. Tasks that search go to twice as many threads as the server has
workers, which are processes that recall for them (`app/server/search_process`); where it has only
one worker, they go to the thread of those that change something, and recall in this process. Every
task runs in the name of the principal of its request.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from typing import Any, TypeVar

from holdfast.app.core.backends import database_identity
from holdfast.app.memory import Holdfast
from holdfast.app.server.search_process import SearchProcesses, count_cores
from holdfast.app.views.review_queue import count_waiting
from holdfast.errors import BusyError, HoldfastError, InputError, StoreError
from holdfast.interfaces.http.core.request_principal import owner, principal
from holdfast.principal import Principal
from holdfast.settings import NO_MODEL, Settings

# Each has a connection and its caches. Reads are short, so a few threads keep up with many clients.
READER_THREADS = 4
# While one thread makes an answer of what a process found, the process recalls for another.
_THREADS_PER_PROCESS = 2
# Tasks that are submitted and not done. Beyond this clients would wait longer than they do, so
# further tasks are refused with 503. `[serve] waiting` in the settings overrides it.
MAX_WAITING = 200
# Sets of banks whose number of open reviews is remembered.
_MAX_REVIEW_COUNTS = 500

T = TypeVar("T")
Task = Callable[[Holdfast], T]


class MemoryPool:
    """Runs tasks with an open memory; a task is a function that takes the memory."""

    def __init__(
        self,
        settings: Settings,
        readers: int = READER_THREADS,
        max_waiting: int = MAX_WAITING,
        workers: int = 1,
    ) -> None:
        """With more than one of `workers`, so many processes recall; each starts when a search
        finds all others busy."""
        self._settings = settings
        self._max_waiting = max_waiting
        self._reader_threads = ThreadPoolExecutor(readers, "reader")
        self._engine_thread = ThreadPoolExecutor(1, "engine")
        self._long_thread = ThreadPoolExecutor(1, "long")
        self._search_processes: SearchProcesses | None = None
        self._search_threads = self._engine_thread
        # With the number of their threads.
        self._executors = [
            (self._reader_threads, readers),
            (self._engine_thread, 1),
            (self._long_thread, 1),
        ]
        if workers > 1:
            self._search_processes = SearchProcesses(
                settings, settings.serve.request_s, workers, max(1, count_cores() // workers)
            )
            threads = _THREADS_PER_PROCESS * workers
            self._search_threads = ThreadPoolExecutor(threads, "search", self._prepare_search)
            self._executors.append((self._search_threads, threads))
        self._thread_local = threading.local()
        self._open: set[Holdfast] = set()
        self._submitted: set[Future[Any]] = set()
        self._is_accepting = True
        self._is_closed = False
        self._running = 0
        self._lock = threading.Lock()
        # Errors of the store, by the name of their class.
        self.store_failures: Counter[str] = Counter()
        # Open reviews, which every page shows; by the banks that the principal sees.
        self._review_counts: dict[tuple[str, ...] | None, int] = {}

    @property
    def settings(self) -> Settings:
        """The settings of the memory, with the principal of the current request."""
        who = principal()
        return replace(self._settings, principal=who) if who.key else self._settings

    @property
    def queued(self) -> int:
        """How many tasks were submitted and are not done."""
        return len(self._submitted)

    @property
    def review_count(self) -> int:
        """How many open reviews the principal of the current request can see."""
        return self._review_counts.get(principal().banks, 0)

    async def read_as_owner(self, task: Task[T]) -> T:
        """Run a short task of the server itself, in the name of its owner."""
        return await self._submit(self._reader_threads, task, owner())

    async def read(self, task: Task[T]) -> T:
        """Run a task that only reads what is stored."""
        return await self._submit(self._reader_threads, task, principal())

    async def search(self, task: Task[T]) -> T:
        """Run a task that recalls and changes nothing in the store."""
        return await self._submit(self._search_threads, task, principal())

    async def search_with_model(self, task: Task[T]) -> T:
        """Run a task that recalls and may wait for a model service, if the settings name one."""
        by_rules = self._settings.models.use == NO_MODEL
        return await (self.search(task) if by_rules else self.run_long(task))

    async def run(self, task: Task[T], also: tuple[str, ...] = ()) -> T:
        """Run a task that changes something. The banks `also` are opened to
        it beside those of the principal; the task must reveal only what is public in them."""
        who = principal()
        wider = who if who.banks is None else who._replace(banks=(*who.banks, *also))
        return await self._submit(self._engine_thread, task, wider)

    async def run_with_model(self, task: Task[T]) -> T:
        """Run a task that changes something and may wait for a model service, if there is one."""
        by_rules = self._settings.models.use == NO_MODEL
        return await (self.run(task) if by_rules else self.run_long(task))

    async def run_long(self, task: Task[T]) -> T:
        """Run a task that can take minutes, such as an import, a backup or research by a model."""
        return await self._submit(self._long_thread, task, principal())

    @property
    def is_busy(self) -> bool:
        """Whether any task is running."""
        return self._running > 0

    @property
    def search_processes(self) -> int:
        """How many processes recall for this server."""
        return self._search_processes.running if self._search_processes is not None else 0

    def interrupt_queries(self) -> None:
        """Interrupt the running database queries, and end the processes that recall."""
        for memory in list(self._open):
            memory.store.interrupt()
        if self._search_processes is not None:
            self._search_processes.end()

    def stop_accepting(self) -> None:
        """Start no more tasks; those that wait fail."""
        self._is_accepting = False
        for future in list(self._submitted):
            future.cancel()

    def close(self) -> None:
        """Wait for running tasks, then close the memories and stop the threads."""
        self.stop_accepting()
        if self._is_closed:
            return
        self._is_closed = True
        for threads, count in self._executors:
            # Only the thread that opened a memory can close it. Each of these tasks waits for the
            # others, so that every thread runs one.
            together = threading.Barrier(count)
            closing = [threads.submit(self._close_memory, together) for _ in range(count)]
            threads.shutdown(wait=True)
            for closed in closing:
                closed.result()
        if self._search_processes is not None:
            self._search_processes.end()

    async def _submit(self, threads: ThreadPoolExecutor, task: Task[T], who: Principal) -> T:
        if not self._is_accepting:
            raise BusyError("The server is stopping.", "Try again in a moment.")
        if self.queued >= self._max_waiting:
            raise BusyError("Too many requests at once.", "Try again in a moment.")
        future = threads.submit(copy_context().run, self._run_task, task, who)
        self._submitted.add(future)
        try:
            return await asyncio.wrap_future(future)
        finally:
            self._submitted.discard(future)

    def _run_task(self, task: Task[T], who: Principal) -> T:
        """Run a task with a memory that is scoped to `who`. Nothing else hands out a memory."""
        with self._lock:
            self._running += 1
        try:
            memory = self._open_memory()
            with memory.scoped_to(who):
                try:
                    return task(memory)
                finally:
                    self._update_review_count(memory, who.banks)
        except UnicodeEncodeError as error:
            raise InputError("The text is not valid Unicode.", "Send whole characters.") from error
        except StoreError as error:
            self.store_failures[type(error).__name__] += 1
            raise
        finally:
            with self._lock:
                self._running -= 1

    def _update_review_count(self, memory: Holdfast, banks: tuple[str, ...] | None) -> None:
        """Count the open reviews again if anything was written since this thread last did."""
        known: dict[tuple[str, ...] | None, str] = self._thread_local.__dict__.setdefault(
            "counted", {}
        )
        with suppress(HoldfastError):
            seen = memory.reader.generation()
            if seen != known.get(banks):
                if len(known) >= _MAX_REVIEW_COUNTS:
                    known.clear()
                    self._review_counts.clear()
                self._review_counts[banks] = count_waiting(memory)
                known[banks] = seen

    def _open_memory(self) -> Holdfast:
        """The memory of this thread, opened again if the database file was replaced."""
        seen = database_identity(self._settings.database)
        known: tuple[object, Holdfast] | None = getattr(self._thread_local, "memory", None)
        if known is None or known[0] != seen:
            self._close_own_memory()
            memory = Holdfast(self._settings, create=False)
            memory.search.elsewhere = getattr(self._thread_local, "processes", None)
            self._open.add(memory)
            self._thread_local.memory = known = (seen, memory)
        return known[1]

    def _prepare_search(self) -> None:
        """Let other processes recall for this thread."""
        self._thread_local.processes = self._search_processes

    def _close_memory(self, together: threading.Barrier) -> None:
        together.wait()
        self._close_own_memory()

    def _close_own_memory(self) -> None:
        """Close the memory of this thread, if it has one."""
        known: tuple[object, Holdfast] | None = self._thread_local.__dict__.pop("memory", None)
        if known is not None:
            self._open.discard(known[1])
            known[1].close()
