"""`holdfast status`."""

from __future__ import annotations

from collections import Counter

from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.status.costs import gather_costs
from holdfast.app.status.health import SKIP_REASON_TEXT, Health, Verdict, ago, current_folder
from holdfast.app.status.memory_status import (
    CoreStatus,
    MemoryStatus,
    OutdatedCounts,
    gather_status,
)
from holdfast.app.status.status_report import status_json
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output.cost import print_costs, print_summary
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, amount, number

# Lines and files with problems that are listed; the rest is only counted, to keep the output to one
# screen.
_MAX_FAILED_LINES = 5
_MAX_PROBLEMS = 10

HELP = """\
Show whether capture works, what is stored, and the outcome of every input line: captured,
skipped with a reason, failed, or pending. The sum is the number of lines on disk."""

EXAMPLES = """\
  holdfast status
  holdfast status --bank myproject
  holdfast status --cost
  holdfast status --json"""


def configure(parser: Parser) -> None:
    options.add(parser, "bank_or_all")
    parser.flag("--cost", "tokens and cost of model services, by day, operation and model")
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> None:
    with open_memory(create=False) as memory:
        if arguments.json:
            return screen.json(
                status_json(memory, arguments.bank, current_folder(), arguments.cost)
            )
        if arguments.cost:
            return print_costs(screen, gather_costs(memory))
        status = gather_status(memory, arguments.bank, current_folder())
        _print_verdict(screen, status.core.health, status.core.verdict)
        _print(screen, memory, status)
        _print_work(screen, status.core.health)
        print_summary(screen, status.costs)
        _print_retention(screen, memory)
        _print_older(screen, status.outdated)
        for who, problem in status.failing_providers.items():
            screen.item(f"provider {who} fails: {problem}. See `holdfast providers`")


def _print(screen: Screen, memory: Holdfast, status: MemoryStatus) -> None:
    counts = status.core.counts
    screen.line(f"{screen.paint('Holdfast', 'bold')} at {status.core.home}")
    if not status.core.banks:
        screen.line("The memory is empty. `holdfast ingest` reads your sessions.")
        return
    _print_banks(screen, memory, status.core)
    forge = f", {number(counts.pulls, 'pull')}, {number(counts.issues, 'issue')}"
    screen.line(
        f"  {number(counts.sessions, 'session')}, {number(counts.turns, 'turn')}, "
        f"{number(counts.exchanges, 'exchange')}, {number(counts.digests, 'digest')}, "
        f"{number(counts.commits, 'commit')}{forge if counts.pulls or counts.issues else ''}"
    )
    known = (
        (counts.facts, "fact", "facts"),
        (counts.memories + counts.retained, "memory", "memories"),
        (counts.opinions, "opinion", "opinions"),
        (counts.shared, "shared by others", "shared by others"),
        (counts.imported, "imported", "imported"),
    )
    if known_counts := ", ".join(number(*one) for one in known if one[0]):
        screen.line(f"  {known_counts}")
    if counts.raw_bytes:
        share = counts.l1_bytes / counts.raw_bytes
        screen.line(
            f"  {amount(counts.raw_bytes)} of transcripts, condensed to {amount(counts.l1_bytes)} "
            f"({share:.1%})"
        )
    screen.line()
    _print_ledger(screen, status.core)
    _print_failures(screen, status)


def _print_verdict(screen: Screen, health: Health, verdict: Verdict) -> None:
    colour = {"works": "green", "broken": "red"}.get(verdict.state, "yellow")
    screen.line(verdict.sentence, colour)
    if verdict.remedy:
        screen.line(f"  → {verdict.remedy}")
    for chore in health.failed_tasks:
        screen.item(
            f"{chore.name} failed {number(chore.attempts, 'time')}, last {ago(chore.failed_at)}: "
            f"{chore.problem} Tried again with the first event after {chore.not_before[:16]}Z.",
            "  ",
        )
    screen.line()


