"""The runner of the worker: passes over a list of steps, until there is nothing left to do.

A step that fails is recorded and retried later; the others still run. Nothing here knows what the
steps do (`steps`), or that a worker is a process (`worker`).
"""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stderr, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import IO, NamedTuple, cast

from holdfast.app.background.transcript_queue import TranscriptQueue
from holdfast.app.core.lease import LEASE_TIMEOUT_S, Lease
from holdfast.app.memory import Holdfast
from holdfast.capture import inbox
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.redact import Redactor
from holdfast.errors import HoldfastError, NewerSchemaError, StoreError
from holdfast.model.ledgers.failed_tasks import FailedTask
from holdfast.operating_system import OPEN_FLAGS
from holdfast.private_files import write_private
from holdfast.settings import Settings
from holdfast.store.protocol import Store
from holdfast.times import add_seconds

# A failed step is retried after 30 seconds, then after twice as long each time, up to 4 hours: most
# failures are brief (a locked file, a service that restarts), and one that lasts must not cost a
# try at every hook event.
FIRST_RETRY_S = 30
LONGEST_RETRY_S = 4 * 3600
# Characters of an error that are stored and shown; an error may quote a whole response.
_MAX_PROBLEM_CHARACTERS = 400
# The log is cut to its later half when it is longer than this.
MAX_LOG_BYTES = 200_000
# Characters of one entry of it, so that a single long error cannot fill the log.
_MAX_LINE_CHARACTERS = 4_000
# How long a waiting worker takes to notice a new event or a stop request.
_POLL_S = 0.1
# What the name of an event has in place of a session id, if it belongs to no session.
_NO_SESSION = "none"


class StopError(Exception):
    """The worker must exit. A step that this interrupts has not failed."""


class TimeUpError(Exception):
    """A step has used up its time; the rest of its work waits for the next pass."""


class WorkerOptions(NamedTuple):
    """How a worker behaves. The defaults are for one that a person starts."""

    # Skip failed steps until their retry time, and log errors instead of raising them.
    respect_retry_times: bool = False
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
    """How many passes were made (None if another worker held the lease), what failed, and whether
    it was told to stop."""

    passes: int | None
    failed: tuple[str, ...] = ()
    stopped: bool = False


