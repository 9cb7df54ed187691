"""Running the retrievers of a search in parallel, each with its own reader, under one time limit.

A retriever that fails or is too slow is named in the result; the results of the others count.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from time import perf_counter

from holdfast.errors import HoldfastError
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import RetrieverReport
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.store.protocol import Reader, ReadStore

# Ends a retriever that hangs. Lower, and a slow machine loses results; higher, and people wait.
RETRIEVER_TIMEOUT_S = 5.0
# An interrupt ends the statement that is running, and nothing where none is: a retriever that is
# between two statements starts the next one. So it is repeated, less and less often, until the
# retriever has ended.
_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 1.0


class RetrieverResult(NamedTuple):
    """What a retriever found. `lowest_score` is what it would give to a passage that has nothing to
    do with the query; `problem` says what it had to do without."""

    passages: Sequence[ScoredPassage]
    lowest_score: float = 0.0
    problem: str = ""


class Retriever(NamedTuple):
    """One way to search. `run` is called in a thread with a reader of its own. An external
    retriever does not use the reader, and runs even if nothing is stored. One that ends by itself
    after `timeout_s` is waited for so long, even where the others have less time."""

    name: str
    run: Callable[[Reader], RetrieverResult]
    is_external: bool = False
    timeout_s: float = 0.0


class RetrieverRun(NamedTuple):
    """A finished run: what is reported of it, and what it found."""

    report: RetrieverReport
    result: RetrieverResult

    @property
    def failed(self) -> bool:
        """Whether it found nothing because of an error or a timeout."""
        return self.report.timed_out or bool(self.report.problem and not self.result.passages)


_NO_RESULT = RetrieverResult(())


def run_retrievers(
    store: ReadStore,
    retrievers: Sequence[Retriever],
    timeout_s: float = RETRIEVER_TIMEOUT_S,
    inline: int = 1,
) -> list[RetrieverRun]:
    """Run all retrievers at once and wait for each up to the limit, or up to its own if that is
    longer. So many of the first run in this thread, one after the other, on the store itself; each
    is interrupted when the time is up."""
    threads = [_RetrieverThread(retriever, store) for retriever in retrievers]
    started = perf_counter()
    for thread in threads[inline:]:
        thread.start()
    for thread in threads[:inline]:
        thread.run_inline(max(0.0, started + timeout_s - perf_counter()))
    runs: list[RetrieverRun] = []
    for retriever, thread in zip(retrievers, threads, strict=True):
        deadline = started + max(timeout_s, retriever.timeout_s)
        runs.append(thread.wait(max(0.0, deadline - perf_counter())))
    return runs


class _RetrieverThread:
    def __init__(self, retriever: Retriever, store: ReadStore) -> None:
        self._retriever = retriever
        self._store = store
        self._reader: ReadStore | None = None
        self._run: RetrieverRun | None = None
        self._thread = threading.Thread(target=self._main, name=retriever.name, daemon=True)
        self._over = threading.Event()
        # Nobody waits any more: the thread itself closes its reader. Set while `_ending` is held,
        # like `_over`, so that either the thread or who waited for it disposes of the reader.
        self._is_late = False
        self._ending = threading.Lock()
        self._started = perf_counter()

    def start(self) -> None:
        self._thread.start()

    def run_inline(self, timeout_s: float) -> None:
        self._reader = self._store
        timed_out = threading.Event()

        def watch() -> None:
            if not self._over.wait(timeout_s):
                timed_out.set()
                self._interrupt_until_over()

        watching = threading.Thread(target=watch, name=f"{self._retriever.name} limit", daemon=True)
        watching.start()
        try:
            run = _run(self._retriever, self._store)
        finally:
            self._over.set()
            watching.join()  # an interrupt that comes later would end what the store is asked next
        if run.failed and timed_out.is_set():
            run = run._replace(report=run.report._replace(timed_out=True, problem=""))
        self._run = run

    def _interrupt_until_over(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while not self._over.is_set():
            if self._reader is not None:
                self._reader.interrupt()
            self._over.wait(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _main(self) -> None:
        try:
            self._run = self._run_with_reader()
        finally:
            with self._ending:
                self._over.set()
            # A late interrupt may still come, so this reader is not lent again.
            if self._is_late and self._reader is not None:
                self._reader.close()

    def _run_with_reader(self) -> RetrieverRun | None:
        if self._retriever.is_external:
            return _run(self._retriever, self._store)
        try:
            self._reader = self._store.borrow_reader()
        except HoldfastError as error:
            return _failed(self._retriever, self._started, str(error))
        if self._reader is None:
            return None  # nothing is stored yet, so there is nothing to find
        return _run(self._retriever, self._reader)

    def wait(self, timeout_s: float) -> RetrieverRun:
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        with self._ending:
            self._is_late = late = not self._over.is_set()
        if not late and self._reader is not None and self._reader is not self._store:
            self._store.return_reader(self._reader)
        if not late and self._run is not None:
            return self._run
        if late and not self._retriever.is_external:
            threading.Thread(
                target=self._interrupt_until_over, name=f"{self._retriever.name} limit", daemon=True
            ).start()
        problem = "" if late or self._reader is None else "it broke off"
        report = RetrieverReport(self._retriever.name, _ms_since(self._started), 0, late, problem)
        return RetrieverRun(report, _NO_RESULT)


def _run(retriever: Retriever, reader: Reader) -> RetrieverRun:
    started = perf_counter()
    try:
        result = retriever.run(reader)
    except HoldfastError as error:
        return _failed(retriever, started, error.message)
    count, ms = len(result.passages), _ms_since(started)
    return RetrieverRun(RetrieverReport(retriever.name, ms, count, problem=result.problem), result)


def _failed(retriever: Retriever, started: float, problem: str) -> RetrieverRun:
    return RetrieverRun(
        RetrieverReport(retriever.name, _ms_since(started), 0, problem=problem), _NO_RESULT
    )


def _ms_since(started: float) -> float:
    return round((perf_counter() - started) * 1000, 2)
