"""`holdfast merge`."""

from __future__ import annotations

import argparse

from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.screen import Screen

HELP = """\
Let one record stand for another that says the same: two memories, two exchanges or two commits
of one bank. The first is no longer found; what was said in it stays. `restore` brings it back."""

EXAMPLES = """\
  holdfast merge 5c1f0a 9be2d4"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    options.add_record(parser)
    options.add_record(parser, "into")
    options.add_yes(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    screen = Screen()
    with open_memory(create=False) as memory:
        one, into = memory.curation.target(arguments.id), memory.curation.target(arguments.into)
        screen.line(f"{into.uri} will stand for {one.uri}.")
        if not confirm.may_go_ahead(arguments.yes, "Go ahead?", True, "the memory", False):
            screen.line("Nothing was changed.")
            return 0
        memory.curation.merge(one.uri, into.uri)
    screen.line(f"Merged. `holdfast restore {one.id[:16]}` takes them apart again.")
    return 0