def _print_work(screen: Screen, health: Health) -> None:
    screen.line()
    for what, moment in (("last event", health.last_event), ("last ingest", health.last_ingest)):
        when = f"{moment} ({ago(moment)})" if moment else "none yet"
        screen.line(f"{what}: {when}")
    running = f"running{f' ({health.worker.pid})' if health.worker.pid else ''}"
    events, size = number(health.inbox.events, "event"), amount(health.inbox.bytes)
    waiting = f"{events} waiting ({size})" if health.inbox.events else "no events waiting"
    screen.line(f"worker: {running if health.worker.running else 'not running'}; {waiting}")
    taken = [f"{what} {amount(size)}" for what, size in health.disk._asdict().items() if size]
    sizes = ", ".join(taken) or "nothing"
    screen.item(f"disk: {sizes}")
    kept = f"{health.archive.kept_days:g}"
    screen.line(f"transcripts: Claude Code deletes them after {kept} days")
    if health.gone[0]:
        screen.line(
            f"  deleted already: {number(health.gone[0], 'transcript')} "
            f"({number(health.gone[1], 'line')} in memory)"
        )


def _print_retention(screen: Screen, memory: Holdfast) -> None:
    """Print how many old sessions each bank hides; nothing if no bank has a retention."""
    for bank in memory.reader.banks.all():
        if bank.retention:
            from holdfast.learn.bank_settings import hidden_by_retention

            away = number(len(hidden_by_retention(memory.reader, bank.id)), "session")
            screen.item(
                f"retention: {bank.name} keeps {number(bank.retention, 'month')}; {away} hidden. "
                f"`holdfast bank set --bank {bank.name} --retention all` shows them again; "
                "`holdfast forget --purge` erases one permanently"
            )


def _print_older(screen: Screen, older: OutdatedCounts) -> None:
    """Print what was derived by older rules or prompts, if anything."""
    parts = [f"{number(older.rules, 'session')} (older rules)"] * bool(older.rules)
    parts += [f"{number(older.prompts, 'session')} (older prompts)"] * bool(older.prompts)
    parts += [", ".join(older.stages)] * bool(older.stages)
    if parts:
        screen.item(f"outdated: {'; '.join(parts)}. `holdfast refine --stale` updates them")


def _print_banks(screen: Screen, memory: Holdfast, core: CoreStatus) -> None:
    if core.bank_id is not None:
        screen.line(f"bank {memory.context.bank_name(core.bank_id)}")
        return
    used_banks = [bank for bank in core.banks if any(memory.reader.records.counts(bank.id))]
    names = Counter(bank.name for bank in used_banks)
    # Banks that share a name are listed with the start of their id, which `--bank` takes.
    labels = [f"{b.name} ({b.id[:8]})" if names[b.name] > 1 else b.name for b in used_banks]
    screen.item(f"{number(len(used_banks), 'bank')}: {', '.join(labels)}")


def _print_ledger(screen: Screen, core: CoreStatus) -> None:
    balance = core.balance
    screen.line(
        f"ledger: {number(balance.files, 'file')}, {number(balance.lines, 'line')} on disk "
        "or already read"
    )
    screen.line(f"  {balance.captured:>9,} captured")
    for reason, count in (balance.skipped or {}).items():
        screen.line(f"  {count:>9,} skipped: {reason} ({SKIP_REASON_TEXT.get(reason, reason)})")
    screen.line(f"  {balance.failed:>9,} failed")
    screen.line(f"  {balance.pending:>9,} pending: not read yet")
    total = f"  {balance.accounted + balance.pending:>9,} in total: "
    verdict = "every line is accounted for" if core.is_balanced else "THE BALANCE DOES NOT ADD UP"
    screen.line(total + screen.paint(verdict, "green" if core.is_balanced else "red"))
    if balance.redacted:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in balance.redacted.items())
        screen.line(f"  secrets redacted: {kinds}")


def _print_failures(screen: Screen, status: MemoryStatus) -> None:
    shown, failed = status.unreadable_lines[:_MAX_FAILED_LINES], status.core.balance.failed
    screen.section(
        "lines that could not be read (newer versions try again):",
        (f"{path}:{line.line}  {line.reason}" for path, line in shown),
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
