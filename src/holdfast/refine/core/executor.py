"""Many hands for one kind of work: processes of this machine, or somebody else's cluster.

Things go out, what was made of them comes back in the same order, and only a few are under way at
once, so memory stays bounded however many there are. A process that dies is noticed and what it
had is given out anew; what comes to nothing twice comes back as None, for the caller to do itself.
Nobody but the caller writes anything.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol, Self, TypeVar

_MAX_ATTEMPTS = 2
# So many deaths in a row without any result: processes cannot work here at all.
_MAX_DEATHS_IN_A_ROW = 6

Item = TypeVar("Item")
Result = TypeVar("Made")


class Executor(Protocol):
    """Those who do the work; `size` is how many things they do at once."""

    @property
    def size(self) -> int: ...

    def map(
        self, do: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result | None]]:
        """Do it with each thing; each with what was made of it, in order."""
        ...

    def close(self) -> None:
        """Let them go."""
        ...


class NoExecutor:
    """No crew: everything is left to the caller."""

    size = 1

    def map(
        self, do: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result | None]]:
        """Each thing, undone."""
        for item in items:
            yield item, None

    def close(self) -> None:
        """There is nobody."""


class ProcessExecutor:
    """Processes of this machine, started when the first thing is to be done."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool: ProcessPoolExecutor | None = None
        self._deaths = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def map(
        self, do: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result | None]]:
        """Do it with each thing; each with what was made of it, in order."""
        waiting: deque[tuple[Item, Future[Result]]] = deque()
        try:
            for item in items:
                waiting.append((item, self._submit(do, item)))
                if len(waiting) > self.size + 1:
                    yield self._next_result(do, waiting)
            while waiting:
                yield self._next_result(do, waiting)
        finally:
            for _, future in waiting:
                future.cancel()

    def close(self) -> None:
        """End the processes, whatever they are at."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    def _submit(self, do: Callable[[Item], Result], item: Item) -> Future[Result]:
        for _ in range(_MAX_ATTEMPTS if self._deaths < _MAX_DEATHS_IN_A_ROW else 0):
            if self._pool is None:
                # Fresh processes: a fork would inherit the parent's open database.
                context = multiprocessing.get_context("spawn")
                with ignore_interrupts():
                    self._pool = ProcessPoolExecutor(
                        self.size, mp_context=context, initializer=_init_worker
                    )
            try:
                # Whether this starts a process is for the pool to say.
                with ignore_interrupts():
                    return self._pool.submit(do, item)
            except BrokenProcessPool:
                self.close()
        gone: Future[Result] = Future()
        gone.set_exception(BrokenProcessPool())
        return gone

    def _next_result(
        self, do: Callable[[Item], Result], waiting: deque[tuple[Item, Future[Result]]]
    ) -> tuple[Item, Result | None]:
        """The first of those that wait. When a process dies all of them are lost, and which one
        killed it nobody knows: they are given out anew, the first of them last of all to us."""
        for left in range(_MAX_ATTEMPTS, 0, -1):
            item, future = waiting[0]
            try:
                made = future.result()
            except BrokenProcessPool:
                self.close()
                self._deaths += 1
                if left > 1:
                    again = [(one, self._submit(do, one)) for one, _ in waiting]
                    waiting.clear()
                    waiting.extend(again)
                continue
            waiting.popleft()
            self._deaths = 0
            return item, made
        item, _ = waiting.popleft()
        again = [(one, self._submit(do, one)) for one, _ in waiting]
        waiting.clear()
        waiting.extend(again)
        return item, None


@contextmanager
def ignore_interrupts() -> Generator[None]:
    """Processes started in here do not hear Ctrl-C: the one that the user talks to stops them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _init_worker() -> None:
    """Yield to the user's own work, and never outlive the process that asked."""
    if hasattr(os, "nice"):
        os.nice(5)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
