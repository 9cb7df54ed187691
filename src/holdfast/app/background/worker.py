"""The worker as a process: one per home, which does all background work and then exits.

It takes the lease, makes passes over the steps (`runner`, `steps`), waits a moment for more events,
and exits. It can be killed at any time: each step finds its work in the store, so the next worker
does what is left.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from holdfast.app.background.runner import Step, Worker, WorkerLog, WorkerOptions, WorkerOutcome
from holdfast.app.background.steps import STEPS
from holdfast.app.core.context import utc_now
from holdfast.app.core.lease import take_lease
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import HoldfastError
from holdfast.settings import Settings

# Priority of a worker that hooks start: background work gives way to what the user runs.
_NICENESS = 10


def run_worker(
    settings: Settings,
    options: WorkerOptions = WorkerOptions(),  # noqa: B008 - it cannot be changed
    steps: Sequence[Step] = STEPS,
    now: Callable[[], str] = utc_now,
    stop: threading.Event | None = None,
) -> WorkerOutcome:
    """Do all background work, unless another worker does. Setting `stop` ends it, as the signals
    SIGTERM and SIGHUP do."""
    with take_lease(HomePaths(settings.home), options.lease_timeout_s) as lease:
        if lease is None:
            return WorkerOutcome(None)
        with _stop_on_signals(stop or threading.Event()) as stopping:
            return Worker(settings, options, now, stopping).run(lease, steps)


@contextmanager
def _stop_on_signals(stop: threading.Event) -> Generator[threading.Event]:
    """Let SIGTERM and SIGHUP set `stop`; in the main thread only, where Python allows handlers."""
    is_main = threading.current_thread() is threading.main_thread()
    names = ("SIGTERM", "SIGHUP") if is_main else ()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]

    def handle(number: int, frame: FrameType | None) -> None:
        stop.set()

    before = [(number, signal.signal(number, handle)) for number in numbers]
    try:
        yield stop
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def lower_priority() -> None:
    """Lower the priority of this process, where it has a number; on Linux that includes its disk
    access."""
    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(_NICENESS)


def log_error(settings: Settings, error: HoldfastError) -> None:
    """Write an error to the worker's log, for a worker that has no terminal."""
    WorkerLog(HomePaths(settings.home).worker_log, utc_now).write(error.full_text)
