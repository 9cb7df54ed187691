"""How reliably providers and remote servers answer, in one small file of the home.

After every call the success rate and the duration are updated as moving averages. A provider that
fails twice in a row is paused for ten minutes, and twice as long after each further failure; remote
servers have a policy of their own. No question and no answer is written.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.locks import open_locked
from holdfast.private_files import write_private

FILE = "providers.json"
# The weight of the latest call in the averages: after five calls the older ones count for a sixth.
_LEARNING_RATE = 0.3
# A provider that takes this long or longer gets half the score of an immediate one.
_SLOW_MS = 5_000.0
# Keeps the power small; the longest pause is reached before.
_MAX_DOUBLINGS = 10


class PausePolicy(NamedTuple):
    """After how many failures in a row a provider is paused, for how long at first, and at
    most."""

    failures: int = 2
    rest_s: int = 600
    longest_s: int = 86_400


DEFAULT_PAUSES = PausePolicy()


@dataclass(frozen=True, slots=True)
class Reliability:
    """The record of a provider. `failures` are those in a row; `resting_until` is "" where it is
    not paused."""

    calls: int = 0
    success: float = 1.0
    ms: float = 0.0
    failures: int = 0
    resting_until: str = ""
    problem: str = ""
    last: str = ""

    @property
    def score(self) -> float:
        """From 0 to 1: the success rate, reduced by up to half for slow answers."""
        return round(self.success * (1 - 0.5 * min(1.0, self.ms / _SLOW_MS)), 3)

    def is_paused(self, now: str) -> bool:
        """Whether it is paused now."""
        return self.resting_until > now


def after_success(before: Reliability, ms: float, now: str) -> Reliability:
    """The record after an answer."""
    average = before.ms if before.ms else ms
    return replace(
        before,
        calls=before.calls + 1,
        success=round(_towards(before.success, 1.0), 4),
        ms=round(_towards(average, ms), 1),
        failures=0,
        resting_until="",
        problem="",
        last=now,
    )


def after_failure(
    before: Reliability, problem: str, now: str, pauses: PausePolicy = DEFAULT_PAUSES
) -> Reliability:
    """The record after a failure."""
    failures = before.failures + 1
    until = ""
    if failures >= pauses.failures:
        doublings = min(_MAX_DOUBLINGS, failures - pauses.failures)
        pause_s = min(pauses.longest_s, pauses.rest_s * 2**doublings)
        end = datetime.fromisoformat(now) + timedelta(seconds=pause_s)
        until = end.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return replace(
        before,
        calls=before.calls + 1,
        success=round(_towards(before.success, 0.0), 4),
        failures=failures,
        resting_until=until,
        problem=problem,
        last=now,
    )


def _towards(average: float, latest: float) -> float:
    return average + _LEARNING_RATE * (latest - average)


class ReliabilityFile:
    """The file of all records. Where it cannot be read, all providers start anew; where it cannot
    be written, nothing is recorded."""

    def __init__(self, home: Path, file: str = FILE, pauses: PausePolicy = DEFAULT_PAUSES) -> None:
        self._path = home / file
        self._pauses = pauses

    def read(self) -> dict[str, Reliability]:
        """The records of all providers by id."""
        try:
            content: Any = json.loads(self._path.read_text("utf-8"))
            items = cast(dict[str, Any], content["providers"])
            return {id: Reliability(**fields) for id, fields in items.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return {}

    def record(self, id: str, now: str, ms: float, problem: str = "") -> Reliability:
        """Record an answer, or a failure if there is a problem; returns the new record."""
        after = Reliability()
        lock = self._path.with_name(f"{self._path.name}.lock")
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(OSError), open_locked(lock, os.O_RDWR | os.O_CREAT):
            known = self.read()
            before = known.get(id, Reliability())
            after = (
                after_failure(before, problem, now, self._pauses)
                if problem
                else after_success(before, ms, now)
            )
            providers = {id: asdict(item) for id, item in {**known, id: after}.items()}
            content = json.dumps({"version": 1, "providers": providers}, indent=1)
            write_private(self._path, content.encode())
        return after
