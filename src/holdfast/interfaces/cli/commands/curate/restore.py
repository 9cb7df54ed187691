"""`holdfast restore`."""

from __future__ import annotations

import argparse

from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.screen import Screen

HELP = """\
Bring back what was forgotten or merged, with all that went with it, as it was."""

EXAMPLES = """\
  holdfast restore 5c1f0a"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    options.add_record(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    with open_memory(create=False) as memory:
        target = memory.curation.target(arguments.id)
        memory.restore(target.uri)
    Screen().line(f"{target.uri} is back.")
    return 0
