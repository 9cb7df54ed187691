"""The worker: one process per home that does all background work, and then exits.

It takes the lease, runs its steps in passes while there is work, waits a moment for more events,
and exits. A failed step is recorded and retried later; the other steps still run. A worker can be
killed at any time: each step finds its work in the store, so the next worker does what is left.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from types import FrameType
from typing import NamedTuple

from holdfast.app.background.step_runner import Attempt, RetrySchedule, Step, StopError, WorkerPass
from holdfast.app.background.steps import STEPS
from holdfast.app.background.transcript_queue import TranscriptQueue
from holdfast.app.background.worker_log import WorkerLog
from holdfast.app.core.context import utc_now
from holdfast.app.core.lease import LEASE_TIMEOUT_S, Lease, take_lease
from holdfast.app.memory import Holdfast
from holdfast.capture import inbox
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.redact import Redactor
from holdfast.errors import HoldfastError, NewerSchemaError, StoreError
from holdfast.settings import Settings

# Priority of a worker that hooks start: background work gives way to what the user runs.
_NICENESS = 10
# How long a waiting worker takes to notice a new event or a stop request.
_POLL_S = 0.1
# What the name of an event has in place of a session id, if it belongs to no session.
_NO_SESSION = "none"


class WorkerOptions(NamedTuple):
    """How a worker behaves. The defaults are for one that a person starts."""

    # Skip failed steps until their retry time, and log errors instead of raising them.
    respect_retry_times: bool = False
    # Make one pass only.
    once: bool = False
    # Wait before each pass: Claude Code writes the last message of a turn a moment after its hook.
    start_delay_s: float = 0.5
    # How long to wait for more events before exiting. Longer saves starting a process for the next
    # event; shorter frees memory sooner.
    linger_s: float = 2.0
    # How long to wait for another worker to give up the lease.
    lease_timeout_s: float = LEASE_TIMEOUT_S
    # Called with the name of each step that did something or failed, and what it did.
    on_step_done: Callable[[str, str], None] = lambda step, what: None
    # Called with what a long step does, how much is done, and how much there is.
    on_progress: Callable[[str, int, int], None] = lambda what, done, total: None


class WorkerOutcome(NamedTuple):
    """How many passes were made (None if another worker held the lease), what failed, whether it
    was told to stop, and whether a single pass left work for the next."""

    passes: int | None
    failed: tuple[str, ...] = ()
    stopped: bool = False
    more: bool = False


def run_worker(
    settings: Settings,
    options: WorkerOptions = WorkerOptions(),  # noqa: B008 - it cannot be changed
    steps: Sequence[Step] = STEPS,
    now: Callable[[], str] = utc_now,
    stop: threading.Event | None = None,
) -> WorkerOutcome:
    """Do all background work, unless another worker does. Setting `stop` ends it, as the signals
    SIGTERM and SIGHUP do."""
    paths = HomePaths(settings.home)
    with take_lease(paths, options.lease_timeout_s) as lease:
        if lease is None:
            return WorkerOutcome(None)
        with _stop_on_signals(stop or threading.Event()) as stopping:
            return Worker(settings, options, steps, now, stopping).run(lease)


def lower_priority() -> None:
    """Lower the priority of this process, where it has a number; on Linux that includes its disk
    access."""
    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(_NICENESS)


# Name, size and time of change, so that a half-written event counts as a new one when it is whole.
Event = tuple[str, int, int]


def waiting_events(paths: HomePaths) -> frozenset[Event]:
    """The events in the inbox that this version can read."""
    return frozenset(
        (event.path.name, event.size, event.changed_ns)
        for folder in inbox.inbox_folders(paths)
        for event in inbox.list_events(folder).events
    )


class Worker:
    """A worker that holds the lease."""

    def __init__(
        self,
        settings: Settings,
        options: WorkerOptions,
        steps: Sequence[Step],
        now: Callable[[], str],
        stop: threading.Event,
    ) -> None:
        self._settings = settings
        self._options = options
        self._steps = steps
        self._now = now
        self._stop = stop
        self._paths = HomePaths(settings.home)
        self._log = WorkerLog(self._paths.worker_log, now)
        self._retries = RetrySchedule(self._log, Redactor(settings.redact_patterns), now)
        self._queue = TranscriptQueue(settings, self._paths, now)
        self._memory: Holdfast | None = None
        self._seen: frozenset[Event] = frozenset()
        self._failed: dict[str, None] = {}

    def run(self, lease: Lease) -> WorkerOutcome:
        """Make passes until there is nothing left to do."""
        if lease.orphaned:
            # The last worker was killed: it may have taken events and not read their transcripts.
            self._queue.reset()
        passes = 0
        stopped = more = False
        try:
            while True:
                self._sleep(self._options.start_delay_s)
                more = self._pass()
                passes += 1
                if self._options.once or not (more or self._more_events_arrive(lease)):
                    break
        except StopError:
            stopped = True
            self._queue.reset()
        except NewerSchemaError as error:
            self._log.write(f"left: {error.full_text}")
            if not self._options.respect_retry_times:
                raise
        finally:
            if self._memory is not None:
                self._memory.close()
        return WorkerOutcome(passes, tuple(self._failed), stopped, more)

    def _more_events_arrive(self, lease: Lease) -> bool:
        """Wait a moment for new events. Then let hooks start another worker, and check again."""
        until = monotonic() + self._options.linger_s
        while monotonic() < until:
            if self._has_new_events():
                return True
            self._sleep(_POLL_S)
        lease.withdraw()
        if not self._has_new_events():
            return False
        lease.announce()
        return True

    def _has_new_events(self) -> bool:
        return bool(waiting_events(self._paths) - self._seen)

    def _sleep(self, seconds: float) -> None:
        """Sleep; raises `StopError` as soon as the worker must exit."""
        until = monotonic() + seconds
        while not self._stop.is_set() and (left := until - monotonic()) > 0:
            sleep(min(left, _POLL_S))
        self._check_stop()

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise StopError

    def _pass(self) -> bool:
        """Run every step once; returns whether another pass is needed at once."""
        self._open()
        self._seen = waiting_events(self._paths)
        worker_pass = WorkerPass(
            settings=self._settings,
            paths=self._paths,
            open_memory=self._memory,
            queue=self._queue,
            log=self._log,
            now=self._now,
            on_progress=self._report_progress,
            sessions={session for name, _, _ in self._seen if (session := event_session(name))},
        )
        for step in self._steps:
            self._check_stop()
            if step.runs_without_memory or self._memory is not None:
                self._run_step(step, worker_pass)
        if not worker_pass.transcripts_read:
            self._queue.reset()
        return worker_pass.run_again

    def _report_progress(self, what: str, done: int, total: int) -> None:
        self._check_stop()
        self._options.on_progress(what, done, total)

    def _open(self) -> None:
        """Open the memory if it is not open yet, and load the recorded failures. A database of a
        newer version ends the worker."""
        if self._memory is None:
            try:
                self._memory = Holdfast(self._settings, self._now)
            except NewerSchemaError:
                raise
            except StoreError as error:
                self._log.write(f"the memory cannot be opened: {error.message}")
                self._failed["open"] = None
                if not self._options.respect_retry_times:
                    raise
        try:
            self._retries.load(self._memory)
        except StoreError as error:
            self._log.write(f"the memory cannot be read: {error.message}")

    def _run_step(self, step: Step, worker_pass: WorkerPass) -> None:
        if self._options.respect_retry_times and self._retries.is_waiting(step.name):
            return
        summary = ""
        with Attempt() as attempt:
            summary = step.run(worker_pass)
        if attempt.error is None:
            self._retries.record_success(step.name)
            self._failed.pop(step.name, None)
            if summary:
                self._options.on_step_done(step.name, summary)
            return
        self._failed[step.name] = None
        task = self._retries.record_failure(step.name, attempt.error)
        self._options.on_step_done(step.name, f"failed: {task.problem}")


def event_session(event: str) -> str:
    """The session id in the file name of an event; "" if it has none."""
    parts = event.split(".")
    return parts[2] if len(parts) > 3 and parts[2] != _NO_SESSION else ""


@contextmanager
def _stop_on_signals(stop: threading.Event) -> Generator[threading.Event]:
    """Let SIGTERM and SIGHUP set `stop`; in the main thread only, where Python allows handlers."""
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def handle(number: int, frame: FrameType | None) -> None:
        stop.set()

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def log_error(settings: Settings, error: HoldfastError) -> None:
    """Write an error to the worker's log, for a worker that has no terminal."""
    WorkerLog(HomePaths(settings.home).worker_log, utc_now).write(error.full_text)
