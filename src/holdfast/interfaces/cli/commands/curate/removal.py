"""`holdfast forget` and `scrub`: leave a record out of everything, or erase words for good."""

from __future__ import annotations

import sys

from holdfast.app.curation.erasure import erasure_json, remove_backups
from holdfast.app.memory import Holdfast, open_memory
from holdfast.errors import InputError
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.commands.curate.records import ID_CHARACTERS, Change, run_change
from holdfast.interfaces.cli.parser import Arguments, CommandSpec, Parser
from holdfast.interfaces.cli.screen import Screen, number
from holdfast.learn.erasure import Erased

_PLURALS = {"memory": "memories", "shared memory": "shared memories"}


def _configure_forget(parser: Parser) -> None:
    options.add(parser, "record")
    parser.flag("--purge", "erase it permanently")
    parser.flag("--backups", "with --purge: also delete backups that contain it")
    options.add(parser, "yes")


def _announce_forgetting(screen: Screen, memory: Holdfast, arguments: Arguments) -> Change:
    target = memory.curation.target(arguments.id)
    screen.line(f"This hides {target.uri}, and what was derived from it alone, everywhere.")
    return Change(
        lambda: memory.forget(target.uri),
        f"Forgotten. `holdfast restore {target.id[:ID_CHARACTERS]}` brings it back.",
    )


def _run_forget(screen: Screen, arguments: Arguments) -> None:
    if not arguments.purge:
        run_change(_announce_forgetting, screen, arguments)
        return
    with open_memory(create=False) as memory:
        target = memory.curation.target(arguments.id)
        planned = memory.erasure.plan_purge(target.uri)
        screen.line(f"This erases {target.uri} permanently:")
        _print_planned(screen, planned)
        if confirm.confirm_memory_change(screen, arguments.yes, "Erase it?", False):
            erased = memory.erasure.purge(target.uri)
            _finish(screen, erased, arguments.yes, arguments.backups)


def _configure_scrub(parser: Parser) -> None:
    parser.add_argument("pattern", metavar="PATTERN", help="a text, a /regex/, or - for stdin")
    parser.flag("--dry-run", "only show what would be erased")
    parser.flag("--backups", "also delete backups that contain it")
    options.add(parser, "yes", "json")


def _run_scrub(screen: Screen, arguments: Arguments) -> None:
    pattern = arguments.pattern
    if pattern == "-":
        pattern = sys.stdin.readline().rstrip("\n")
        if not pattern:
            raise InputError("Standard input has no pattern.", "Write it on the first line.")
    with open_memory(create=False) as memory:
        planned = memory.erasure.plan_scrub(pattern)
        if not arguments.json:
            _print_planned(screen, planned)
        if arguments.dry_run or (planned.nothing and not planned.copies):
            if arguments.json:
                screen.json(erasure_json(planned, False))
            elif arguments.dry_run and not planned.nothing:
                screen.line(confirm.NOTHING_CHANGED)
            return
        if not confirm.confirm_change(
            screen, arguments.yes, "Erase it permanently?", False, "the memory"
        ):
            return
        erased = memory.erasure.scrub(pattern)
    if arguments.json:
        remove_backups(erased, arguments.backups)
        screen.json(erasure_json(erased, True))
    else:
        _finish(screen, erased, arguments.yes, arguments.backups)
        screen.wrap(
            "To keep it out from now on, add a pattern to [redact.patterns] in config.toml.", "", ""
        )


def _print_planned(screen: Screen, planned: Erased) -> None:
    """Print what will be erased, and the files that hold it and are not Holdfast's to change."""
    if planned.nothing:
        screen.line("No matches in memory.")
    for count in _record_counts(planned):
        screen.line(f"  {count}")
    if planned.events:
        screen.line(f"  {number(planned.events, 'event')} in journals of hooks")
    if planned.log_lines:
        screen.line(f"  {number(planned.log_lines, 'line')} of the worker's log")
    for path in planned.copies:
        screen.line(f"  still contains it: {path} (a backup)")
    for path in planned.transcripts:
        screen.line(f"  may still contain it: {path} (not changed)")


def _record_counts(erased: Erased) -> list[str]:
    return [number(n, kind, _PLURALS.get(kind, "")) for kind, n in sorted(erased.records.items())]


def _finish(screen: Screen, erased: Erased, yes: bool, backups: bool) -> None:
    """Print what was erased, and remove the backups that hold it: with `backups`, or if the person
    at the terminal agrees."""
    counts = _record_counts(erased)
    counts += [number(erased.events, "event")] if erased.events else []
    counts += [number(erased.log_lines, "log line")] if erased.log_lines else []
    screen.line(f"Erased permanently: {', '.join(counts) or 'nothing'}.")
    if not erased.copies:
        return
    many = number(len(erased.copies), "backup")
    if not backups and not yes and confirm.is_interactive():
        backups = confirm.ask(f"{many} still contain it. Delete them?", default=False)
    if backups:
        remove_backups(erased, True)
        screen.line(f"Removed {many}.")
    else:
        screen.line(f"{many} still contain it; --backups deletes them:")
        for path in erased.copies:
            screen.line(f"  {path}")


FORGET = CommandSpec(
    help="""\
Hide a record everywhere: recall, ask, find, timelines and briefs. With a session, its turns,
exchanges and digest are hidden; with an exchange, its turns. Summaries are made again without
them. It stays hidden when transcripts are read again; `restore` or `undo` brings it back.

--purge erases it permanently instead: from the database with its index and vectors, from the
journals of hooks, and from prepared briefs. It lists the backups that still contain it.""",
    examples="""\
  holdfast forget 5c1f0a
  holdfast forget holdfast://session/0b54c3aa-1d2e-4c8e-9c1f-2f8f7d1a9e10 --purge""",
    configure=_configure_forget,
    run=_run_forget,
)

SCRUB = CommandSpec(
    help="""\
Permanently erase a secret from the whole memory: from every bank, from the database with its
index and vectors, from the journals of hooks, and from prepared briefs. The records stay, with
[erased] in its place. Shows how much would be erased, and asks.

The pattern is matched literally; between slashes it is a regular expression. A dash reads it
from standard input, so that it does not end up in your shell history. Transcripts of your
agent that contain it are listed but not changed.""",
    examples="""\
  holdfast scrub - --yes < secret.txt
  holdfast scrub '/hunter[0-9]+/' --dry-run""",
    configure=_configure_scrub,
    run=_run_scrub,
)
