"""`holdfast unshare`."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import options, server_sharing
from holdfast.interfaces.cli.commands.team import share
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen

HELP = """\
Take back what you shared. A line on the branch says that it is gone, so that whoever pulls next
does not see it any more; its words go from the branch. They stay in the branch's history, and
in the history of every clone: what must never be seen should not be shared at all.

With --to NAME of a server it is taken back there; if the server is away, as soon as it is back."""

EXAMPLES = """\
  holdfast unshare holdfast://fact/5c1f0a9be2d47c33
  holdfast unshare holdfast://shared/77ab01c3d2e4f586 --push
  holdfast unshare holdfast://fact/5c1f0a9be2d47c33 --to acme"""


def configure(parser: Parser) -> None:
    parser.add_argument(
        "uri", nargs="+", metavar="URI", help="what was shared, or what it is called as shared"
    )
    share.add_destination(parser)
    parser.flag("--dry-run", "only show what would go")
    options.add(parser, "yes", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    if (server := server_sharing.server_of(arguments)) is not None:
        return server_sharing.take_back(screen, server, arguments)
    place, remote = share.destination(arguments)
    with open_memory(create=False) as memory:
        planned = memory.sharing.plan_unshare(arguments.uri, place)
        return share.carry_out(screen, memory, planned, arguments, (place, remote))
