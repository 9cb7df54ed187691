"""`holdfast ingest`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

from holdfast.app.ingest.executors import Executors, is_cluster, open_executors
from holdfast.app.memory import Holdfast, open_memory
from holdfast.errors import ModelError, SettingsError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.ingest_progress import IngestProgress, Phase
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.progress import Progress
from holdfast.operations.screen import Screen, amount, number
from holdfast.refine.core.executor import Executor
from holdfast.refine.git.history import HistoryReport
from holdfast.refine.ingest.ingest_report import IngestReport
from holdfast.refine.ingest.read_plan import Input
from holdfast.sources.git.log import is_repository
from holdfast.sources.registry import agents

# How many seconds commits and turns are each embedded for by default; summaries always are.
# Longer makes more of them findable by meaning at once; the worker embeds the rest.
TURNS_S = 20
# How many folders --dry-run lists, the largest first.
_MAX_FOLDERS = 12

HELP = """\
Read transcripts into memory. Without a path: those of all agents on this machine, Claude
Code's from $CLAUDE_CONFIG_DIR or ~/.claude, others' from their own folders
(docs/agents.md). A path may be a transcript, a folder of them, or a git repository, whose
log is read. The agent that wrote a file is recognised by its content.

Only what is new is read, so run it as often as you like. After an interruption it resumes
where it was. Secrets are redacted before anything is written."""

EXAMPLES = """\
  holdfast ingest --dry-run
  holdfast ingest
  holdfast ingest ~/.claude/projects/-home-me-work
  holdfast ingest --agent codex           only what this agent wrote
  holdfast ingest ~/code/project          a repository: its git log
  holdfast ingest --workers 8
  holdfast ingest --workers dask://scheduler:8786"""


def configure(parser: Parser) -> None:
    parser.add_argument(
        "paths", nargs="*", type=options.some_path, metavar="PATH", help="what to read"
    )
    parser.flag("--dry-run", "only show what would be read")
    parser.choice("--agent", sorted(agents()), "only what this agent wrote")
    parser.option("--bank", "NAME", "put it all in this bank (default: by project)")
    parser.option(
        "--workers",
        "N|dask://HOST:PORT",
        "number of processes (default: one per core), or the address of a Dask "
        "cluster (see docs/operations.md)",
        os.cpu_count() or 1,
        _workers,
    )
    parser.choice(
        "--embed",
        ("all", "some", "none"),
        "how many vectors to compute now, for search by meaning: some (default) = all "
        f"summaries, then commits and turns for {TURNS_S} seconds each; the worker does the rest",
        "some",
    )
    parser.add_argument(
        "--no-diffs",
        dest="diffs",
        action="store_false",
        help="of a repository, read only commit messages and file names",
    )
    options.add(parser, "json")


def run(
    screen: Screen, arguments: Arguments, turns_s: float = TURNS_S, in_setup: bool = False
) -> None:
    """Read what the arguments name; `in_setup` reports in one line what was read."""
    paths: list[Path] = arguments.paths
    repositories = [path for path in paths if path.is_dir() and is_repository(path)]
    folders = [path for path in paths if path not in repositories]
    with open_memory(create=not arguments.dry_run) as memory:
        problems: list[str] = []
        find = memory.ingestion.find
        wanted = bool(folders) or not paths
        inputs = find(folders, arguments.bank, problems, arguments.agent) if wanted else []
        if not paths and not inputs:
            return _nothing_there(screen, arguments.json)
        if arguments.dry_run:
            return _estimate(screen, memory, inputs, repositories, arguments.json)
        for problem in problems:
            Screen(sys.stderr).line(f"holdfast: skipped: {problem}")
        logs = {path: _read_history(memory, path, arguments) for path in repositories}
        with open_executors(arguments.workers) as executors, IngestProgress(arguments.json) as bar:
            report = _read(memory, inputs, executors, bar) if inputs else None
            _distil(memory, report.sessions if report else 0, bar)
            embedded, left = embed(memory, arguments.embed, bar, executors.embed, turns_s)
            bar.show(Phase.BRIEF, 0, 1)
            memory.briefs.prepare()
    if arguments.json:
        found = [{"path": str(path), **log._asdict()} for path, log in logs.items()]
        return screen.json({"transcripts": report, "without_vectors": left, "repositories": found})
    _print_done(screen, report, logs, in_setup)
    if embedded and not in_setup:
        screen.line(f"Embedded {number(embedded, 'record')} for search by meaning.")
    elif arguments.embed == "all" and left == 0:
        screen.line("All records were embedded before.")
    if left:
        screen.wrap(
            f"{number(left, 'record')} can be found only by words until the worker has embedded "
            "them, in the background of the next sessions."
            + ("" if in_setup else " `holdfast ingest --embed all` does it now.")
        )


def _print_done(
    screen: Screen,
    report: IngestReport | None,
    logs: Mapping[Path, HistoryReport],
    in_setup: bool,
) -> None:
    if report is not None:
        (_print_sum if in_setup else _print)(screen, report)
    for path, log in logs.items():
        screen.line(
            f"{path.resolve().name}: {number(log.commits, 'commit')} in its history, {log.new:,} "
            f"of them new, in bank {log.bank}."
        )
        if log.astray:
            screen.line(f"  {log.astray:,} of them are not in HEAD.")
    if report is None and not logs:
        screen.line("No transcripts there.")


