"""What failed lately, from wherever it is noted: steps of the worker that are tried again, what its
log tells, and calls of model services that did not end well. It knows no more than those notes: a
log that was cut tells of nothing older."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from holdfast.app.background.worker_log import last_lines
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.regex import regex

_LINE = regex(r"^(?P<time>\d{4}-\d\d-\d\dT[\d:.]+Z) \[\d+\] (?P<text>.+)$")
_FAILED = regex(r"\bfailed \(\d+\): |\bcannot be\b|^left: |\bdamaged\b", re.IGNORECASE)
_LOOKED_AT = 5_000


class Failure(NamedTuple):
    """Something that went wrong: when, what, and whether it is still to be done."""

    time: str
    what: str
    open: bool = False


def recent_failures(memory: Holdfast, limit: int = 20) -> list[Failure]:
    """The latest, the last first."""
    found = [*failures_in_log(memory.settings.home)]
    found += [
        Failure(chore.failed_at, f"{chore.name}: {chore.problem}", True)
        for chore in memory.inventory.failed_tasks()
    ]
    found += [
        Failure(call.time, f"{call.service} ({call.operation}): {call.problem}")
        for call in memory.store.failed_calls()
    ]
    latest = {(one.time[:19], one.what): one for one in sorted(found)}
    return sorted(latest.values(), reverse=True)[:limit]


def failures_in_log(home: Path) -> list[Failure]:
    """What the worker's log of a home tells of failures."""
    found: list[Failure] = []
    for line in last_lines(HomePaths(home).worker_log, _LOOKED_AT):
        known = _LINE.match(line)
        if known and _FAILED.search(known["text"]):
            found.append(Failure(known["time"], known["text"]))
    return found
