"""`holdfast scrub`."""

from __future__ import annotations

import argparse
import sys

from holdfast.app.curation.erasure import erasure_json, remove_backups
from holdfast.app.memory import open_memory
from holdfast.errors import InputError
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.output import erasure
from holdfast.interfaces.cli.screen import Screen

HELP = """\
Erase a secret that slipped in, for good, wherever it is in the memory: in every bank, in the
database with its index and vectors, in the journals of hooks, in prepared briefs. The records
stay, with [erased] in its place. Shows first how much would be erased, and asks.

The pattern is taken as it stands; between slashes it is a regular expression. A dash reads
it from standard input, so that it does not end up in the history of your shell. The
transcripts of your agent are not ours: they are named, not changed."""

EXAMPLES = """\
  holdfast scrub - --yes < secret.txt
  holdfast scrub '/hunter[0-9]+/' --dry-run"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("pattern", metavar="PATTERN", help="a text, a /regex/, or - for stdin")
    parser.add_argument("--dry-run", action="store_true", help="only show what would be erased")
    parser.add_argument("--backups", action="store_true", help="remove backups that hold it, too")
    options.add_yes(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    screen = Screen()
    pattern = arguments.pattern
    if pattern == "-":
        pattern = sys.stdin.readline().rstrip("\n")
        if not pattern:
            raise InputError("Standard input holds no pattern.", "Write it on the first line.")
    with open_memory(create=False) as memory:
        planned = memory.erasure.plan_scrub(pattern)
        if not arguments.json:
            erasure.show(screen, planned)
        if arguments.dry_run or (planned.nothing and not planned.copies):
            if arguments.json:
                screen.json(erasure_json(planned, False))
            elif arguments.dry_run and not planned.nothing:
                screen.line(confirm.NOTHING_CHANGED)
            return 0
        if not confirm.confirm_change(
            screen, arguments.yes, "Erase it for good?", False, "the memory"
        ):
            return 0
        erased = memory.erasure.scrub(pattern)
    if arguments.json:
        remove_backups(erased, arguments.backups)
        screen.json(erasure_json(erased, True))
    else:
        erasure.finish(screen, erased, arguments.yes, arguments.backups)
        screen.wrap(
            "To keep it out from now on, add a pattern to [redact.patterns] in config.toml.", "", ""
        )
    return 0
