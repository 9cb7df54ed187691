"""What the worker's steps share: the pass they belong to, and when a failed step is retried."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from holdfast.app.background.transcript_queue import TranscriptQueue
from holdfast.app.background.worker_log import WorkerLog
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.redact import Redactor
from holdfast.errors import HoldfastError, NewerSchemaError, StoreError
from holdfast.model.ledgers.failed_tasks import FailedTask
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


class StopError(Exception):
    """The worker must exit. A step that this interrupts has not failed."""


class TimeUpError(Exception):
    """A step has used up its time; the rest of its work waits for the next pass."""


@dataclass(slots=True)
class WorkerPass:
    """One pass over all steps, and what they share. Hook events named the `sessions` and their
    `transcripts`; `transcripts_read` is set once these are read. A step sets `run_again` to ask for
    another pass at once. `on_progress(what, done, total)` reports how far a long step is, and
    raises `StopError` when the worker must exit."""

    settings: Settings
    paths: HomePaths
    open_memory: Holdfast | None
    queue: TranscriptQueue
    log: WorkerLog
    now: Callable[[], str]
    on_progress: Callable[[str, int, int], None]
    sessions: set[str] = field(default_factory=set[str])
    transcripts: set[Path] = field(default_factory=set[Path])
    run_again: bool = False
    transcripts_read: bool = False

    @property
    def memory(self) -> Holdfast:
        """The open memory. Not for a step that `runs_without_memory`."""
        assert self.open_memory is not None
        return self.open_memory

    def reporter(self, what: str) -> Callable[[], None]:
        """A function that reports a step that cannot say how far it is."""
        return lambda: self.on_progress(what, 0, 0)


class Step(NamedTuple):
    """A part of a pass. `run` returns what it did, for people, or "" if there was nothing to do.
    `name` is stored with failures and shown to users."""

    name: str
    run: Callable[[WorkerPass], str]
    # Whether it also runs while the database cannot be opened.
    runs_without_memory: bool = False


class Attempt:
    """A context manager that catches any error and keeps it in `error`, except `StopError` and
    `NewerSchemaError`, which end the worker."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception) or isinstance(error, StopError | NewerSchemaError):
            return False
        self.error = error
        return True


class RetrySchedule:
    """Which tasks have failed, and when each may be retried. Kept in the store; if that cannot be
    written, in the log and in this object."""

    def __init__(self, log: WorkerLog, redactor: Redactor, now: Callable[[], str]) -> None:
        self._log = log
        self._redactor = redactor
        self._now = now
        self._memory: Holdfast | None = None
        self._known: dict[str, FailedTask] = {}

    def load(self, memory: Holdfast | None) -> None:
        """Read the failures that earlier workers recorded; new ones are stored there, too."""
        self._memory = memory
        if memory is not None:
            self._known = {task.name: task for task in memory.store.failed_tasks.all()}

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
        problem = self._redactor.redact(describe_error(error)).text[:_MAX_PROBLEM_CHARACTERS]
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
        if self._memory is None:
            return
        try:
            with self._memory.store.transaction():
                change(self._memory.store)
        except StoreError as error:
            self._log.write(f"cannot be noted in the store: {error.message}")


def join_counts(*parts: tuple[object, str]) -> str:
    """The texts whose count is not 0, or whose condition holds, as one line for people."""
    return "; ".join(text for count, text in parts if count)


def describe_error(error: Exception) -> str:
    """The error for people; with file and line if it is not one of Holdfast's own errors."""
    if isinstance(error, HoldfastError):
        return error.full_text
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"
