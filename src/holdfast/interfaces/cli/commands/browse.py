"""`holdfast browse`."""

from __future__ import annotations

import sys
import webbrowser

from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.operations.output.install_hint import require_server_packages
from holdfast.operations.screen import Screen, discard_output
from holdfast.settings import load_settings

HELP = """\
Open the memory in a browser: ask, read sessions, correct and forget, review proposals, see
cost and health.

The server listens on this machine only, on a free port. Sign in with the link it prints,
which works once, or with the token in a file that only you can read. While it runs, the
same command prints a new link. It exits after half an hour without requests. --json
prints {"url", "enter", "token_file"}."""

EXAMPLES = """\
  holdfast browse
  holdfast browse --no-open --port 8730
  holdfast browse --no-open --port 0 --json"""


def configure(parser: Parser) -> None:
    parser.option("--port", "N", "the port (default: a free one)", 0, int)
    parser.flag("--no-open", "print the link, do not open a browser")
    idle = "exit after this long without requests (default: 30; 0: never)"
    parser.option("--idle", "MINUTES", idle, 30.0, float)
    parser.flag(
        "--plain-address",
        "use 127.0.0.1 as address, for browsers that do not resolve names below localhost "
        "(Safari); its cookie is then also sent to other servers that you open on this machine",
    )
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> None:
    require_server_packages("The pages need")

    from holdfast.interfaces.http.server import browse_server

    stop = "Press Ctrl-C to stop the server."

    def ready(address: browse_server.Address, ends: str = stop) -> None:
        # Where nobody reads the link, the same command prints a new one.
        try:
            if arguments.json:
                screen.json(address._asdict())
            else:
                screen.line(f"Open {screen.paint(address.enter, 'cyan')}")
                screen.line(f"The link works once. {ends}", "dim")
            sys.stdout.flush()
        except BrokenPipeError:
            discard_output()
        if not arguments.no_open:
            webbrowser.open(address.enter)

    settings = load_settings()
    a = arguments
    wanted = browse_server.BrowseOptions(a.port, a.idle * 60, a.plain_address)
    running = browse_server.running_server(settings, wanted)
    if running is not None:
        ready(running, "The server was already running.")
    else:
        browse_server.serve(settings, wanted, ready)
