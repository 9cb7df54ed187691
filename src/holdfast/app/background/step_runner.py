"""What a pass of the worker is made of: steps, each guarded, and what they share."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from holdfast.app.background.transcript_queue import TranscriptQueue
from holdfast.app.background.worker_log import WorkerLog
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.redact import Redactor
from holdfast.errors import HoldfastError, NewerSchemaError, StoreError
from holdfast.model.failed_tasks import FailedTask
from holdfast.settings import Settings

FIRST_RETRY_S = 30
LONGEST_RETRY_S = 4 * 3600
_PROBLEM = 400


class StopError(Exception):
    """The worker was asked to leave; a step broken off by this has not failed."""


class TimeUpError(Exception):
    """A step has taken its time; the rest of it waits for the next pass."""


@dataclass(slots=True)
class WorkerPass:
    """One pass. `sessions` had events, `transcripts` were named by them; `read` tells that these
    were read. A step that sets `more` asks for another pass at once. `tick` tells how far a long
    step is, and raises when the worker must leave."""

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
        """The memory, open; not for a step that stands alone."""
        assert self.open_memory is not None
        return self.open_memory


class Step(NamedTuple):
    """A piece of a pass; it returns what it did, in words, or "" if there was nothing to do. A
    step that `stands_alone` needs no database, and runs also where there is none."""

    name: str
    run: Callable[[WorkerPass], str]
    runs_without_memory: bool = False


class Attempt:
    """Holds back whatever goes wrong inside, but not the wish that we stop, nor that a newer
    program has taken over."""

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
    """Which steps have failed, and when each is tried again. Kept in the store; where that
    fails, in the log and for the life of this worker."""

    def __init__(self, log: WorkerLog, redactor: Redactor, now: Callable[[], str]) -> None:
        self._log = log
        self._redactor = redactor
        self._now = now
        self._known: dict[str, FailedTask] = {}

    def load(self, memory: Holdfast | None) -> None:
        """Take up what earlier workers noted."""
        if memory is not None:
            self._known = {chore.name: chore for chore in memory.store.failed_tasks()}

    def is_waiting(self, name: str) -> bool:
        """Whether it is too early to try again. A failure in the future tells that the clock
        was set back, and not to wait for it."""
        chore = self._known.get(name)
        return chore is not None and chore.failed_at <= self._now() < chore.not_before

    def record_failure(self, name: str, error: Exception, memory: Holdfast | None) -> FailedTask:
        """Note a failure; the pause before the next try doubles."""
        now = self._now()
        attempts = self._known[name].attempts + 1 if name in self._known else 1
        pause = min(FIRST_RETRY_S * 2 ** min(attempts - 1, 20), LONGEST_RETRY_S)
        problem = self._redactor.redact(describe_error(error)).text[:_PROBLEM]
        chore = FailedTask(name, attempts, problem, now, _later(now, pause))
        self._known[name] = chore
        self._log.write(f"{name} failed ({attempts}): {problem}; next try from {chore.not_before}")
        if memory is not None:
            self._keep(lambda: memory.store.put_failed_task(chore), memory)
        return chore

    def record_success(self, name: str, memory: Holdfast | None) -> None:
        """The step went well."""
        if self._known.pop(name, None) is not None and memory is not None:
            self._keep(lambda: memory.store.clear_failed_task(name), memory)

    def _keep(self, change: Callable[[], None], memory: Holdfast) -> None:
        try:
            with memory.store.transaction():
                change()
        except StoreError as error:
            self._log.write(f"cannot be noted in the store: {error.message}")


def describe_error(error: Exception) -> str:
    """What went wrong, and where for a fault of ours."""
    if isinstance(error, HoldfastError):
        return f"{error.message} {error.remedy}".strip()
    told = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(told[-1].filename).name}:{told[-1].lineno})" if told else ""
    return f"{type(error).__name__}: {error}{where}"


def _later(moment: str, seconds: float) -> str:
    at = datetime.fromisoformat(moment) + timedelta(seconds=seconds)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
