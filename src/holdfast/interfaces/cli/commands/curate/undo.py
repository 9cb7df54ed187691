"""`holdfast undo`."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.framed_text import one_line, quote
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, minute, number
from holdfast.language import truncate
from holdfast.learn.decision_state import undoable

HELP = """\
Undo the latest decisions: remember, correct, forget, restore, merge, and verdicts on what briefs
tell (`holdfast review`; one for each record). Everything they changed is as before. What was
erased permanently cannot be brought back."""

EXAMPLES = """\
  holdfast undo
  holdfast undo 3 --yes"""

# The start of a decision's text: enough to recognise it, and one decision stays about one line.
_MAX_TEXT_CHARACTERS = 100


def configure(parser: Parser) -> None:
    parser.add_argument(
        "count",
        nargs="?",
        type=options.positive,
        default=1,
        metavar="N",
        help="how many decisions (default: 1)",
    )
    options.add(parser, "bank_or_all", "yes", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    with open_memory(create=False) as memory:
        id = memory.context.bank_id(arguments.bank)
        banks = [b.id for b in memory.reader.banks.all() if id in (None, b.id)]
        log = [e for bank in banks for e in undoable(memory.reader.curation.log(bank))]
        last = sorted(log, key=lambda entry: -entry.seq)[: arguments.count]
        if not arguments.json:
            for entry in last:
                head = f"{minute(entry.time)} {one_line(entry.who)}: {entry.action.value}"
                text = truncate(entry.text, _MAX_TEXT_CHARACTERS)
                said = f": {quote(text)}" if text else ""
                screen.wrap(f"{head} {entry.target}{said}")
        question = f"Undo {number(len(last), 'decision')}?"
        if last and not confirm.confirm_memory_change(screen, arguments.yes, question):
            return
        undone = memory.undo(arguments.count, arguments.bank) if last else []
    done = f"{number(len(undone), 'decision')} undone."
    sentence = done if undone else "There is nothing to undo."
    screen.report(arguments.json, {"undone": undone}, sentence)
