"""`holdfast serve`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from holdfast.errors import InputError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.lazy_dataclass import replace
from holdfast.operations.output.install_hint import require_server_packages
from holdfast.operations.screen import Screen, discard_output
from holdfast.settings import load_settings

# Each takes a hundred megabytes and more; a machine with more cores has more servers.
_MAX_WORKERS = 64

HELP = """\
Serve one memory to a team over HTTP: REST, GraphQL, MCP and the pages. Clients need a key, which
`holdfast key new` creates. A key gives access to certain banks, at a certain level. Every change
is logged under the name of its key.

It listens on this machine only, unless you give --host; then it needs TLS (certificate files, or
a proxy in front of it). While no key exists it answers only health checks; `holdfast key new` can
be run while it is running. It waits up to a minute for its database, runs until SIGTERM, and
finishes requests that have started."""

EXAMPLES = """\
  holdfast key new --name admin --all-banks --level admin
  holdfast serve
  holdfast serve --host 0.0.0.0 --port 8443 --tls-cert cert.pem --tls-key key.pem
  holdfast serve --behind-proxy --name memory.example.org"""


def configure(parser: Parser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="the address (default: 127.0.0.1)")
    parser.option("--port", "N", "the port (default: 8080; 0: a free one)", 8080, int)
    parser.option("--tls-cert", "FILE", "certificate chain, PEM", None, Path)
    parser.option("--tls-key", "FILE", "its private key, PEM", None, Path)
    behind = "a proxy does TLS; X-Forwarded-For and -Proto are trusted if they come from it"
    parser.flag("--behind-proxy", behind)
    address = "the address of the proxy (default: this machine); repeatable"
    parser.repeated("--proxy", address, metavar="ADDRESS")
    names = "a host name to accept in requests; repeatable (default: any)"
    parser.repeated("--name", names, metavar="HOST")
    workers = "number of search processes (default: one per core; 1: search in the server itself)"
    parser.option("--workers", "N", workers, 0, int)
    parser.flag("--insecure", "allow --host without TLS")
    parser.choice("--log-format", ("text", "json"), "the format of the log on stderr", "text")
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> None:
    require_server_packages("The server needs")
    from holdfast.interfaces.http.core.logs import Log
    from holdfast.interfaces.http.server import team_server

    a = arguments
    listen_options = team_server.ListenOptions(
        a.host, a.port, a.tls_cert, a.tls_key, a.behind_proxy or bool(a.proxy), tuple(a.proxy),
        tuple(a.name), a.insecure,
    )  # fmt: skip
    team_server.check_options(listen_options)
    settings = load_settings()
    if a.workers:
        if not 1 <= a.workers <= _MAX_WORKERS:
            raise InputError(f"--workers is {a.workers}.", f"Choose 1 to {_MAX_WORKERS}.")
        settings = replace(settings, serve=replace(settings.serve, workers=a.workers))

    def ready(url: str) -> None:
        # The log names the address, too: a server does not end because nobody reads it here.
        try:
            screen.report(a.json, {"url": url}, f"Serving {screen.paint(url, 'cyan')}")
            sys.stdout.flush()
        except BrokenPipeError:
            discard_output()

    asyncio.run(team_server.serve(settings, listen_options, Log(a.log_format), ready))
