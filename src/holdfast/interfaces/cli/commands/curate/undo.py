"""`holdfast undo`."""

from __future__ import annotations

import argparse

from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.screen import Screen, number
from holdfast.language import truncate
from holdfast.learn.decision_state import undoable
from holdfast.model.to_json import to_jsonable

HELP = """\
Take back the latest decisions: what was remembered, corrected, forgotten, restored or merged.
What they changed is as it was before. What was erased cannot come back."""

EXAMPLES = """\
  holdfast undo
  holdfast undo 3 --yes"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument(
        "count", nargs="?", type=options.positive, default=1, metavar="N", help="how many"
    )
    options.add_bank(parser, default="all")
    options.add_yes(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    screen = Screen()
    with open_memory(create=False) as memory:
        id = memory.context.bank_id(arguments.bank)
        banks = [b.id for b in memory.reader.banks() if id in (None, b.id)]
        log = [e for bank in banks for e in undoable(memory.reader.curations(bank))]
        last = sorted(log, key=lambda entry: -entry.seq)[: arguments.count]
        if not arguments.json:
            for entry in last:
                said = f": {truncate(entry.text, 100)}" if entry.text else ""
                when = entry.time[:16].replace("T", " ")
                screen.wrap(f"{when} {entry.who}: {entry.action.value} {entry.target}{said}")
        if last and not confirm.may_go_ahead(
            arguments.yes, f"Take back {number(len(last), 'decision')}?", True, "the memory", False
        ):
            screen.line("Nothing was changed.")
            return 0
        undone = memory.undo(arguments.count, arguments.bank) if last else []
    if arguments.json:
        screen.json({"undone": to_jsonable(undone)})
    else:
        done = f"{number(len(undone), 'decision')} taken back."
        screen.line(done if undone else "There is nothing to take back.")
    return 0
