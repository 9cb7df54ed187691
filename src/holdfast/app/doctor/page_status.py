"""How a memory stands, for a page: what `status` and `doctor` tell, in one look."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.app.background.outdated import OutdatedCounts, count_outdated
from holdfast.app.memory import Holdfast
from holdfast.app.status.costs import Costs, gather_costs
from holdfast.app.status.health import Health, Verdict, current_folder, gather_health, judge_capture
from holdfast.model.ledger import Balance, FailedLine, SourceState
from holdfast.settings import OFF
from holdfast.sources.providers.reliability import Reliability, ReliabilityFile
from holdfast.store.protocol import Counts

_FAILED = 20
_PROBLEMS = 20


class Failed(NamedTuple):
    """A line that could not be read, and the file it is of."""

    path: str
    line: FailedLine


class State(NamedTuple):
    """All of it. `problems` are those of files that are still there; `last_failure` is when
    something last went wrong in the background or at a model service, "" for never."""

    home: str
    banks: tuple[tuple[str, str], ...]
    verdict: Verdict
    health: Health
    counts: Counts
    balance: Balance
    failures: tuple[Failed, ...]
    problems: tuple[str, ...]
    costs: Costs
    older: OutdatedCounts
    providers: tuple[tuple[str, Reliability], ...]
    last_failure: str

    @property
    def balanced(self) -> bool:
        """Whether every line is accounted for."""
        return self.balance.accounted + self.balance.pending == self.balance.lines


class Running(NamedTuple):
    """A process: its number, and the memory it takes in bytes, 0 where that is not known."""

    name: str
    pid: int
    bytes: int


def look_at_state(memory: Holdfast, bank: str) -> State:
    """Look at everything, and touch nothing."""
    reader, id = memory.reader, memory.context.bank_id(bank)
    balance, health = memory.inventory.balance(bank), gather_health(memory, current_folder())
    costs = gather_costs(memory)
    known = (
        ReliabilityFile(memory.settings.home).read() if memory.settings.providers.use != OFF else {}
    )
    sources = {source.id: source for source in reader.sources(id)}
    gone = {
        f"{source.path}: {source.problem}"
        for source in sources.values()
        if source.state is SourceState.GONE
    }
    wrong = [chore.failed_at for chore in health.failed_tasks] + [call.time for call in costs.troubled]
    return State(
        home=str(memory.settings.home),
        banks=tuple((one.id, one.name) for one in reader.banks()),
        verdict=judge_capture(health, balance.pending),
        health=health,
        counts=memory.inventory.counts(bank),
        balance=balance,
        failures=tuple(
            Failed(sources[line.source].path if line.source in sources else "?", line)
            for line in reader.failures(id, _FAILED)
        ),
        problems=tuple(one for one in balance.problems if one not in gone)[:_PROBLEMS],
        costs=costs,
        older=count_outdated(memory),
        providers=tuple(sorted(known.items())),
        last_failure=max(wrong, default=""),
    )


def doctor_checks(memory: Holdfast) -> list[Any]:
    """What the doctor finds; a `holdfast.app.doctor.check.Check` each. It may take seconds."""
    from holdfast.app.doctor import examine as doctor

    found: list[Any] = doctor.run_checks(memory.settings, current_folder())
    return found


def processes(health: Health) -> Sequence[Running]:
    """This server, and the worker if one runs."""
    own = Running("this server", os.getpid(), _resident(os.getpid()))
    pid = health.worker.pid
    return [own, Running("worker", pid, _resident(pid))] if pid else [own]


def _resident(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0
