"""`holdfast forget`."""

from __future__ import annotations

import argparse

from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.output import erasure
from holdfast.interfaces.cli.screen import Screen

HELP = """\
Leave a record out of everything: recall, ask, find, timelines and briefs. A session takes its
turns, exchanges and digest with it, an exchange its turns; what sums them up is made again
without them. It survives reading again, and `restore` or `undo` brings all of it back.

--purge erases for good instead: from the database with its index and vectors, from the
journals of hooks, from prepared briefs. It names the backups that still hold it."""

EXAMPLES = """\
  holdfast forget 5c1f0a
  holdfast forget holdfast://session/0b54c3aa-1d2e-4c8e-9c1f-2f8f7d1a9e10 --purge"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    options.add_record(parser)
    parser.add_argument("--purge", action="store_true", help="erase it for good")
    parser.add_argument(
        "--backups", action="store_true", help="with --purge: remove backups that hold it, too"
    )
    options.add_yes(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    screen = Screen()
    with open_memory(create=False) as memory:
        target = memory.curation.target(arguments.id)
        if arguments.purge:
            told = memory.erasure.plan_purge(target.uri)
            screen.line(f"This erases {target.uri} for good:")
            erasure.show(screen, told)
            if not confirm.may_go_ahead(arguments.yes, "Erase it?", False, "the memory", False):
                screen.line("Nothing was changed.")
                return 0
            erasure.finish(
                screen, memory.erasure.purge(target.uri), arguments.yes, arguments.backups
            )
            return 0
        screen.line(f"This leaves {target.uri}, and what is made of it, out of everything.")
        if not confirm.may_go_ahead(arguments.yes, "Go ahead?", True, "the memory", False):
            screen.line("Nothing was changed.")
            return 0
        memory.forget(target.uri)
    screen.line(f"Forgotten. `holdfast restore {target.id[:16]}` brings it back.")
    return 0
