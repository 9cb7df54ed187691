"""`holdfast migrate`."""

from __future__ import annotations

from holdfast.errors import InputError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.progress import Progress
from holdfast.interfaces.cli.screen import Screen, number
from holdfast.settings import load_settings

HELP = """\
Move a whole memory from a file to a PostgreSQL server, or back. The memory to move to must be
new or empty; the old one stays as it is. Stopped at any point, run it again: it goes on where
it was. Until all is over, and every table was compared by the number of its rows and a hash of
them, nobody can open the new one.

Nothing should write to the old memory meanwhile; whoever tries waits. Afterwards let the
setting `store`, or HOLDFAST_STORE, name the new one."""

EXAMPLES = """\
  holdfast migrate sqlite:// postgresql://holdfast@db.example.org/memory
  holdfast migrate postgresql://holdfast@db/memory sqlite:///home/me/copy/memory.db"""


def configure(parser: Parser) -> None:
    parser.add_argument("source", metavar="FROM", help="sqlite://PATH or postgresql://…")
    parser.add_argument("target", metavar="TO", help="the same; sqlite:// is the one of your home")
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> None:
    try:
        from holdfast.app.transfer import store_move
    except ModuleNotFoundError as error:
        raise InputError(
            "A memory on a server needs psycopg.",
            "Install it: pip install 'holdfast-memory[postgres]'.",
        ) from error
    progress = Progress("moving", lambda count: number(count, "table"))
    moved = store_move.move_memory(load_settings(), arguments.source, arguments.target, progress)
    progress.finish()
    if arguments.json:
        counts = {"tables": moved.tables, "rows": moved.rows, "before": moved.before}
        return screen.json({**counts, "compared": True})
    rows, tables = number(moved.rows, "row"), number(moved.tables, "table")
    before = f", {number(moved.before, 'row')} of them before" if moved.before else ""
    screen.wrap(
        f"Moved and compared: {rows} in {tables}{before}. Now let `store` name the new memory."
    )
