"""How the memory stands: whether capture works, what is stored, and what it was of use for."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from holdfast.app.core.context import describe_bank
from holdfast.app.memory import Holdfast
from holdfast.app.status.costs import Costs, gather_costs
from holdfast.app.status.health import (
    SKIP_REASON_TEXT,
    ArchiveStatus,
    DiskUse,
    Verdict,
    ago,
    current_folder,
)
from holdfast.app.status.memory_status import CoreStatus, OutdatedCounts, gather_status
from holdfast.app.status.usage_report import DEFAULT_DAYS, OutcomeCounts, UsageReport, gather_usage
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.ledgers.failed_tasks import FailedTask
from holdfast.model.ledgers.model_calls import ModelCall, ServicePause, Spending
from holdfast.operations.operation import Arg, operation
from holdfast.operations.output.install_hint import adapt_install_commands
from holdfast.operations.parameters import AnyBank
from holdfast.operations.screen import Screen, amount, number
from holdfast.principal import Level
from holdfast.settings import NO_MODEL, SpendCaps

# Lines and files with problems that are listed; the rest is only counted, to keep the output to one
# screen.
_MAX_FAILED_LINES = 5
_MAX_PROBLEMS = 10
_MAX_DAYS = 36_500


class ModelSpending(NamedTuple):
    """The sum of some calls of model services. `usd` is null if no call has a known price;
    `unpriced` is how many have none."""

    calls: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    usd: float | None
    unpriced: int
    failed: int


class DaySpending(NamedTuple):
    """What one operation spent on one model on one day."""

    day: str
    operation: str
    service: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    usd: float | None
    unpriced: int
    failed: int


class ModelCosts(NamedTuple):
    """What model services cost: `tokens` and `usd` are of today. `model` is the service that would
    be asked, `waiting` how many sessions have something to summarise; `held` says why no call is
    made at present; `problem` why the service cannot be asked, and `remedy` what to do. The rest is
    the whole account, and null where only a summary was asked for."""

    model: str | None
    tokens: int
    usd: float | None
    held: str | None
    waiting: int
    problem: str | None
    remedy: str | None
    today: ModelSpending
    caps: SpendCaps | None = None
    days: tuple[DaySpending, ...] | None = None
    pauses: tuple[ServicePause, ...] | None = None
    troubled: tuple[ModelCall, ...] | None = None
    prices_as_of: str | None = None


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


def print_status(screen: Screen, status: Status, *, cost: bool = False, **_: object) -> None:
    """Print whether capture works, what is stored and the ledger; or the costs alone."""
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
    _print_cost_summary(screen, status.cost)
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
    shown, failed = status.unread[:_MAX_FAILED_LINES], status.ledger.failed
    screen.section(
        "lines that could not be read (newer versions try again):",
        (f"{one.path}:{one.line}  {one.reason}" for one in shown),
    )
    if failed > len(shown):
        screen.line(f"  … and {failed - len(shown):,} more")
    problems = status.file_problems
    if problems:
        screen.title("files:")
    for problem in problems[:_MAX_PROBLEMS]:
        screen.item(problem, "  ")
    if len(problems) > _MAX_PROBLEMS:
        screen.line(f"  … and {len(problems) - _MAX_PROBLEMS:,} more")


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


def _money(spent: ModelSpending | DaySpending) -> str:
    """The known cost, and the number of calls whose price is not known."""
    if not spent.unpriced:
        return f"${spent.usd or 0:.4f}"
    calls = number(spent.unpriced, "call")
    return f"${spent.usd:.4f} and {calls} of unknown price" if spent.usd else "price unknown"


def _print_cost_summary(screen: Screen, costs: ModelCosts) -> None:
    """One line, and a second one if no model may be asked now."""
    if costs.problem:
        screen.item(f"models: not working: {costs.problem}")
        screen.item(f"→ {adapt_install_commands(costs.remedy or '')}", "  ")
    elif costs.model is None:
        screen.line("models: no model service (models.use in config.toml)")
    else:
        screen.item(
            f"models: {costs.model}; today {number(costs.today.calls, 'call')}, "
            f"{costs.tokens:,} tokens, {_money(costs.today)}; "
            f"{number(costs.waiting, 'session')} waiting"
        )
    if costs.held:
        screen.item(f"stopped: {costs.held}", "  ")


def print_costs(screen: Screen, costs: ModelCosts, **_: object) -> None:
    """The cost by day, operation and model, the caps, and the calls that failed."""
    _print_cost_summary(screen, costs)
    if caps := costs.caps:
        screen.line(
            f"  limits: {caps.day_tokens:,} tokens and ${caps.day_usd:.2f} per day (UTC), "
            f"{caps.session_tokens:,} tokens and ${caps.session_usd:.2f} per session"
        )
    screen.line()
    if not costs.days:
        screen.line("No calls in the last 30 days.")
    day = ""
    for one in costs.days or ():
        if one.day != day:
            day = one.day
            screen.line(day, "bold")
        failed = f", {one.failed} failed" if one.failed else ""
        cached = f" ({one.tokens_cached:,} cached)" if one.tokens_cached else ""
        screen.item(
            f"{one.operation} by {one.service}/{one.model}: {number(one.calls, 'call')}{failed}, "
            f"{one.tokens_in:,} tokens in{cached}, {one.tokens_out:,} out, {_money(one)}",
            "  ",
        )
    if costs.days:
        screen.line(f"prices as of {costs.prices_as_of}, or from your settings")
    for call in costs.troubled or ():
        screen.item(f"{call.time} {call.outcome.value}: {call.problem}", "  ")


@operation(
    "status",
    Level.READ,
    all_banks=True,
    text=print_status,
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
    found = gather_status(memory, bank, current_folder())
    core, health, balance = found.core, found.core.health, found.core.balance
    counts = core.counts
    last_event = health.last_event
    if core.bank_id is not None:
        last_event = memory.reader.sessions.last_end(core.bank_id)
    return Status(
        bank=memory.context.bank_name(core.bank_id),
        home=core.home,
        banks=_banks(memory, core),
        sessions=counts.sessions,
        turns=counts.turns,
        exchanges=counts.exchanges,
        digests=counts.digests,
        commits=counts.commits,
        pulls=counts.pulls,
        issues=counts.issues,
        facts=counts.facts,
        memories=counts.memories + counts.retained,
        opinions=counts.opinions,
        shared=counts.shared,
        imported=counts.imported,
        raw_bytes=counts.raw_bytes,
        l1_bytes=counts.l1_bytes,
        ledger=LineLedger(
            balance.files,
            balance.lines,
            balance.captured,
            balance.skipped or {},
            balance.failed,
            balance.pending,
            balance.redacted or {},
            tuple(balance.problems),
            core.is_balanced,
        ),
        stale_sessions=found.outdated.unfinished,
        cost=_costs(found.costs, cost),
        older=found.outdated,
        providers=ProviderFailures(memory.settings.providers.use, found.failing_providers),
        capture=core.verdict,
        worker=WorkerRunning(health.worker.running, health.worker.pid),
        last_event=last_event or None,
        last_ingest=health.last_ingest or None,
        waiting=WaitingEvents(health.inbox.events, health.inbox.bytes),
        chores=tuple(health.failed_tasks),
        disk=health.disk,
        archive=health.archive,
        gone=GoneTranscripts(*health.gone),
        unread=tuple(
            BadLine(path, line.line, line.reason) for path, line in found.unreadable_lines
        ),
        file_problems=tuple(found.file_problems),
    )


def _banks(memory: Holdfast, core: CoreStatus) -> tuple[StatusBank, ...]:
    hidden: dict[str, int] = {}
    if any(one.retention for one in core.banks):
        from holdfast.learn.bank_settings import hidden_by_retention

        for one in core.banks:
            hidden[one.id] = len(hidden_by_retention(memory.reader, one.id)) if one.retention else 0
    return tuple(
        StatusBank(
            one.id,
            one.name,
            not any(memory.reader.records.counts(one.id)),
            one.retention,
            hidden.get(one.id, 0),
        )
        for one in core.banks
    )


def _costs(costs: Costs, whole: bool) -> ModelCosts:
    today = _spending(costs.today)
    summary = ModelCosts(
        None if costs.service == NO_MODEL else costs.service,
        costs.today.tokens,
        today.usd,
        costs.held or None,
        costs.waiting,
        costs.problem or None,
        costs.remedy or None,
        today,
    )
    if not whole:
        return summary
    return summary._replace(
        caps=costs.caps,
        days=tuple(
            DaySpending(one.day, one.operation, one.service, one.model, *_spending(one.spent))
            for one in costs.days
        ),
        pauses=tuple(costs.pauses),
        troubled=tuple(costs.troubled),
        prices_as_of=costs.prices_as_of,
    )


def _spending(spent: Spending) -> ModelSpending:
    usd = None if spent.unpriced and not spent.usd else round(spent.usd, 6)
    return ModelSpending(*spent)._replace(usd=usd)


@operation("cost", Level.READ, all_banks=True, text=print_costs)
def cost(memory: Holdfast) -> ModelCosts:
    """Show what model services cost

    By day, operation and model; the limits, pauses, and calls that failed."""
    return _costs(gather_costs(memory), True)


def print_worth(screen: Screen, report: UsageReport, **_: object) -> None:
    """Print how injected context was used, and what model services cost."""
    screen.line(f"The last {number(report.days, 'day')}, {describe_bank(report.bank)}", "bold")
    screen.line()
    if report.total.injected:
        _print_injected(screen, report)
    else:
        screen.wrap(
            "Nothing was injected into a session. `holdfast status` shows whether the hooks that "
            "do it are installed."
        )
    spent = report.spent
    if not spent.calls:
        screen.line("model services: not used, no cost")
        return
    unknown = f", and {number(spent.unpriced, 'call')} of unknown price" if spent.unpriced else ""
    screen.line(
        f"model services: {number(spent.calls, 'call')}, {number(spent.tokens, 'token')}, "
        f"${spent.usd:.4f}{unknown}"
    )


def _print_injected(screen: Screen, report: UsageReport) -> None:
    total = report.total
    each = number(round(report.tokens / max(1, report.sessions)), "token")
    screen.wrap(
        f"{number(total.injected, 'text')} injected into {number(report.sessions, 'session')}: "
        f"about {number(report.tokens, 'token')}, {each} per session."
    )
    screen.line("".join(f"{head:>10}" for head in ("", "texts", *OutcomeCounts._fields[1:])), "dim")
    for name, outcome in {**report.kinds, "all": total}.items():
        screen.line(f"{name:>10}{''.join(f'{count:>10,}' for count in outcome)}")
    judged = total.used + total.ignored + total.wrong
    if not judged:
        screen.line("not judged yet: a session is judged after 2 hours without activity")
        return
    how = ", ".join(f"{name} {count:,}" for name, count in report.uses.items())
    screen.line(
        f"of {judged:,} judged texts, {total.used / judged:.0%} were used" + f" ({how})" * bool(how)
    )


@operation(
    "worth",
    Level.READ,
    all_banks=True,
    text=print_worth,
    examples="""\
  holdfast worth
  holdfast worth --days 7 --bank myproject
  holdfast worth --json""",
)
def worth(
    memory: Holdfast,
    days: Annotated[
        int, Arg("how many days to look back", least=1, most=_MAX_DAYS, metavar="N")
    ] = DEFAULT_DAYS,
    bank: AnyBank = "all",
) -> UsageReport:
    """Report how injected context was used, and its cost

    How often something was injected into a session, how many tokens it took, whether it was used,
    ignored or wrong, and the cost of model services. `brief log` lists each text.

    Only traces in transcripts are counted. They do not show saved time or money."""
    return gather_usage(memory, bank, days)
