"""Runs a function over many items in several processes.

Results come back in the order of the items, and only a few items are in flight at once, so memory
stays bounded. The items of a process that died are submitted again; an item that fails twice comes
back with None, and the caller does it itself. Only the caller writes to the store.
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
from typing import Protocol, TypeVar

# A process may die for a reason of its own (out of memory beside a large neighbour), so an item
# gets a second chance; one that kills its process twice is left to the caller.
_MAX_ATTEMPTS = 2
# After so many deaths without a result in between, processes cannot work on this machine at all,
# and everything is left to the caller.
_MAX_DEATHS_IN_A_ROW = 6

Item = TypeVar("Item")
Result = TypeVar("Result")


class Executor(Protocol):
    """Applies a function to items in parallel; `size` is how many at once."""

    @property
    def size(self) -> int: ...

    def map(
        self, do: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result | None]]:
        """Each item with its result, in order; None where the caller has to do it itself."""
        ...

    def close(self) -> None:
        """Release the workers."""
        ...


class NoExecutor:
    """Runs nothing: every item comes back with None, for the caller to do."""

    size = 1

    def map(
        self, do: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result | None]]:
        """Each item with None."""
        for item in items:
            yield item, None

    def close(self) -> None:
        """Do nothing."""


class ProcessExecutor:
    """Runs work in processes of this machine, which start with the first item."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool: ProcessPoolExecutor | None = None
        self._deaths = 0

    def map(
        self, do: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result | None]]:
        """See `Executor.map`."""
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
        """End the processes without waiting for their work."""
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
                # The pool may start a process here.
                with ignore_interrupts():
                    return self._pool.submit(do, item)
            except BrokenProcessPool:
                self.close()
        failed: Future[Result] = Future()
        failed.set_exception(BrokenProcessPool())
        return failed

    def _resubmit(
        self, do: Callable[[Item], Result], waiting: deque[tuple[Item, Future[Result]]]
    ) -> None:
        again = [(item, self._submit(do, item)) for item, _ in waiting]
        waiting.clear()
        waiting.extend(again)

    def _next_result(
        self, do: Callable[[Item], Result], waiting: deque[tuple[Item, Future[Result]]]
    ) -> tuple[Item, Result | None]:
        """Remove and return the first waiting item with its result. When a process dies the whole
        pool breaks, and nothing says which item killed it, so all waiting items are submitted
        again. If the first still has no result after the last attempt, it comes back with None."""
        for left in range(_MAX_ATTEMPTS, 0, -1):
            item, future = waiting[0]
            try:
                result = future.result()
            except BrokenProcessPool:
                self.close()
                self._deaths += 1
                if left > 1:
                    self._resubmit(do, waiting)
                continue
            waiting.popleft()
            self._deaths = 0
            return item, result
        item, _ = waiting.popleft()
        self._resubmit(do, waiting)
        return item, None


@contextmanager
def ignore_interrupts() -> Generator[None]:
    """Start processes that ignore Ctrl-C, so that only the main process reacts and stops them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _init_worker() -> None:
    """Lower the priority of a worker process, and end it when its parent ends."""
    if hasattr(os, "nice"):
        os.nice(5)  # below the user's own programs, above the idle class
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
