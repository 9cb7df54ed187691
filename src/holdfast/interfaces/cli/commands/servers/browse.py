"""`holdfast browse`."""

from __future__ import annotations

import sys
import webbrowser

from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.install_hint import require_server_packages
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen
from holdfast.settings import load_settings

HELP = """\
Look at the memory in a browser: ask, read sessions, correct and forget, review what is
proposed, see what it costs and what is wrong.

It answers on this machine alone, on a free port, to whoever opens the link it prints
(the link works once) or shows the token of a file that only you can read. While it runs,
the same command gives you a new link. It ends by itself when nobody asked for half an
hour. --json prints {"url", "enter", "token_file"}."""

EXAMPLES = """\
  holdfast browse
  holdfast browse --no-open --port 8730
  holdfast browse --no-open --port 0 --json"""

_SECONDS_PER_MINUTE = 60.0


def configure(parser: Parser) -> None:
    parser.option("--port", "N", "the port (default: any)", 0, int)
    parser.flag("--no-open", "print the link, open no browser")
    parser.option(
        "--idle",
        "MINUTES",
        "end when nobody asked for so long (default: 30; 0: never)",
        30.0,
        float,
    )
    parser.flag(
        "--plain-address",
        "open it as 127.0.0.1, for browsers that know no names below localhost (Safari); other "
        "servers that you open on this machine are then sent its cookie",
    )
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> None:
    require_server_packages("The pages need")

    from holdfast.interfaces.http.server import browse_server

    def ready(address: browse_server.Address, ends: str = "Ctrl-C ends it.") -> None:
        if arguments.json:
            screen.json(address._asdict())
        else:
            screen.line(f"Open {screen.paint(address.enter, 'cyan')}")
            screen.line(f"The link works once. {ends}", "dim")
        sys.stdout.flush()
        if not arguments.no_open:
            webbrowser.open(address.enter)

    settings = load_settings()
    wanted = browse_server.BrowseOptions(
        arguments.port, arguments.idle * _SECONDS_PER_MINUTE, arguments.plain_address
    )
    running = browse_server.running_server(settings, wanted)
    if running is not None:
        ready(running, "It is of the server that runs already.")
    else:
        browse_server.serve(settings, wanted, ready)
