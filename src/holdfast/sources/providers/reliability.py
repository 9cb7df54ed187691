"""How far those that are asked can be relied on: kept in one small file of the home.

After every call the share of successes and the time they took move a little towards how it went.
A provider that fails twice in a row is left alone for ten minutes, and twice as long each time it
fails again; others have a patience of their own. Nothing that was asked or answered is written
down.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.locks import hold

FILE = "providers.json"
_LEARN = 0.3
_SLOW_MS = 5_000.0


class PausePolicy(NamedTuple):
    """After how many failures in a row somebody is left alone, for how long at first, and at
    most."""

    failures: int = 2
    rest_s: int = 600
    longest_s: int = 86_400


DEFAULT_PAUSES = PausePolicy()


@dataclass(frozen=True, slots=True)
class Reliability:
    """What is known of a provider. `failures` are those in a row; `resting_until` is "" for one
    that may be asked."""

    calls: int = 0
    success: float = 1.0
    ms: float = 0.0
    failures: int = 0
    resting_until: str = ""
    problem: str = ""
    last: str = ""

    @property
    def score(self) -> float:
        """From 0 to 1: how often it answers, and half of it how fast."""
        return round(self.success * (1 - 0.5 * min(1.0, self.ms / _SLOW_MS)), 3)

    def is_paused(self, now: str) -> bool:
        """Whether it is left alone now."""
        return self.resting_until > now


def after_success(before: Reliability, ms: float, now: str) -> Reliability:
    """What is known after an answer."""
    known = before.ms if before.ms else ms
    return replace(
        before,
        calls=before.calls + 1,
        success=round(_towards(before.success, 1.0), 4),
        ms=round(_towards(known, ms), 1),
        failures=0,
        resting_until="",
        problem="",
        last=now,
    )


def after_failure(
    before: Reliability, problem: str, now: str, patience: PausePolicy = DEFAULT_PAUSES
) -> Reliability:
    """What is known after a failure."""
    failures = before.failures + 1
    until = ""
    if failures >= patience.failures:
        often = min(10, failures - patience.failures)
        rest = min(patience.longest_s, patience.rest_s * 2**often)
        moment = datetime.fromisoformat(now) + timedelta(seconds=rest)
        until = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return replace(
        before,
        calls=before.calls + 1,
        success=round(_towards(before.success, 0.0), 4),
        failures=failures,
        resting_until=until,
        problem=problem,
        last=now,
    )


def _towards(known: float, seen: float) -> float:
    return known + _LEARN * (seen - known)


class ReliabilityFile:
    """The file. Where it cannot be written, nothing is learnt; where it cannot be read, nothing is
    known."""

    def __init__(
        self, home: Path, file: str = FILE, patience: PausePolicy = DEFAULT_PAUSES
    ) -> None:
        self._path = home / file
        self._patience = patience

    def read(self) -> dict[str, Reliability]:
        """Every provider's standing, by its id."""
        try:
            told: Any = json.loads(self._path.read_text("utf-8"))
            items = cast(dict[str, Any], told["providers"])
            return {id: Reliability(**fields) for id, fields in items.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return {}

    def record(self, id: str, now: str, ms: float, problem: str = "") -> Reliability:
        """Note an answer, or a failure if there is a problem; the standing after it."""
        after = Reliability()
        with suppress(OSError), self._held():
            known = self.read()
            before = known.get(id, Reliability())
            after = (
                after_failure(before, problem, now, self._patience)
                if problem
                else after_success(before, ms, now)
            )
            self._write({**known, id: after})
        return after

    def _write(self, known: dict[str, Reliability]) -> None:
        told = {"version": 1, "providers": {id: asdict(item) for id, item in known.items()}}
        new = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with os.fdopen(os.open(new, flags, 0o600), "w", encoding="utf-8") as file:
            json.dump(told, file, indent=1)
        new.replace(self._path)

    @contextmanager
    def _held(self) -> Generator[None]:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT
        lock = os.open(self._path.with_name(f"{self._path.name}.lock"), flags, 0o600)
        try:
            hold(lock)
            yield
        finally:
            os.close(lock)
