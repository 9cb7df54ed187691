"""Arms run side by side, each with its own reader and its own time limit.

An arm that fails or is too slow is named in the result; the others' finds stand.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import NamedTuple

from holdfast.errors import HoldfastError
from holdfast.model.query import Strategy
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.store.protocol import Reader, ReadStore

RETRIEVER_TIMEOUT_S = 5.0


class RetrieverResult(NamedTuple):
    """What an arm brings home; `lowest` is its score for what has nothing to do with it, and
    `problem` says what it had to do without."""

    passages: Sequence[ScoredPassage]
    lowest_score: float = 0.0
    problem: str = ""


class Retriever(NamedTuple):
    """One way to search. A reader is handed to it, for it runs in a thread of its own; one that
    looks `elsewhere` has no use for it, and runs though nothing is stored."""

    name: str
    run: Callable[[Reader], RetrieverResult]
    is_external: bool = False


class RetrieverRun(NamedTuple):
    """How an arm came in."""

    strategy: Strategy
    result: RetrieverResult

    @property
    def failed(self) -> bool:
        """Whether it brought nothing home because it could not, or not in time."""
        return self.strategy.timed_out or bool(self.strategy.problem and not self.result.passages)


_NOTHING = RetrieverResult(())


def run_retrievers(
    store: ReadStore, retrievers: Sequence[Retriever], timeout_s: float = RETRIEVER_TIMEOUT_S
) -> list[RetrieverRun]:
    """Run the arms at once and wait for each up to the limit. The first runs here, on the store
    itself, and is broken off when its time is up."""
    lanes = [_Lane(arm, store) for arm in retrievers]
    started = perf_counter()
    for lane in lanes[1:]:
        lane.start()
    for lane in lanes[:1]:
        lane.run_here(timeout_s)
    return [lane.finish(max(0.0, timeout_s - (perf_counter() - started))) for lane in lanes]


class _Lane:
    def __init__(self, arm: Retriever, store: ReadStore) -> None:
        self._arm = arm
        self._store = store
        self._own: ReadStore | None = None
        self._finish: RetrieverRun | None = None
        self._thread = threading.Thread(target=self._go, name=arm.name, daemon=True)
        self._started = perf_counter()

    def start(self) -> None:
        self._thread.start()

    def run_here(self, limit_s: float) -> None:
        alarm = threading.Timer(limit_s, self._store.interrupt)
        alarm.daemon = True
        alarm.start()
        try:
            finish = _run(self._arm, self._store)
        finally:
            alarm.cancel()
        if finish.failed and finish.strategy.ms >= limit_s * 1000:
            late = finish.strategy._replace(timed_out=True, problem="")
            finish = finish._replace(strategy=late)
        self._finish = finish

    def _go(self) -> None:
        if self._arm.is_external:
            self._finish = _run(self._arm, self._store)
            return
        try:
            self._own = self._store.borrow_reader()
        except HoldfastError as error:
            self._finish = _failed(self._arm, self._started, str(error))
            return
        if self._own is None:
            return  # nothing is stored yet, so there is nothing to find
        self._finish = _run(self._arm, self._own)

    def finish(self, patience: float) -> RetrieverRun:
        if self._thread.ident is not None:
            self._thread.join(patience)
        if self._finish is not None:
            if self._own is not None:
                self._store.return_reader(self._own)
            return self._finish
        late = self._thread.is_alive()
        if late and self._own is not None:
            self._own.interrupt()
        ms = round((perf_counter() - self._started) * 1000, 2)
        why = "" if late or self._own is None else "it broke off"
        return RetrieverRun(Strategy(self._arm.name, ms, 0, late, why), _NOTHING)


def _run(arm: Retriever, reader: Reader) -> RetrieverRun:
    started = perf_counter()
    try:
        found = arm.run(reader)
    except HoldfastError as error:
        return _failed(arm, started, error.message)
    ms = round((perf_counter() - started) * 1000, 2)
    return RetrieverRun(Strategy(arm.name, ms, len(found.passages), problem=found.problem), found)


def _failed(arm: Retriever, started: float, why: str) -> RetrieverRun:
    ms = round((perf_counter() - started) * 1000, 2)
    return RetrieverRun(Strategy(arm.name, ms, 0, problem=why), _NOTHING)