def _nothing_there(screen: Screen, as_json: bool) -> None:
    if as_json:
        none: list[object] = []
        return screen.json(
            {"transcripts": IngestReport(), "without_vectors": None, "repositories": none}
        )
    screen.line("No transcripts were found on this machine.")
    screen.line(
        "Give a path, or set CLAUDE_CONFIG_DIR, CODEX_HOME or the like to where an agent keeps "
        "its data."
    )


def _estimate(
    screen: Screen,
    memory: Holdfast,
    inputs: Sequence[Input],
    repositories: Sequence[Path],
    as_json: bool,
) -> None:
    new = memory.ingestion.estimate(inputs)
    size = sum(count for _, count in new)
    if as_json:
        return screen.json({"files": len(inputs), "files_with_news": len(new), "new_bytes": size})
    screen.line(f"{number(len(inputs), 'transcript')} found; {len(new):,} with something new.")
    files, sizes = Counter[str](), Counter[str]()
    for item, bytes in new:
        # A subagent's transcript is in a folder of its own below the folder of the project.
        of_subagent = item.path.parent.name == "subagents"
        name = item.path.parents[2 if of_subagent else 0].name
        files[name] += 1
        sizes[name] += bytes
    for name, total in sizes.most_common(_MAX_FOLDERS):
        screen.line(f"  {amount(total):>9}  {number(files[name], 'file'):<10}  {name}")
    if len(sizes) > _MAX_FOLDERS:
        screen.line(f"  … and {len(sizes) - _MAX_FOLDERS} more folders")
    screen.line(f"To read: {amount(size)}.")
    for path in repositories:
        screen.line(f"And the git log of {path}.")
    screen.line("Nothing has been read or written.")


def _workers(text: str) -> int | str:
    """A number of processes, or a cluster."""
    return text if is_cluster(text) else options.positive(text)


def _read(
    memory: Holdfast, inputs: Sequence[Input], executors: Executors, bar: IngestProgress
) -> IngestReport:
    return memory.ingestion.ingest(
        inputs,
        executors.readers,
        bar.watch(Phase.READ, amount),
        then_know=False,
        executor=executors.derive,
        on_session=lambda done: bar.show(Phase.REFINE, done, max(done, len(inputs)), str),
    )


def _distil(memory: Holdfast, sessions: int, bar: IngestProgress) -> None:
    """Run the stages above the session. How often they report depends on the sessions: two of them
    report each one, the others a few times."""
    calls, expected = count(1), 2 * sessions + 10
    bar.show(Phase.DISTIL, 0, expected)
    memory.ingestion.update(lambda: bar.show(Phase.DISTIL, next(calls), expected))
    memory.rules.sync_all()


def _read_history(memory: Holdfast, path: Path, arguments: Arguments) -> HistoryReport:
    what = f"reading the history of {path.resolve().name}"
    bar = Progress(what, lambda n: f"{n:,} commits", arguments.json)
    report = memory.ingestion.ingest_git(path, arguments.bank, bar, arguments.diffs)
    bar.finish()
    return report


def embed(
    memory: Holdfast,
    how: str,
    bar: IngestProgress,
    crew: Executor | None = None,
    turns_s: float = TURNS_S,
) -> tuple[int, int | None]:
    """Embed passages; returns how many were, and how many are left. None are known to be left if
    embedding was not wanted or the model cannot be used, which is printed and is no error."""
    if how == "none":
        return 0, None
    watch = bar.watch(Phase.EMBED, str)
    embedded = last = 0

    def on_progress(done: int, total: int) -> None:
        nonlocal embedded, last
        # It counts from the start again for what was built from the first vectors.
        embedded += done - last if done >= last else done
        last = done
        watch(done, total)

    try:
        left = memory.ingestion.embed(
            turns_s if how == "some" else None, on_progress, executor=crew
        )
    except (ModelError, SettingsError) as error:
        problem = f"{error.message} {error.remedy}".strip()
        Screen(sys.stderr).line(f"holdfast: not prepared for search by meaning: {problem}")
        return embedded, None
    return embedded, left


def _print_sum(screen: Screen, report: IngestReport) -> None:
    read = f"{number(report.sessions, 'session')} from {amount(report.bytes_read)} of transcripts"
    secrets = f"; {number(report.redacted, 'secret')} redacted" if report.redacted else ""
    failed = f"; {number(report.failed, 'line')} failed, see `holdfast status`"
    screen.line(f"Read {read}{secrets}{failed if report.failed else ''}.")


def _print(screen: Screen, report: IngestReport) -> None:
    if report.files_read == 0:
        screen.line(f"Nothing new in {number(report.files_seen, 'transcript')}.")
    else:
        screen.line(
            f"Read {amount(report.bytes_read)} in {number(report.files_read, 'file')}: "
            f"{number(report.lines, 'line')}."
        )
        screen.line(
            f"  {report.captured:,} captured + {report.skipped:,} skipped + "
            f"{report.failed:,} failed = {report.captured + report.skipped + report.failed:,}"
        )
        screen.line(f"  {number(report.sessions, 'session')} brought up to date.")
    if report.redacted:
        screen.line(f"  {number(report.redacted, 'secret')} redacted before storing.")
    for source in report.gone:
        screen.line(f"  deleted: {source.path} ({source.lines:,} lines of it are kept)")
    if report.unknown:
        screen.wrap(
            f"{number(report.unknown, 'line')} of kinds that this version does not know: an agent "
            "may be newer than this. They stay in its files and were not stored.",
            "  ",
        )
    if report.failed:
        screen.line("  `holdfast status` shows which lines failed, and why.")
