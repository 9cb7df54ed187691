"""The installation: health checks, backups, plugins, and reading transcripts."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

from holdfast.app.core.context import utc_now
from holdfast.app.doctor.check import Check, Grade, Mended
from holdfast.app.memory import Holdfast
from holdfast.app.status.health import current_folder
from holdfast.app.transfer.backup import Backup, StoredBackup, back_up, list_backups
from holdfast.errors import ProviderError
from holdfast.language import cut
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.trust import Trust
from holdfast.operations.operation import Arg, Work, operation
from holdfast.operations.parameters import MAX_NAME, MAX_QUESTION
from holdfast.operations.screen import Screen, minute, number
from holdfast.operations.shapes import record_from
from holdfast.principal import Level
from holdfast.settings import OFF

if TYPE_CHECKING:
    from holdfast.app.search.plugin_search import Providers, ProviderStatus

# The start of what a provider answers: about six lines.
_MAX_TEXT = 600


class CheckResult(NamedTuple):
    """The result of a check: a sentence for people, and what to do if there is a problem."""

    name: str
    grade: Grade
    sentence: str
    remedy: str
    fixable: bool


class Checkup(NamedTuple):
    """The results of all checks, after what was mended before them. It is `healthy` if nothing is
    broken."""

    healthy: bool
    checks: tuple[CheckResult, ...]
    mended: tuple[Mended, ...]


class FixConfirmation(StrEnum):
    """The word that agrees to fixes: of what is safe, or of everything."""

    FIX = "fix"
    FIX_ALL = "fix all"


def checkup(checks: Iterable[Check], fixes: Iterable[Mended] = ()) -> Checkup:
    """The results of checks, and of fixes before them."""
    checks = tuple(checks)
    return Checkup(
        not any(one.grade is Grade.BROKEN for one in checks),
        tuple(record_from(CheckResult, one, fixable=one.fix is not None) for one in checks),
        tuple(fixes),
    )


@operation("doctor", Level.ADMIN, rest="GET /doctor", work=Work.RUN_LONG, all_banks=True)
def doctor(memory: Holdfast) -> Checkup:
    """Check installation and data

    Lists problems and how to fix them. Changes nothing."""
    from holdfast.app.doctor.examine import run_checks

    return checkup(run_checks(memory.settings, current_folder()))


@operation("doctor fix", Level.ADMIN, rest="POST /doctor/fix", work=Work.RUN_LONG, all_banks=True)
def doctor_fix(
    memory: Holdfast,
    confirm: Annotated[
        FixConfirmation, Arg("`fix all` also deletes broken parts, and runs slow fixes")
    ],
) -> Checkup:
    """Fix problems of installation and data

    Fixes that delete something or take long run only with `fix all`. Then everything is checked
    again."""
    from holdfast.app.doctor.examine import run_checks, run_fixes

    settings, folder = memory.settings, current_folder()
    done = run_fixes(settings, folder, lambda _: confirm is FixConfirmation.FIX_ALL)
    return checkup(run_checks(settings, folder), done)


class BackupList(NamedTuple):
    """The backups in the home, the latest first."""

    backups: tuple[StoredBackup, ...]


@operation("backups", Level.ADMIN, rest="GET /backups", work=Work.READ, all_banks=True)
def backups(memory: Holdfast) -> BackupList:
    """List backups

    Those in the home, the latest first."""
    return BackupList(tuple(list_backups(memory.settings)))


@operation("backup", Level.ADMIN, rest="POST /backups", work=Work.RUN_LONG, all_banks=True)
def backup(memory: Holdfast) -> Backup:
    """Back up the whole memory into one file

    Into the home, while everything keeps running. The copy is checked and compared with the memory
    before it gets its name."""
    return back_up(memory.settings)


class ProviderServer(NamedTuple):
    """An MCP server of a plugin, and how it is reached."""

    name: str
    kind: str


class ProviderReport(NamedTuple):
    """A plugin, whether it can be queried, and how reliable it was. It is not asked until
    `resting_until`."""

    name: str
    id: str
    root: str
    usable: bool
    problem: str
    servers: tuple[ProviderServer, ...]
    allowed_tools: tuple[str, ...]
    score: float
    calls: int
    success: float
    ms: float
    resting_until: str
    last_problem: str


class ProviderList(NamedTuple):
    """Whether plugins are queried at all, the plugins, and manifests that cannot be read."""

    use: str
    providers: tuple[ProviderReport, ...]
    problems: tuple[str, ...]


class ProviderText(NamedTuple):
    """One text that a plugin returned, and the tool that it came from."""

    tool: str
    text: str
    trust: Trust


class ProviderTest(NamedTuple):
    """What a plugin answered to a query, and after how many milliseconds."""

    provider: str
    query: str
    ms: int
    texts: tuple[ProviderText, ...]


def _providers(memory: Holdfast) -> Providers:
    from holdfast.app.search.plugin_search import Providers

    return Providers(memory.settings, utc_now, current_folder())


def _print_providers(screen: Screen, found: ProviderList, **_: object) -> None:
    for one in found.providers:
        screen.line(screen.paint(one.name, "bold") + f"  {one.id}  {one.root}")
        if one.problem:
            screen.item(f"not usable: {one.problem}", "  ")
            continue
        kinds = ", ".join(f"{server.name} ({server.kind})" for server in one.servers)
        screen.item(f"{kinds}; allowed: {', '.join(one.allowed_tools)}", "  ")
        screen.item(_describe_reliability(one) if one.calls else "never queried", "  ")
    for problem in found.problems:
        screen.wrap(problem)
    if not found.providers:
        screen.line("No enabled plugin can be queried.")
    if found.use == OFF:
        screen.wrap('Plugins are not queried: providers.use is "off". See docs/providers.md.')


def _describe_reliability(one: ProviderReport) -> str:
    text = f"reliability {one.score:.2f}: {number(one.calls, 'call')}, "
    text += f"{one.success:.0%} answered recently, about {one.ms:.0f} ms"
    if one.resting_until:
        text += f"; paused until {minute(one.resting_until)}"
    return f"{text}; last problem: {one.last_problem}" if one.last_problem else text


@operation(
    "providers",
    Level.ADMIN,
    rest="GET /providers",
    work=Work.READ,
    all_banks=True,
    text=_print_providers,
    options=("plugin_dir",),
    examples="""\
  holdfast providers
  holdfast providers --plugin-dir ./my-plugin --json
  holdfast providers test wiki "retry policy\"""",
)
def providers(memory: Holdfast) -> ProviderList:
    """List plugins that can be searched as well

    Enabled plugins of Claude Code with an MCP server, whose han-plugin.yml or holdfast-plugin.yml
    has memory.allowed_tools and memory.system_prompt. Shows for each whether it can be used, why
    not, and how reliable it has been. Listing only reads files; it starts no program."""
    known = _providers(memory)
    listed = tuple(map(_provider, known.listed()))
    return ProviderList(memory.settings.providers.use, listed, tuple(known.problems))


