"""`holdfast migrate`."""

from __future__ import annotations

from holdfast.errors import InputError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.progress import Progress
from holdfast.interfaces.cli.screen import Screen, number
from holdfast.settings import load_settings

HELP = """\
Copy a whole memory from a file to a PostgreSQL server, or back. The target must be new or empty;
the old memory does not change. If it is interrupted, run it again: it resumes. The new memory
cannot be opened until every table has been compared, by number of rows and hash.

Programs that write to the old memory meanwhile have to wait. Afterwards, set `store` in the
settings, or HOLDFAST_STORE, to the new one."""

EXAMPLES = """\
  holdfast migrate sqlite:// postgresql://holdfast@db.example.org/memory
  holdfast migrate postgresql://holdfast@db/memory sqlite:///home/me/copy/memory.db"""


def configure(parser: Parser) -> None:
    parser.add_argument("source", metavar="FROM", help="sqlite://PATH or postgresql://…")
    parser.add_argument(
        "target", metavar="TO", help="the same; sqlite:// is the memory in ~/.holdfast"
    )
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
        f"Moved and compared: {rows} in {tables}{before}. Now set `store` to the new memory."
    )
