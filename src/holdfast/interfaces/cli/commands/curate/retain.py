"""`holdfast retain`."""

from __future__ import annotations

import argparse

from holdfast.app.memory import open_memory
from holdfast.app.search import json_shapes
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.screen import Screen
from holdfast.model.knowledge import Network
from holdfast.model.uris import uri

HELP = """\
Keep any text as a memory of one of the four networks: world (what holds), experience (what
was done), opinion (what is believed, with a confidence) and observation (what was noticed).
It is found at once, with the trust of your own words; secrets are taken out first. An opinion
counts as evidence for what the bank believes. `holdfast remember` keeps a text as world."""

EXAMPLES = """\
  holdfast retain "Moved the importer to src/jobs" --network experience --where src/jobs
  holdfast retain "The staging cluster is flaky" --network opinion --confidence 0.8"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what to keep")
    parser.add_argument(
        "--network", choices=[n.value for n in Network], default="world", help="default: world"
    )
    parser.add_argument(
        "--confidence", type=float, metavar="X", help="how sure you are of an opinion, 0 to 1"
    )
    parser.add_argument("--where", default="", metavar="PLACE", help="files or places it is about")
    parser.add_argument("--why", default="", metavar="REASON", help="why it is so, or was done")
    options.add_one_bank(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    screen = Screen()
    with open_memory() as memory:
        kept = memory.retain(
            " ".join(arguments.text),
            arguments.network,
            arguments.confidence,
            arguments.where,
            arguments.why,
            arguments.bank,
        )
        name = memory.context.bank_name(kept.bank)
    if arguments.json:
        screen.json(json_shapes.kept(kept, name))
        return 0
    screen.wrap(f"Retained in bank {name} as {kept.network.value}: {kept.what}")
    screen.line(screen.paint(uri("memory", kept.id), "cyan"))
    return 0
