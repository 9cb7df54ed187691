"""Recalls in other processes, for a server: the server's end. What runs there is in `searcher`.

Python runs one thread at a time, so a server that recalls in its own threads uses one core, however
many clients it has. A `SearchProcess` sends a recall to a process of its own and waits for what it
finds; a server has one for each core (`SearchProcesses`). Everything else (keys, limits, sessions,
events, metrics, writes) stays in the server, so there is one of each. Vectors are mapped from the
files of the home, so all processes share them.

A process reads calls from a socket and ends when the server's end of it is closed, in whichever
way the server ended. It only reads: to kill it loses nothing.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection

from holdfast import errors
from holdfast.errors import BusyError, HoldfastError
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import RecallResult
from holdfast.principal import Principal
from holdfast.recall.core.plan import RecallPlan
from holdfast.settings import Settings

_PROGRAM = "holdfast.app.server.searcher"
# How often a recall is tried: again if its process ended, because it was killed for its memory.
_TRIES = 2
# The libraries that multiply vectors start as many threads as there are cores, in each process.
_THREAD_LIMITS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def count_cores() -> int:
    """How many cores this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_workers(system: str = sys.platform) -> int:
    """How many processes search unless the settings say: one a core, but none beside the server
    on Windows, where a process cannot be given an open socket."""
    return 1 if system == "win32" else count_cores()


class RecallCall(NamedTuple):
    """What to recall: in the name of whom (None: the owner), in which bank, by its id."""

    principal: Principal | None
    bank: str | None
    query: str
    plan: RecallPlan


class CosinesCall(NamedTuple):
    """A query, and the texts to compare it with."""

    query: str
    texts: tuple[str, ...]


class RecallFailure(NamedTuple):
    """An error of a recall: the name of its class, and its words."""

    kind: str
    message: str
    remedy: str


class SearchProcess:
    """The server's end. One thread recalls at a time; another may end it."""

    def __init__(self, settings: Settings, timeout_s: float, threads: int = 1) -> None:
        """`timeout_s` is the longest that a recall may take; the process starts with the first
        one, and multiplies with so many threads."""
        self._settings = settings
        self._timeout_s = timeout_s
        self._environment = {**os.environ, **dict.fromkeys(_THREAD_LIMITS, str(threads))}
        self._running: tuple[subprocess.Popen[bytes], Connection] | None = None
        self._is_ended = False
        self._lock = threading.Lock()

    @property
    def is_running(self) -> bool:
        """Whether there is a process."""
        return self._running is not None

    def recall(
        self, principal: Principal | None, bank: str | None, query: str, plan: RecallPlan
    ) -> RecallResult:
        """As `Search.recall_in_bank`, in the name of the principal."""
        found = self._call(RecallCall(principal, bank, query, plan))
        assert isinstance(found, RecallResult)
        return found

    def cosines(self, query: str, texts: Sequence[str]) -> list[float]:
        """As `Search.cosines`."""
        found = self._call(CosinesCall(query, tuple(texts)))
        assert isinstance(found, list)
        return found

    def _call(self, call: RecallCall | CosinesCall) -> RecallResult | list[float]:
        for _ in range(_TRIES):
            _, connection = self._started()
            try:
                connection.send(call)
                if not connection.poll(self._timeout_s):
                    break
                return _result(connection.recv())
            except (OSError, EOFError):
                self._end_process()
        self._end_process()
        raise BusyError("The search took too long, or its process ended.", "Ask again.")

    def end(self) -> None:
        """End the process, whatever it does, and start no other."""
        with self._lock:
            self._is_ended = True
        self._end_process()

    def _started(self) -> tuple[subprocess.Popen[bytes], Connection]:
        with self._lock:
            if self._is_ended:
                raise BusyError("The server is stopping.", "Try again in a moment.")
            if self._running is None:
                self._running = self._start()
            return self._running

    def _start(self) -> tuple[subprocess.Popen[bytes], Connection]:
        own, other = socket.socketpair()
        with other:
            # Both write to the log of the server, and neither to its output.
            process = subprocess.Popen(
                [sys.executable, "-m", _PROGRAM, str(other.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(other.fileno(),),
                env=self._environment,
            )
        connection = Connection(own.detach())
        connection.send(self._settings)
        return process, connection

    def _end_process(self) -> None:
        with self._lock:
            running, self._running = self._running, None
        if running is None:
            return
        process, connection = running
        process.kill()
        process.wait()
        connection.close()


class SearchProcesses:
    """So many search processes, for more threads than that: a thread has one only while it
    recalls, so that it is not idle while the thread turns what it found into an answer."""

    def __init__(self, settings: Settings, timeout_s: float, count: int, threads: int = 1) -> None:
        """`timeout_s` is the longest that a recall may take, or wait for a process; each multiplies
        with so many threads, and starts when a recall finds all others busy."""
        self._timeout_s = timeout_s
        self._all = [SearchProcess(settings, timeout_s, threads) for _ in range(count)]
        # The one that was used last is the last: it runs already.
        self._idle = list(self._all)
        self._changed = threading.Condition()
        self._last = threading.local()

    @property
    def running(self) -> int:
        """How many there are by now."""
        return sum(one.is_running for one in self._all)

    def recall(
        self, principal: Principal | None, bank: str | None, query: str, plan: RecallPlan
    ) -> RecallResult:
        """As `SearchProcess.recall`, in the first process that is idle."""
        with self.borrowed() as process:
            self._last.process = process
            return process.recall(principal, bank, query, plan)

    def cosines(self, query: str, texts: Sequence[str]) -> list[float]:
        """As `SearchProcess.cosines`, in the process in which this thread last recalled: it has
        loaded the model for that."""
        with self.borrowed(getattr(self._last, "process", None)) as process:
            return process.cosines(query, texts)

    def end(self) -> None:
        """End all, whatever they do, and start no other."""
        for process in self._all:
            process.end()

    @contextmanager
    def borrowed(self, wanted: SearchProcess | None = None) -> Generator[SearchProcess]:
        """An idle process, or the wanted one as soon as it is idle; nobody else has it."""
        with self._changed:
            there = self._changed.wait_for(
                lambda: self._idle and (wanted is None or wanted in self._idle), self._timeout_s
            )
            if not there:
                raise BusyError("All searches take too long.", "Ask again.")
            process = wanted or self._idle[-1]
            self._idle.remove(process)
        try:
            yield process
        finally:
            with self._changed:
                self._idle.append(process)
                self._changed.notify_all()


def _result(found: RecallResult | list[float] | RecallFailure) -> RecallResult | list[float]:
    """What a call found; raises its error as it was raised there."""
    if not isinstance(found, RecallFailure):
        return found
    kind = getattr(errors, found.kind, HoldfastError)
    raise kind(found.message, found.remedy)
