"""How the memory stands: whether capture works, and what is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

from holdfast.app.memory import Holdfast
from holdfast.app.status.health import (
    SKIP_REASON_TEXT,
    ArchiveStatus,
    DiskUse,
    OutdatedCounts,
    Verdict,
    ago,
    count_outdated,
    current_folder,
    disk_use,
    gather_health,
    judge_capture,
)
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.ledgers.failed_tasks import FailedTask
from holdfast.model.ledgers.lines import SourceState
from holdfast.operations.admin.usage import (
    ModelCosts,
    model_costs,
    print_cost_summary,
    print_costs,
)
from holdfast.operations.operation import Arg, operation
from holdfast.operations.parameters import AnyBank
from holdfast.operations.screen import Screen, amount, number
from holdfast.operations.shapes import record_from
from holdfast.principal import Level
from holdfast.settings import OFF
from holdfast.sources.providers.reliability import ReliabilityFile

# Lines and files with problems that are listed; the rest is only counted, to keep the output to one
# screen, and that of programs to a page.
_MAX_LISTED, _MAX_UNREAD_LINES = 5, 20


class StatusBank(NamedTuple):
    """A bank. `hidden` sessions are older than its `retention`, a number of months, 0 for none."""

    id: str
    name: str
    empty: bool
    retention: int
    hidden: int


class LineLedger(NamedTuple):
    """The outcome of every input line, which is `balanced` if they add up. `pending` lines are on
    disk and not read yet; `skipped` is by reason, `redacted` counts secrets by their kind."""

    files: int
    lines: int
    captured: int
    skipped: dict[str, int]
    failed: int
    pending: int
    redacted: dict[str, int]
    problems: tuple[str, ...]
    balanced: bool


class BadLine(NamedTuple):
    """A line of a file that could not be read, and why."""

    path: str
    line: int
    reason: str


class ProviderFailures(NamedTuple):
    """Whether plugins are queried, and the problem of each whose last call failed."""

    use: str
    failing: dict[str, str]


class WorkerRunning(NamedTuple):
    """Whether the background worker runs."""

    running: bool
    pid: int | None


class WaitingEvents(NamedTuple):
    """Events of hooks that no worker has taken yet."""

    events: int
    bytes: int


class GoneTranscripts(NamedTuple):
    """Transcripts that are gone from disk, and their lines that are kept."""

    files: int
    lines_kept: int


class Status(NamedTuple):
    """How the memory stands. `capture` says whether capture works, `chores` are background tasks
    that failed, `older` is what older versions derived, `unread` are the first lines that could not
    be read, `file_problems` those of files that are still there."""

    bank: str
    home: str
    banks: tuple[StatusBank, ...]
    sessions: int
    turns: int
    exchanges: int
    digests: int
    commits: int
    pulls: int
    issues: int
    facts: int
    memories: int
    opinions: int
    shared: int
    imported: int
    raw_bytes: int
    l1_bytes: int
    ledger: LineLedger
    stale_sessions: int
    cost: ModelCosts
    older: OutdatedCounts
    providers: ProviderFailures
    capture: Verdict
    worker: WorkerRunning
    last_event: str | None
    last_ingest: str | None
    waiting: WaitingEvents
    chores: tuple[FailedTask, ...]
    disk: DiskUse
    archive: ArchiveStatus
    gone: GoneTranscripts
    unread: tuple[BadLine, ...]
    file_problems: tuple[str, ...]


def _print_status(screen: Screen, status: Status, *, cost: bool = False, **_: object) -> None:
    if cost:
        print_costs(screen, status.cost)
        return
    _print_verdict(screen, status)
    screen.line(f"{screen.paint('Holdfast', 'bold')} at {status.home}")
    if status.banks:
        _print_contents(screen, status)
        _print_ledger(screen, status.ledger)
        _print_failures(screen, status)
    _print_work(screen, status)
    print_cost_summary(screen, status.cost)
    for bank in status.banks:
        if bank.retention:
            screen.item(
                f"retention: {bank.name} keeps {number(bank.retention, 'month')}; "
                f"{number(bank.hidden, 'session')} hidden. "
                f"`holdfast bank set --bank {bank.name} --retention all` shows them again; "
                "`holdfast purge` erases one permanently"
            )
    _print_older(screen, status.older)
    for who, problem in status.providers.failing.items():
        screen.item(f"provider {who} fails: {problem}. See `holdfast providers`")


def _print_verdict(screen: Screen, status: Status) -> None:
    verdict = status.capture
    colour = {"works": "green", "broken": "red"}.get(verdict.state, "yellow")
    screen.line(verdict.sentence, colour)
    if verdict.remedy:
        screen.line(f"  → {verdict.remedy}")
    for chore in status.chores:
        screen.item(
            f"{chore.name} failed {number(chore.attempts, 'time')}, last {ago(chore.failed_at)}: "
            f"{chore.problem} Tried again with the first event after {chore.not_before[:16]}Z.",
            "  ",
        )
    screen.line()


def _print_contents(screen: Screen, s: Status) -> None:
    _print_banks(screen, s)
    forge = f", {number(s.pulls, 'pull')}, {number(s.issues, 'issue')}"
    screen.line(
        f"  {number(s.sessions, 'session')}, {number(s.turns, 'turn')}, "
        f"{number(s.exchanges, 'exchange')}, {number(s.digests, 'digest')}, "
        f"{number(s.commits, 'commit')}{forge if s.pulls or s.issues else ''}"
    )
    known = (
        (s.facts, "fact", "facts"),
        (s.memories, "memory", "memories"),
        (s.opinions, "opinion", "opinions"),
        (s.shared, "shared by others", "shared by others"),
        (s.imported, "imported", "imported"),
    )
    if known_counts := ", ".join(number(*one) for one in known if one[0]):
        screen.line(f"  {known_counts}")
    if s.raw_bytes:
        screen.line(
            f"  {amount(s.raw_bytes)} of transcripts, condensed to {amount(s.l1_bytes)} "
            f"({s.l1_bytes / s.raw_bytes:.1%})"
        )
    screen.line()


def _print_banks(screen: Screen, status: Status) -> None:
    if status.bank != "all":
        screen.line(f"bank {status.bank}")
        return
    used = [one for one in status.banks if not one.empty]
    names = Counter(one.name for one in used)
    # Banks that share a name are listed with the start of their id, which `--bank` takes.
    labels = [f"{one.name} ({one.id[:8]})" if names[one.name] > 1 else one.name for one in used]
    screen.item(f"{number(len(used), 'bank')}: {', '.join(labels)}")


def _print_ledger(screen: Screen, ledger: LineLedger) -> None:
    screen.line(
        f"ledger: {number(ledger.files, 'file')}, {number(ledger.lines, 'line')} on disk "
        "or already read"
    )
    screen.line(f"  {ledger.captured:>9,} captured")
    for reason, count in ledger.skipped.items():
        screen.line(f"  {count:>9,} skipped: {reason} ({SKIP_REASON_TEXT.get(reason, reason)})")
    screen.line(f"  {ledger.failed:>9,} failed")
    screen.line(f"  {ledger.pending:>9,} pending: not read yet")
    sum_ = ledger.captured + sum(ledger.skipped.values()) + ledger.failed + ledger.pending
    verdict = "every line is accounted for" if ledger.balanced else "THE BALANCE DOES NOT ADD UP"
    colour = "green" if ledger.balanced else "red"
    screen.line(f"  {sum_:>9,} in total: {screen.paint(verdict, colour)}")
    if ledger.redacted:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in ledger.redacted.items())
        screen.line(f"  secrets redacted: {kinds}")


def _print_failures(screen: Screen, status: Status) -> None:
    unread = [f"{one.path}:{one.line}  {one.reason}" for one in status.unread]
    head = "lines that could not be read (newer versions try again):"
    for title, lines, count in (
        (head, unread, status.ledger.failed),
        ("files:", status.file_problems, len(status.file_problems)),
    ):
        screen.section(title, lines[:_MAX_LISTED])
        if count > _MAX_LISTED:
            screen.line(f"  … and {count - _MAX_LISTED:,} more")


def _print_work(screen: Screen, status: Status) -> None:
    screen.line()
    for what, moment in (("last event", status.last_event), ("last ingest", status.last_ingest)):
        when = f"{moment} ({ago(moment)})" if moment else "none yet"
        screen.line(f"{what}: {when}")
    worker, inbox = status.worker, status.waiting
    running = f"running{f' ({worker.pid})' if worker.pid else ''}"
    waiting = f"{number(inbox.events, 'event')} waiting ({amount(inbox.bytes)})"
    screen.line(
        f"worker: {running if worker.running else 'not running'}; "
        f"{waiting if inbox.events else 'no events waiting'}"
    )
    taken = [f"{what} {amount(size)}" for what, size in status.disk._asdict().items() if size]
    screen.item(f"disk: {', '.join(taken) or 'nothing'}")
    kept = f"{status.archive.kept_days:g}"
    screen.line(f"transcripts: Claude Code deletes them after {kept} days")
    if status.gone.files:
        screen.line(
            f"  deleted already: {number(status.gone.files, 'transcript')} "
            f"({number(status.gone.lines_kept, 'line')} in memory)"
        )


def _print_older(screen: Screen, older: OutdatedCounts) -> None:
    """Print what was derived by older rules or prompts, if anything."""
    parts = [f"{number(older.rules, 'session')} (older rules)"] * bool(older.rules)
    parts += [f"{number(older.prompts, 'session')} (older prompts)"] * bool(older.prompts)
    parts += [", ".join(older.stages)] * bool(older.stages)
    if parts:
        screen.item(f"outdated: {'; '.join(parts)}. `holdfast refine --stale` updates them")


@operation(
    "status",
    Level.READ,
    all_banks=True,
    text=_print_status,
    examples="""\
  holdfast status
  holdfast status --bank myproject
  holdfast status --cost
  holdfast status --json""",
)
def status(
    memory: Holdfast,
    cost: Annotated[
        bool, Arg("tokens and cost of model services, by day, operation and model")
    ] = False,
    bank: AnyBank = "all",
) -> Status:
    """Show whether capture works, and what is stored

    And the outcome of every input line: captured, skipped with a reason, failed, or pending. The
    sum is the number of lines on disk."""
    context, reader = memory.context, memory.reader
    bank_id, counts = context.bank_id(bank), memory.inventory.counts(bank)
    balance, health = memory.inventory.balance(bank), gather_health(memory, current_folder())
    outdated, sources = count_outdated(memory), {one.id: one for one in reader.sources.all(bank_id)}
    gone = {
        f"{one.path}: {one.problem}" for one in sources.values() if one.state is SourceState.GONE
    }
    use = memory.settings.providers.use
    plugins = ReliabilityFile(memory.settings.home).read() if use != OFF else {}
    last_event = health.last_event if bank_id is None else reader.sessions.last_end(bank_id)
    return record_from(
        Status,
        counts,
        bank=context.bank_name(bank_id),
        home=str(memory.settings.home),
        banks=tuple(_banks(memory)),
        memories=counts.memories + counts.retained,
        ledger=record_from(
            LineLedger,
            balance,
            skipped=balance.skipped or {},
            redacted=balance.redacted or {},
            balanced=balance.accounted + balance.pending == balance.lines,
        ),
        stale_sessions=outdated.unfinished,
        cost=model_costs(memory, cost),
        older=outdated,
        providers=ProviderFailures(
            use, {id: one.problem for id, one in plugins.items() if one.failures}
        ),
        capture=judge_capture(health, balance.pending),
        worker=record_from(WorkerRunning, health.worker),
        last_event=last_event or None,
        last_ingest=health.last_ingest or None,
        waiting=record_from(WaitingEvents, health.inbox),
        chores=health.failed_tasks,
        disk=disk_use(memory.settings),
        archive=health.archive,
        gone=GoneTranscripts(*health.gone),
        unread=tuple(
            BadLine(
                sources[one.source].path if one.source in sources else "?", one.line, one.reason
            )
            for one in reader.sources.failures(bank_id, _MAX_UNREAD_LINES)
        ),
        file_problems=tuple(one for one in balance.problems if one not in gone),
    )


def _banks(memory: Holdfast) -> Iterator[StatusBank]:
    from holdfast.learn.bank_settings import hidden_by_retention

    for one in memory.reader.banks.all():
        empty = not any(memory.reader.records.counts(one.id))
        hidden = len(hidden_by_retention(memory.reader, one.id)) if one.retention else 0
        yield record_from(StatusBank, one, empty=empty, hidden=hidden)
