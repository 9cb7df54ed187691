"""How a memory stands, gathered once for everything that shows it: the CLI, JSON and pages.

`CoreStatus` is cheap to gather. `MemoryStatus` adds costs, outdated records, plugins and failures.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from holdfast.app.ingest.stages import stages_behind
from holdfast.app.memory import Holdfast
from holdfast.app.status.costs import Costs, gather_costs
from holdfast.app.status.health import Health, Verdict, gather_health, judge_capture
from holdfast.model.bank import Bank
from holdfast.model.ledgers.lines import Balance, FailedLine, SourceState
from holdfast.refine.core.rules_version import RULES_VERSION
from holdfast.refine.model_output.prompts import PROMPT_VERSION
from holdfast.settings import OFF
from holdfast.sources.providers.reliability import Reliability, ReliabilityFile
from holdfast.store.across_tables.lookup import Counts

# Lines that could not be read are listed up to this number: enough to see a pattern, and few enough
# for a page.
_MAX_FAILED_LINES = 20


class OutdatedCounts(NamedTuple):
    """What could be derived again: `unfinished` sessions have no derived records yet, `rules`
    sessions were derived by older rules, `prompts` sessions were summarised with older prompts,
    `stages` names the knowledge stages that have not processed every change."""

    unfinished: int = 0
    rules: int = 0
    prompts: int = 0
    stages: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        return bool(self.rules or self.prompts or self.stages)


class CoreStatus(NamedTuple):
    """What is remembered in a bank (all banks if `bank_id` is None), and whether capture works."""

    home: str
    bank_id: str | None
    banks: tuple[Bank, ...]
    counts: Counts
    balance: Balance
    health: Health
    verdict: Verdict

    @property
    def is_balanced(self) -> bool:
        """Whether every line of the ledger is accounted for."""
        return self.balance.accounted + self.balance.pending == self.balance.lines


class UnreadableLine(NamedTuple):
    """A line that could not be read, and the file it is in ("?" if that is not known)."""

    path: str
    line: FailedLine


class MemoryStatus(NamedTuple):
    """Everything that `holdfast status` and the health page show. `file_problems` leaves out files
    that are gone from disk, which `core.health.gone` counts."""

    core: CoreStatus
    costs: Costs
    outdated: OutdatedCounts
    providers: dict[str, Reliability]
    unreadable_lines: tuple[UnreadableLine, ...]
    file_problems: tuple[str, ...]

    @property
    def failing_providers(self) -> dict[str, str]:
        """The plugins whose last call failed, by id, with the problem."""
        return {id: plugin.problem for id, plugin in self.providers.items() if plugin.failures}

    @property
    def last_failure(self) -> str:
        """When a background task or a model call last failed; "" for never."""
        failed = [task.failed_at for task in self.core.health.failed_tasks]
        return max(failed + [call.time for call in self.costs.troubled], default="")


def gather_core(memory: Holdfast, bank: str | None, folder: Path | None) -> CoreStatus:
    """Gather the cheap part. Hooks are looked up in the settings of the user and of `folder`."""
    bank_id = memory.context.bank_id(bank)
    balance = memory.inventory.balance(bank)
    health = gather_health(memory, folder)
    return CoreStatus(
        home=str(memory.settings.home),
        bank_id=bank_id,
        banks=tuple(memory.reader.banks.all()),
        counts=memory.inventory.counts(bank),
        balance=balance,
        health=health,
        verdict=judge_capture(health, balance.pending),
    )


def gather_status(memory: Holdfast, bank: str | None, folder: Path | None) -> MemoryStatus:
    """Gather everything."""
    core = gather_core(memory, bank, folder)
    sources = {source.id: source for source in memory.reader.sources.all(core.bank_id)}
    gone = {
        f"{source.path}: {source.problem}"
        for source in sources.values()
        if source.state is SourceState.GONE
    }
    settings = memory.settings
    return MemoryStatus(
        core=core,
        costs=gather_costs(memory),
        outdated=count_outdated(memory),
        providers=ReliabilityFile(settings.home).read() if settings.providers.use != OFF else {},
        unreadable_lines=tuple(
            UnreadableLine(sources[line.source].path if line.source in sources else "?", line)
            for line in memory.reader.sources.failures(core.bank_id, _MAX_FAILED_LINES)
        ),
        file_problems=tuple(one for one in core.balance.problems if one not in gone),
    )


def count_outdated(memory: Holdfast) -> OutdatedCounts:
    """Count what an older version of the rules or prompts has derived."""
    store = memory.store
    return OutdatedCounts(
        len(memory.reader.sessions.stale()),
        store.versions.count_outdated_sessions(RULES_VERSION),
        len(store.versions.outdated_summaries(PROMPT_VERSION)),
        tuple(stages_behind(store, memory.settings)),
    )
