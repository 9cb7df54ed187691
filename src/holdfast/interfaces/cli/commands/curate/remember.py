"""`holdfast remember`."""

from __future__ import annotations

import argparse

from holdfast.app.memory import open_memory
from holdfast.app.search import json_shapes
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.screen import Screen, day
from holdfast.model.uris import uri

HELP = """\
Keep something in your own words: found at once by recall and ask, and told to sessions
where decisions are. Secrets are taken out first. The same words are kept once."""

EXAMPLES = """\
  holdfast remember "We deploy on Tuesdays, never on Fridays."
  holdfast remember --bank website The staging database is rebuilt every night."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what to remember")
    options.add_one_bank(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    screen = Screen()
    with open_memory() as memory:
        began = memory.now()
        kept = memory.remember(" ".join(arguments.text), arguments.bank)
        name = memory.context.bank_name(kept.bank)
    if arguments.json:
        screen.json(json_shapes.kept(kept, name))
        return 0
    known = f" since {day(kept.when)}" if kept.when < began else ""
    screen.wrap(f"Remembered in bank {name}{known}: {kept.what}")
    screen.line(screen.paint(uri("memory", kept.id), "cyan"))
    return 0