class WorkerLog:
    """The log of a program without a terminal: a file of lines, each with time and process id, of
    bounded size. Errors while writing are ignored."""

    def __init__(self, path: Path, now: Callable[[], str]) -> None:
        self._path = path
        self._now = now

    def write(self, text: str) -> None:
        """Append one line; a file that is too long is cut to its later half first."""
        line = f"{self._now()} [{os.getpid()}] {' '.join(text.split())[:_MAX_LINE_CHARACTERS]}\n"
        with suppress(OSError):
            if self._path.exists() and self._path.stat().st_size > MAX_LOG_BYTES:
                kept = self._path.read_bytes()[-MAX_LOG_BYTES // 2 :]
                write_private(self._path, kept.partition(b"\n")[2])
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | OPEN_FLAGS
            with os.fdopen(os.open(self._path, flags, 0o600), "ab") as file:
                file.write(line.encode("utf-8", "replace"))


class RetrySchedule:
    """Which tasks have failed, and when each may be retried. Kept in the store; if that cannot be
    written, in the log and in this object."""

    def __init__(self, log: WorkerLog, redactor: Redactor, now: Callable[[], str]) -> None:
        self._log = log
        self._redactor = redactor
        self._now = now
        self._store: Store | None = None
        self._known: dict[str, FailedTask] = {}

    def load(self, store: Store) -> None:
        """Read the failures that earlier workers recorded; new ones are stored there, too."""
        self._store = store
        self._known = {task.name: task for task in store.failed_tasks.all()}

    def is_waiting(self, name: str) -> bool:
        """Whether it is too early to retry. If the failure lies in the future, the clock was set
        back, and the task does not wait."""
        task = self._known.get(name)
        return task is not None and task.failed_at <= self._now() < task.not_before

    def record_failure(self, name: str, error: Exception) -> FailedTask:
        """Record a failure; the time until the next try doubles."""
        now = self._now()
        attempts = self._known[name].attempts + 1 if name in self._known else 1
        delay_s = min(FIRST_RETRY_S * 2 ** min(attempts - 1, 20), LONGEST_RETRY_S)
        problem = self._redactor.redact(_describe(error)).text[:_MAX_PROBLEM_CHARACTERS]
        task = FailedTask(name, attempts, problem, now, add_seconds(now, delay_s))
        self._known[name] = task
        self._log.write(f"{name} failed ({attempts}): {problem}; next try from {task.not_before}")
        self._change(lambda store: store.failed_tasks.put(task))
        return task

    def record_success(self, name: str) -> None:
        """Clear the failure of a task that has succeeded."""
        if self._known.pop(name, None) is not None:
            self._change(lambda store: store.failed_tasks.clear(name))

    def _change(self, change: Callable[[Store], None]) -> None:
        if self._store is None:
            return
        try:
            with self._store.transaction():
                change(self._store)
        except StoreError as error:
            self._log.write(f"cannot be noted in the store: {error.message}")


def _describe(error: Exception) -> str:
    """The error for people; with file and line if it is not one of Holdfast's own errors."""
    if isinstance(error, HoldfastError):
        return error.full_text
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"


# Name, size and time of change, so that a half-written event counts as a new one when it is whole.
_Event = tuple[str, int, int]


class Worker:
    """A worker that holds the lease, and what its steps share.

    Hook events named the `sessions` and `transcripts` of this pass; `transcripts_read` is set once
    these are read. A step sets `run_again` to ask for another pass at once."""

    def __init__(
        self,
        settings: Settings,
        options: WorkerOptions,
        now: Callable[[], str],
        stop: threading.Event,
    ) -> None:
        self.settings = settings
        self.now = now
        self.paths = HomePaths(settings.home)
        self.log = WorkerLog(self.paths.worker_log, now)
        self.retries = RetrySchedule(self.log, Redactor(settings.redact_patterns), now)
        self.queue = TranscriptQueue(settings, self.paths, now)
        self.open_memory: Holdfast | None = None
        self.sessions: set[str] = set()
        self.transcripts: set[Path] = set()
        self.transcripts_read = self.run_again = False
        self._options = options
        self._stop = stop
        self._seen: frozenset[_Event] = frozenset()
        self._failed: dict[str, None] = {}

    @property
    def memory(self) -> Holdfast:
        """The open memory. Not for a step that `runs_without_memory`."""
        assert self.open_memory is not None
        return self.open_memory

    def on_progress(self, what: str, done: int = 0, total: int = 0) -> None:
        """Report how far a long step is; raises `StopError` when the worker must exit."""
        self._check_stop()
        self._options.on_progress(what, done, total)

    def reporter(self, what: str) -> Callable[[], None]:
        """A function that reports a step that cannot say how far it is."""
        return lambda: self.on_progress(what)

    def run(self, lease: Lease, steps: Sequence[Step]) -> WorkerOutcome:
        """Make passes until there is nothing left to do."""
        if lease.orphaned:
            # The last worker was killed: it may have taken events and not read their transcripts.
            self.queue.reset()
        passes, stopped = 0, False
        try:
            while not passes or self.run_again or self._more_events_arrive(lease):
                self._sleep(self._options.start_delay_s)
                self._pass(steps)
                passes += 1
        except StopError:
            stopped = True
            self.queue.reset()
        except NewerSchemaError as error:
            self.log.write(f"left: {error.full_text}")
            if not self._options.respect_retry_times:
                raise
        finally:
            if self.open_memory is not None:
                self.open_memory.close()
        return WorkerOutcome(passes, tuple(self._failed), stopped)

    def _pass(self, steps: Sequence[Step]) -> None:
        """Run every step once."""
        self._open()
        self._seen = self._events()
        self.sessions = {session for name, *_ in self._seen if (session := event_session(name))}
        self.transcripts = set()
        self.transcripts_read = self.run_again = False
        for step in steps:
            self._check_stop()
            if step.runs_without_memory or self.open_memory is not None:
                self._run_step(step)
        if not self.transcripts_read:
            self.queue.reset()

    def _open(self) -> None:
        """Open the memory if it is not open yet, and load the recorded failures. A database of a
        newer version ends the worker."""
        try:
            # An upgrade says there where its backup is.
            with redirect_stderr(cast("IO[str]", self.log)):
                self.open_memory = self.open_memory or Holdfast(self.settings, self.now)
            self.retries.load(self.open_memory.store)
        except NewerSchemaError:
            raise
        except StoreError as error:
            what = "read" if self.open_memory else "opened"
            self.log.write(f"the memory cannot be {what}: {error.message}")
            if self.open_memory is None:
                self._failed["open"] = None
                if not self._options.respect_retry_times:
                    raise

    def _run_step(self, step: Step) -> None:
        if self._options.respect_retry_times and self.retries.is_waiting(step.name):
            return

        def failed(kind: object, error: BaseException | None, trace: object) -> bool:
            """Record any error but those that end the worker."""
            if not isinstance(error, Exception) or isinstance(error, StopError | NewerSchemaError):
                return False
            self._failed[step.name] = None
            task = self.retries.record_failure(step.name, error)
            self._options.on_step_done(step.name, f"failed: {task.problem}")
            return True

        with ExitStack() as attempt:
            attempt.push(failed)
            summary = step.run(self) if step.is_due(self) else ""
            self.retries.record_success(step.name)
            self._failed.pop(step.name, None)
            if summary:
                self._options.on_step_done(step.name, summary)

    def _more_events_arrive(self, lease: Lease) -> bool:
        """Wait a moment for new events. Then let hooks start another worker, and check again."""
        until = monotonic() + self._options.linger_s
        while monotonic() < until:
            if self._events() - self._seen:
                return True
            self._sleep(_POLL_S)
        lease.withdraw()
        if not self._events() - self._seen:
            return False
        lease.announce()
        return True

    def _events(self) -> frozenset[_Event]:
        """The events in the inbox that this version can read."""
        return frozenset(
            (event.path.name, event.size, event.changed_ns)
            for folder in inbox.inbox_folders(self.paths)
            for event in inbox.list_events(folder).events
        )

    def _sleep(self, seconds: float) -> None:
        """Sleep; raises `StopError` as soon as the worker must exit."""
        until = monotonic() + seconds
        while not self._stop.is_set() and (left := until - monotonic()) > 0:
            sleep(min(left, _POLL_S))
        self._check_stop()

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise StopError


@dataclass(frozen=True)
class Step:
    """A part of a pass. `run` returns what it did, for people, or "" if there was nothing to do;
    `is_due` says cheaply that there is nothing to do. `name` is stored with failures and shown to
    users."""

    name: str
    run: Callable[[Worker], str]
    # Whether it also runs while the database cannot be opened.
    runs_without_memory: bool = False
    is_due: Callable[[Worker], object] = lambda worker: True


def event_session(event: str) -> str:
    """The session id in the file name of an event; "" if it has none."""
    parts = event.split(".")
    return parts[2] if len(parts) > 3 and parts[2] != _NO_SESSION else ""
