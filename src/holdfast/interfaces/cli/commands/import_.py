"""`holdfast import`."""

from __future__ import annotations

import argparse

from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.screen import Screen, number
from holdfast.model.plain import plain

HELP = """\
Read a dialogue from another program into a bank.

conversation: one JSON object a line, with `session`, `id`, `time`, `speaker`, `text`;
only `text` must be there. Read twice, it is stored once; a line that cannot be read
is kept in the ledger."""

EXAMPLES = """\
  holdfast import conversation chat.jsonl --bank support"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("format", choices=["conversation"], help="what the file holds")
    parser.add_argument("path", type=options.some_path, metavar="FILE", help="the file to read")
    parser.add_argument("--bank", metavar="NAME", required=True, help="the bank to put it in")
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    screen = Screen()
    with open_memory() as memory:
        account = memory.import_conversation(arguments.path, arguments.bank)
        memory.know()
    if arguments.json:
        screen.json(plain(account))
        return 0
    screen.line(
        f"{number(account.lines, 'line')} read into bank {arguments.bank}: "
        f"{account.captured:,} captured, {account.skipped:,} skipped, {account.failed:,} failed."
    )
    if account.lines == 0:
        screen.line("Nothing new in that file.")
    if account.failed:
        screen.line("`holdfast status` shows which lines failed, and why.")
    return 0
