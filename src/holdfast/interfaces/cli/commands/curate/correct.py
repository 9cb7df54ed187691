"""`holdfast correct`."""

from __future__ import annotations

import argparse

from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.screen import Screen
from holdfast.language import truncate

HELP = """\
Say a record anew: a turn, an exchange, a digest, a memory, a commit or the name of a concept.
From then on recall, ask and briefs give your words, marked as corrected; the old ones are kept,
and `show` tells them as superseded. `holdfast undo` takes it back."""

EXAMPLES = """\
  holdfast correct 5c1f0a "The cause was the cron entry, not the retry wrapper." --yes"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    options.add_record(parser)
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what it should say")
    options.add_yes(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    screen = Screen()
    text = " ".join(arguments.text)
    with open_memory(create=False) as memory:
        target = memory.curation.target(arguments.id)
        screen.wrap(f"{target.uri} will say: {truncate(text, 300)}")
        if not confirm.may_go_ahead(arguments.yes, "Go ahead?", True, "the memory", False):
            screen.line("Nothing was changed.")
            return 0
        memory.correct(target.uri, text)
    screen.line("Corrected. `holdfast undo` takes it back.")
    return 0
