"""What the health page shows besides the status of the memory: doctor checks and processes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.app.status.health import Health, current_folder
from holdfast.operating_system import resident_bytes


class RunningProcess(NamedTuple):
    """A process: its id, and the memory it takes in bytes (0 if unknown)."""

    name: str
    pid: int
    bytes: int


def doctor_checks(memory: Holdfast) -> list[Any]:
    """The results of all doctor checks, each a `holdfast.app.doctor.check.Check`. May take
    seconds."""
    from holdfast.app.doctor import examine as doctor

    found: list[Any] = doctor.run_checks(memory.settings, current_folder())
    return found


def running_processes(health: Health) -> Sequence[RunningProcess]:
    """This server, and the worker if one runs."""
    server = RunningProcess("this server", os.getpid(), resident_bytes(os.getpid()))
    pid = health.worker.pid
    return [server, RunningProcess("worker", pid, resident_bytes(pid))] if pid else [server]