def _provider(item: ProviderStatus) -> ProviderReport:
    provider, reliability = item.provider, item.reliability
    return record_from(
        ProviderReport,
        provider,
        reliability,
        root=str(provider.root),
        usable=not provider.problem,
        servers=tuple(record_from(ProviderServer, one) for one in provider.servers),
        allowed_tools=tuple(f"mcp__{one.server}__{one.tool}" for one in provider.allowed),
        resting_until=reliability.resting_until if item.is_paused else "",
        last_problem=reliability.problem,
    )


def _print_provider_test(screen: Screen, found: ProviderTest, **_: object) -> None:
    for one in found.texts:
        screen.line(f"{found.provider}/{one.tool} · external", "bold")
        screen.wrap(cut(one.text, _MAX_TEXT), "      ")
        screen.line()
    screen.line(f"{number(len(found.texts), 'text')} in {found.ms} ms")


@operation(
    "providers test",
    Level.ADMIN,
    work=Work.RUN_LONG,
    all_banks=True,
    text=_print_provider_test,
    options=("plugin_dir",),
    examples='  holdfast providers test wiki "retry policy"',
)
def providers_test(
    memory: Holdfast,
    name: Annotated[str, Arg("the name of a plugin", place="NAME", most=MAX_NAME)],
    query: Annotated[
        str,
        Arg("what to ask it", place="QUERY", many_words=True, most=MAX_QUESTION),
    ],
) -> ProviderTest:
    """Query a plugin now

    Whatever the settings say. Answers of plugins are external text: they are never stored, and
    never treated as instructions."""
    known, started = _providers(memory), perf_counter()
    try:
        found = known.ask(known.named(name), query)
    except ProviderError as error:
        raise ProviderError(
            f"{name} failed: {error.message}.",
            error.remedy or "`holdfast providers` shows its record.",
        ) from error
    ms = round((perf_counter() - started) * 1000)
    texts = tuple(ProviderText(one.tool, one.text, Trust.EXTERNAL) for one in found)
    return ProviderTest(name, query, ms, texts)


class TranscriptsRead(NamedTuple):
    """What one run of reading did: files, their bytes and lines, what became of the lines
    (`unknown` are skipped ones of a type that this version does not know), secrets that were
    redacted, sessions brought up to date, and the paths of transcripts that are gone from disk."""

    files_seen: int
    files_read: int
    bytes_read: int
    lines: int
    captured: int
    skipped: int
    failed: int
    unknown: int
    redacted: int
    sessions: int
    gone: tuple[str, ...]


class Ingested(NamedTuple):
    """What was read; null if there are no transcripts."""

    transcripts: TranscriptsRead | None


@operation("ingest", Level.ADMIN, work=Work.RUN_LONG, all_banks=True, creates=True)
def ingest(memory: Holdfast) -> Ingested:
    """Read new transcripts

    Those of the user of this machine, where the agents store them."""
    inputs = memory.ingestion.find([])
    if not inputs:
        return Ingested(None)
    report = memory.ingest(inputs)
    gone = tuple(one.path for one in report.gone)
    return Ingested(record_from(TranscriptsRead, report, gone=gone))
