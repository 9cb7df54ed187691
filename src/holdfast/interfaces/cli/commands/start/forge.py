"""`holdfast forge`."""

from __future__ import annotations

import sys

from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.commands.start import ingest
from holdfast.interfaces.cli.ingest_progress import IngestProgress
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.progress import Progress
from holdfast.operations.screen import Screen, number
from holdfast.refine.git.forge_sync import ForgeCount, ForgeReport

HELP = """\
Read pull requests, issues, reviews and comments from GitHub into memory: those of the
repository of the current folder, by its remote, or of OWNER/NAME. No other command
contacts a forge, and this one only reads.

The token comes from GH_TOKEN or GITHUB_TOKEN, from the variable named by
forge.token_env in the settings, or from the login of `gh`. Public repositories
can be read without one, slowly. Only changes are read; an interrupted run resumes. Text
by people outside the project has the trust `external`. Secrets are redacted before
anything is written.

--json prints {"bank", "repo", "pulls", "issues", "remarks", "unchanged", "left_out",
"erased", "requests", "stopped", "redacted"}; with --dry-run {"repo", "pulls", "issues",
"requests", "asked", "more"}."""

EXAMPLES = """\
  holdfast forge --dry-run
  holdfast forge
  holdfast forge acme/shop --bank shop
  holdfast show pull/12"""


def configure(parser: Parser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        default="",
        metavar="OWNER/NAME",
        help="the repository (default: by the remote of the current folder)",
    )
    parser.flag("--dry-run", "only count what is new, and the requests it needs")
    parser.option("--bank", "NAME", "put it in this bank (default: by project)")
    parser.choice(
        "--embed",
        ("all", "some", "none"),
        "how many vectors to compute now, for search by meaning (default: some)",
        "some",
    )
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> int:
    name, bank = arguments.name, arguments.bank
    with open_memory(create=not arguments.dry_run) as memory:
        if arguments.dry_run:
            counted: ForgeCount = memory.ingestion.count_forge(name, bank, _print_notice)
            if arguments.json:
                screen.json(counted)
            else:
                _print_count(screen, counted)
            return 0
        progress = Progress(
            "reading", lambda n: number(n, "thread or remark", "threads and remarks")
        )
        report: ForgeReport = memory.ingestion.read_forge(name, bank, progress, _print_notice)
        if not arguments.json:
            progress.finish()
        with IngestProgress(arguments.json) as bar:
            ingest.embed(memory, arguments.embed, bar)
    if arguments.json:
        screen.json(report)
    else:
        _print(screen, report)
    return 1 if report.stopped else 0


def _print_notice(text: str) -> None:
    Screen(sys.stderr).line(f"holdfast: {text}")


def _print_count(screen: Screen, counted: ForgeCount) -> None:
    least = "at least " if counted.more else ""
    screen.line(
        f"{counted.repo}: {least}{number(counted.pulls, 'pull')} and "
        f"{number(counted.issues, 'issue')} with something new."
    )
    screen.line(
        f"Reading them takes about {number(counted.requests, 'request')}, and one for every "
        "hundred comments."
    )
    screen.line(f"Nothing has been read or written; counting took {counted.asked}.")


def _print(screen: Screen, report: ForgeReport) -> None:
    screen.line(
        f"{report.repo}: {number(report.pulls, 'pull')}, {number(report.issues, 'issue')} and "
        f"{number(report.remarks, 'remark')} new or changed, in bank {report.bank}."
    )
    if report.left_out:
        screen.line(f"  {number(report.left_out, 'remark')} left out: their threads have too many.")
    if report.erased:
        screen.line(f"  {report.erased:,} not stored again, because they were erased or scrubbed.")
    if taken := report.redacted.total():
        screen.line(f"  {number(taken, 'secret')} redacted before storing.")
    screen.line(f"  {number(report.requests, 'request')} made.")
    if report.stopped:
        Screen(sys.stderr).line(f"holdfast: stopped: {report.stopped}")
