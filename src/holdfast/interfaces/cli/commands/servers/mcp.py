"""`holdfast mcp`."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from holdfast.capture.home_paths import HomePaths
from holdfast.errors import InputError
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen
from holdfast.interfaces.mcp.jsonrpc import read_lines
from holdfast.interfaces.mcp.server import Companion, Server, no_companions
from holdfast.interfaces.mcp.server_spec import ServerSpec, client_name
from holdfast.settings import load_settings

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

    from holdfast.app.core.hook_socket import TakenOver
    from holdfast.interfaces.mcp.standby import Pending

HELP = """\
Run an MCP server (Model Context Protocol) on standard input and output. `holdfast setup`
configures Claude Code to start it; any other client can run it in the folder of a
project. It exits when its input ends.

Without a name it is the server for an agent at work, with eight tools. `memory` has eight
read-only tools for an agent that researches a question by itself. `search` has nine
read-only tools that list an index first and texts on request.

With --http it serves streamable HTTP instead, on this machine only, until it is stopped. It
prints its address and the file with the token that every client must send. --json prints
{"url", "token_file"}."""

EXAMPLES = """\
  holdfast mcp
  holdfast mcp memory
  holdfast mcp search
  holdfast mcp --http --port 8731
  claude mcp add memory -- holdfast mcp"""

MakeCompanions = Callable[[], Sequence[Companion]]
MAIN = "main"
SERVERS = (MAIN, "memory", "search")


def configure(parser: Parser) -> None:
    parser.add_argument(
        "server", nargs="?", choices=SERVERS, default=MAIN, help="which server (default: main)"
    )
    parser.flag("--http", "serve HTTP, with a token")
    parser.option("--port", "N", "with --http: the port (default: a free one)", None, int)
    # Not options.add_json: what that module imports would slow down the start of every session.
    parser.flag("--json", "with --http: print JSON")


def run(screen: Screen, arguments: Arguments) -> None:
    if arguments.port is not None and not arguments.http:
        raise InputError("--port is for --http.", "Give both, or neither.")
    companions = _companions if arguments.server == MAIN else no_companions
    if arguments.http:
        _serve(lambda: _serve_http(arguments, companions))
    _serve(lambda: _serve_streams(_load_spec(arguments.server), companions))


def go_on(pending: Pending) -> NoReturn:
    """Serve the streams of a process that stood by until now (`interfaces/mcp/standby`)."""
    companions = partial(_companions, _socket_of(pending))
    _serve(lambda: _serve_streams(_load_spec(MAIN), companions, pending))


def _socket_of(pending: Pending) -> TakenOver | None:
    from holdfast.app.core.hook_socket import TakenOver

    if pending.listening is None:
        return None
    waiting = pending.connection
    number = None if waiting is None else waiting.detach()
    return TakenOver(pending.listening.detach(), number, pending.line)


def _serve(serve: Callable[[], None]) -> NoReturn:
    """Serve until the input ends or a signal comes, then exit."""
    # SIGINT too: a process started in the background ignores it by default.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        serve()
    sys.stderr.flush()
    # Exit without waiting for a search that may still run in a thread.
    os._exit(0)


def _serve_streams(
    spec: ServerSpec, companions: MakeCompanions, pending: Pending | None = None
) -> None:
    # Standard output carries the messages only; anything else that prints goes to standard error.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)

    def write(line: str) -> None:
        out.write(line)
        out.flush()

    client = client_name(pending.hello) if pending else ""
    server = Server(write, spec, companions, client)
    server.serve(_lines(pending.data if pending else b""))


def _serve_http(arguments: Arguments, companions: MakeCompanions) -> None:
    from holdfast.app.core import token as tokens
    from holdfast.interfaces.mcp import http_server

    home = load_settings().home
    spec = _load_spec(arguments.server)
    hub = Server(lambda line: None, spec, companions)
    token = tokens.read_or_make_token(home)
    listening = http_server.HttpServer(hub.engines, spec, token, arguments.port or 0)
    address = {"url": listening.url, "token_file": str(tokens.token_file(home))}
    if arguments.json:
        sys.stdout.write(f"{json.dumps(address)}\n")
    else:
        sys.stdout.write(f"{address['url']}\ntoken: in {address['token_file']}\n")
    sys.stdout.flush()
    threading.Thread(target=listening.serve_forever, name="http", daemon=True).start()
    hub.serve(_until_stopped())


def _until_stopped() -> Iterator[str]:
    """Yields no line; waits until a signal ends the process."""
    threading.Event().wait()
    yield from ()


def _load_spec(name: str) -> ServerSpec:
    if name == MAIN:
        from holdfast.interfaces.mcp.main_spec import SPEC

        return SPEC
    from holdfast.interfaces.mcp.read_only_specs import SPECS

    return SPECS[name]


def _companions(taken: TakenOver | None = None) -> Sequence[Companion]:
    """Start the worker if other agents need it, and the socket on which hooks ask this process for
    briefs."""
    from holdfast.app.briefs.hook_server import serve_briefs

    settings = load_settings()
    asking = serve_briefs(settings, taken)
    if HomePaths(settings.home).agents_record.exists():
        from holdfast.app.background.worker_start import start_worker_if_due

        start_worker_if_due(settings)
    return () if asking is None else (asking,)


class _Input(io.RawIOBase):
    """Standard input, after bytes that were read of it before."""

    def __init__(self, before: bytes) -> None:
        self._before = before

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        into = memoryview(buffer)
        part = self._before[: len(into)] or os.read(0, len(into))
        self._before = self._before[len(part) :]
        into[: len(part)] = part
        return len(part)


def _lines(before: bytes = b"") -> Iterator[str]:
    stream = io.BufferedReader(_Input(before))
    yield from read_lines(io.TextIOWrapper(stream, "utf-8", "replace", newline="\n"))


def _stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt
