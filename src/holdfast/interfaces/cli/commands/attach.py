"""`holdfast research attach`, which follows a session until it ends."""

from __future__ import annotations

from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, CommandSpec, Parser
from holdfast.operations.output.answer import print_step
from holdfast.operations.research import STATES
from holdfast.operations.screen import Screen
from holdfast.research.journal_lines import mask_removed_records
from holdfast.research.session_journal import SessionState

_HELP = """\
Print the steps of a research session until it ends, whichever process works on it.

--json prints one line per step."""


def _configure(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", help="the id of a session, or the start of it")
    parser.option("--after", "N", "skip this many lines", 0, lambda text: options.positive(text, 0))
    options.add(parser, "json")


def _run(screen: Screen, arguments: Arguments) -> int:
    with open_memory(create=False) as memory:
        sessions = sessions_of(memory.settings)
        id = sessions.find(arguments.id)
        for line in sessions.tail(id, arguments.after):
            (masked,) = mask_removed_records(memory.reader, [line])
            if arguments.json:
                screen.json_line({"session_id": id, **masked})
            else:
                print_step(screen, masked)
    state = sessions.state(id)
    if not arguments.json:
        screen.line(STATES[state], "dim")
    return 0 if state is not SessionState.CRASHED else 1


ATTACH = CommandSpec(_HELP, "  holdfast research attach mem-019a", _configure, _run)
