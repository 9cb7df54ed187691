"""Recalls in other processes, for a server.

Python runs one thread at a time, so a server that recalls in its own threads uses one core, however
many clients it has. Each process opens the memory and recalls, one question after the other; a
server has one for each core. Everything else (keys, limits, sessions, events, writes)
stays in the server, so there is one of each. Vectors are mapped from the files of the home, so all
processes share them. They only read: to kill one loses nothing.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import active_children, get_context, parent_process
from typing import Any, TypeVar

from holdfast.app.core.backends import database_identity
from holdfast.app.memory import Holdfast
from holdfast.errors import BusyError
from holdfast.model.query import RecallResult
from holdfast.principal import Principal
from holdfast.recall.core.plan import RecallPlan
from holdfast.settings import Settings

# How often a call is tried: again if its process ended, because it was killed for its memory.
_TRIES = 2
# The libraries that multiply vectors start as many threads as there are cores, in each process.
_THREAD_LIMITS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

T = TypeVar("T")


def count_cores() -> int:
    """How many cores this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_workers(system: str = sys.platform) -> int:
    """How many processes search unless the settings say: one a core, but none beside the server
    on Windows, where it was never tried."""
    return 1 if system == "win32" else count_cores()


class SearchProcesses:
    """So many search processes. Each starts when a call finds all others busy."""

    def __init__(self, settings: Settings, timeout_s: float, count: int, threads: int = 1) -> None:
        """`timeout_s` is the longest that a recall may take, with the wait for a process; each
        multiplies with so many threads."""
        self._settings = settings
        self._timeout_s = timeout_s
        self._count = count
        self._threads = threads
        self._lock = threading.Lock()
        self._is_ended = False
        self._pool: ProcessPoolExecutor | None = None

    @property
    def running(self) -> int:
        """How many there are by now."""
        return len(active_children()) if self._pool is not None else 0

    def recall(
        self, principal: Principal | None, bank: str | None, query: str, plan: RecallPlan
    ) -> RecallResult:
        """As `Search.recall_in_bank`, in the name of a principal; None: of the owner."""
        return self._call(_recall, principal, bank, query, plan)

    def cosines(self, query: str, texts: Sequence[str]) -> list[float]:
        """As `Search.cosines`."""
        return self._call(_cosines, query, tuple(texts))

    def _call(self, task: Callable[..., T], *arguments: Any) -> T:
        for _ in range(_TRIES):
            pool = self._started()
            try:
                future = pool.submit(task, *arguments)
            except RuntimeError:  # another thread has just seen that it is broken
                self._kill(pool)
                continue
            try:
                return future.result(self._timeout_s)
            except TimeoutError:
                self._kill(pool)
                break
            except (BrokenExecutor, CancelledError):
                self._kill(pool)
        raise BusyError("The search took too long, or its process ended.", "Ask again.")

    def _started(self) -> ProcessPoolExecutor:
        with self._lock:
            if self._is_ended:
                raise BusyError("The server is stopping.", "Try again in a moment.")
            if self._pool is None:
                # Not forked: a fork has the locks of the server's threads, but not the threads.
                self._pool = ProcessPoolExecutor(
                    self._count, get_context("spawn"), _prepare, (self._settings, self._threads)
                )
            return self._pool

    def _kill(self, pool: ProcessPoolExecutor | None) -> None:
        """End the processes, whatever they do; the next call starts others."""
        with self._lock:
            if pool is None or pool is not self._pool:
                return
            self._pool = None
        for process in active_children():
            process.kill()
        pool.shutdown(cancel_futures=True)

    def end(self) -> None:
        """End all, whatever they do, and start no other."""
        with self._lock:
            self._is_ended = True
            pool = self._pool
        self._kill(pool)


class _Process:
    """What a search process has: the settings, and the memory, by the identity of its file."""

    settings: Settings
    memory: tuple[object, Holdfast] | None = None


def _prepare(settings: Settings, threads: int) -> None:
    """Begin in a new process, which ends with the server, in whichever way that ends. An interrupt
    of the whole group is the server's to handle: it lets running requests finish."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in _THREAD_LIMITS:
        os.environ.setdefault(name, str(threads))
    threading.Thread(target=_end_with_server, daemon=True).start()
    _Process.settings = settings


def _end_with_server() -> None:
    server = parent_process()
    if server is not None:
        server.join()
        os._exit(0)


def _memory() -> Holdfast:
    """The memory, opened anew where its file was replaced."""
    seen = database_identity(_Process.settings.database)
    if _Process.memory is None or _Process.memory[0] != seen:
        if _Process.memory is not None:
            _Process.memory[1].close()
            _Process.memory = None
        _Process.memory = (seen, Holdfast(_Process.settings, create=False))
    return _Process.memory[1]


def _recall(
    principal: Principal | None, bank: str | None, query: str, plan: RecallPlan
) -> RecallResult:
    memory = _memory()
    with memory.scoped_to(principal) if principal else nullcontext():
        return memory.search.recall_in_bank(bank, query, plan)


def _cosines(query: str, texts: tuple[str, ...]) -> list[float]:
    return _memory().search.cosines(query, texts)
