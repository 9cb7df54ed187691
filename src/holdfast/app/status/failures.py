"""Recent failures from all records of them: failed tasks of the worker, its log, and failed calls
of model services. The log is cut now and then, so old failures may be missing."""

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
# Lines read from the end of the log: more than its maximal size usually holds.
_MAX_LOG_LINES = 5_000


class Failure(NamedTuple):
    """When something failed, what it was, and whether it is still to be done (`open`)."""

    time: str
    what: str
    open: bool = False


def recent_failures(memory: Holdfast, limit: int = 20) -> list[Failure]:
    """The latest failures, newest first."""
    found = [*failures_in_log(memory.settings.home)]
    found += [
        Failure(task.failed_at, f"{task.name}: {task.problem}", True)
        for task in memory.inventory.failed_tasks()
    ]
    found += [
        Failure(call.time, f"{call.service} ({call.operation}): {call.problem}")
        for call in memory.store.model_calls.failed()
    ]
    # The same failure may be in the log and in the store: one per second and text is enough.
    latest = {(one.time[:19], one.what): one for one in sorted(found)}
    return sorted(latest.values(), reverse=True)[:limit]


def failures_in_log(home: Path) -> list[Failure]:
    """The failures in the worker's log of a home."""
    found: list[Failure] = []
    for line in last_lines(HomePaths(home).worker_log, _MAX_LOG_LINES):
        entry = _LINE.match(line)
        if entry and _FAILED.search(entry["text"]):
            found.append(Failure(entry["time"], entry["text"]))
    return found
