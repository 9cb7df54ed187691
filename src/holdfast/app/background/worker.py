"""The worker: one process per home that does what is to be done behind the scenes, and leaves.

It holds the lease, makes passes over its steps while there is something to do, lingers a moment,
and goes. A step that fails is noted and tried again later; the others go on. Whatever is killed
here is still undone when the next worker looks, because each step derives its work from what is
stored.
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

NICENESS = 10
# Claude Code writes the last message of a turn a moment after its hook.
SETTLE_S = 0.5
LINGER_S = 2.0
_POLL_S = 0.1
_NO_SESSION = "none"


class WorkerOptions(NamedTuple):
    """How a worker behaves: what a person starts tries everything at once and does not wait for
    more; `tell` hears of every step that did something, `tick` how far a long one is."""

    respect_retry_times: bool = False
    once: bool = False
    start_delay_s: float = SETTLE_S
    linger_s: float = LINGER_S
    lease_timeout_s: float = LEASE_TIMEOUT_S
    on_step_done: Callable[[str, str], None] = lambda step, what: None
    on_progress: Callable[[str, int, int], None] = lambda what, done, total: None


class WorkerOutcome(NamedTuple):
    """What came of a worker: None passes if another one was at work."""

    passes: int | None
    failed: tuple[str, ...] = ()


def run_worker(
    settings: Settings,
    options: WorkerOptions = WorkerOptions(),  # noqa: B008 - it cannot be changed
    steps: Sequence[Step] = STEPS,
    now: Callable[[], str] = utc_now,
    stop: threading.Event | None = None,
) -> WorkerOutcome:
    """Do what is to be done, unless someone else does. Whoever sets `told` makes it leave, as
    the signals SIGTERM and SIGHUP do."""
    places = HomePaths(settings.home)
    with take_lease(places, options.lease_timeout_s) as held:
        if held is None:
            return WorkerOutcome(None)
        with _hearing(stop or threading.Event()) as heard:
            return Worker(settings, options, steps, now, heard).run(held)


def lower_priority() -> None:
    """Leave the machine to others. On Linux the turn at the disk follows the same number."""
    with suppress(OSError):
        os.nice(NICENESS)


Event = tuple[str, int, int]


def waiting_events(places: HomePaths) -> frozenset[Event]:
    """The events in the inbox: name, size and time, so that one that is still being written is
    another one when it is whole. Those of other versions are not ours."""
    return frozenset(
        (event.path.name, event.size, event.changed_ns)
        for folder in inbox.inbox_folders(places)
        for event in inbox.list_events(folder).events
    )


class Worker:
    """A worker that has the lease."""

    def __init__(
        self,
        settings: Settings,
        manner: WorkerOptions,
        steps: Sequence[Step],
        now: Callable[[], str],
        told: threading.Event,
    ) -> None:
        self._settings = settings
        self._manner = manner
        self._steps = steps
        self._now = now
        self._told = told
        self._places = HomePaths(settings.home)
        self._log = WorkerLog(self._places.worker_log, now)
        self._chores = RetrySchedule(self._log, Redactor(settings.redact_patterns), now)
        self._unread = TranscriptQueue(settings, self._places)
        self._memory: Holdfast | None = None
        self._seen: frozenset[Event] = frozenset()
        self._failed: dict[str, None] = {}

    def run(self, held: Lease) -> WorkerOutcome:
        """Make passes until there is nothing more to do."""
        if held.orphaned:
            # One that left without a word may have taken up events and not read what they told of.
            self._unread.reset()
        passes = 0
        try:
            while True:
                self._rest(self._manner.start_delay_s)
                more = self._pass()
                passes += 1
                if self._manner.once or not (more or self._more_comes(held)):
                    break
        except StopError:
            self._unread.reset()
        except NewerSchemaError as error:
            self._log.write(f"left: {error.message} {error.remedy}")
            if not self._manner.respect_retry_times:
                raise
        finally:
            if self._memory is not None:
                self._memory.close()
        return WorkerOutcome(passes, tuple(self._failed))

    def _more_comes(self, held: Lease) -> bool:
        """Wait a moment for more; then let hooks start another worker, and look once more."""
        until = monotonic() + self._manner.linger_s
        while monotonic() < until:
            if self._news():
                return True
            self._rest(_POLL_S)
        held.withdraw()
        if not self._news():
            return False
        held.announce()
        return True

    def _news(self) -> bool:
        return bool(waiting_events(self._places) - self._seen)

    def _rest(self, seconds: float) -> None:
        """Sleep, but wake up when told to leave."""
        until = monotonic() + seconds
        while not self._told.is_set() and (left := until - monotonic()) > 0:
            sleep(min(left, _POLL_S))
        self._heed()

    def _heed(self) -> None:
        if self._told.is_set():
            raise StopError

    def _pass(self) -> bool:
        """Every step once; says whether there is more to do at once."""
        self._open()
        self._seen = waiting_events(self._places)
        made = WorkerPass(
            settings=self._settings,
            paths=self._places,
            open_memory=self._memory,
            queue=self._unread,
            log=self._log,
            now=self._now,
            on_progress=self._tick,
            sessions={session for name, _, _ in self._seen if (session := event_session(name))},
        )
        for step in self._steps:
            self._heed()
            if step.runs_without_memory or self._memory is not None:
                self._do(step, made)
        if not made.transcripts_read:
            self._unread.reset()
        return made.run_again

    def _tick(self, what: str, done: int, total: int) -> None:
        self._heed()
        self._manner.on_progress(what, done, total)

    def _open(self) -> None:
        """Open the memory, if it can be; a newer one than we know is none of our business."""
        if self._memory is None:
            try:
                self._memory = Holdfast(self._settings, self._now)
            except NewerSchemaError:
                raise
            except StoreError as error:
                self._log.write(f"the memory cannot be opened: {error.message}")
                self._failed["open"] = None
                if not self._manner.respect_retry_times:
                    raise
        try:
            self._chores.load(self._memory)
        except StoreError as error:
            self._log.write(f"the memory cannot be read: {error.message}")

    def _do(self, step: Step, made: WorkerPass) -> None:
        if self._manner.respect_retry_times and self._chores.is_waiting(step.name):
            return
        told = ""
        with Attempt() as attempt:
            told = step.run(made)
        if attempt.error is None:
            self._chores.record_success(step.name, self._memory)
            self._failed.pop(step.name, None)
            if told:
                self._manner.on_step_done(step.name, told)
            return
        self._failed[step.name] = None
        chore = self._chores.record_failure(step.name, attempt.error, self._memory)
        self._manner.on_step_done(step.name, f"failed: {chore.problem}")


def event_session(event: str) -> str:
    """The session in the name of an event; "" where it names none."""
    parts = event.split(".")
    return parts[2] if len(parts) > 3 and parts[2] != _NO_SESSION else ""


@contextmanager
def _hearing(told: threading.Event) -> Generator[threading.Event]:
    """Hear the wish that we leave, where signals can be heard."""
    if threading.current_thread() is not threading.main_thread():
        yield told
        return

    def hear(number: int, frame: FrameType | None) -> None:
        told.set()

    before = {number: signal.signal(number, hear) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def log_error(settings: Settings, error: HoldfastError) -> None:
    """What a nudged worker does with an error that nobody is there to read."""
    WorkerLog(HomePaths(settings.home).worker_log, utc_now).write(f"{error.message} {error.remedy}")
