"""`holdfast mcp`."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from holdfast.capture.home_paths import HomePaths
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.mcp.protocol import client_name, read_lines
from holdfast.interfaces.mcp.server import Companion, Server
from holdfast.interfaces.mcp.servers import MAIN, NAMES, load_spec
from holdfast.operations.screen import Screen
from holdfast.settings import load_settings

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

    from holdfast.app.core.hook_socket import TakenOver
    from holdfast.interfaces.mcp.standby import Pending

HELP = """\
Run an MCP server (Model Context Protocol) on standard input and output. `holdfast setup`
configures Claude Code to start it; any other client can run it in the folder of a
project. It exits when its input ends.

Without a name it is the server for an agent at work. `memory` has eight read-only tools for an
agent that researches a question by itself. `search` has read-only tools that list an index
first and texts on request.

For clients that speak HTTP only, `holdfast serve` and `holdfast browse` have the tools at /mcp."""

EXAMPLES = """\
  holdfast mcp
  holdfast mcp memory
  holdfast mcp search
  claude mcp add memory -- holdfast mcp"""

MakeCompanions = Callable[[], Sequence[Companion]]


def configure(parser: Parser) -> None:
    parser.add_argument(
        "server", nargs="?", choices=NAMES, default=MAIN, help="which server (default: main)"
    )


def run(screen: Screen, arguments: Arguments) -> None:
    _serve(arguments.server, _companions if arguments.server == MAIN else tuple)


def go_on(pending: Pending) -> NoReturn:
    """Serve the streams of a process that stood by until now (`interfaces/mcp/standby`)."""
    _serve(MAIN, partial(_companions, _socket_of(pending)), pending)


def _socket_of(pending: Pending) -> TakenOver | None:
    from holdfast.app.core.hook_socket import TakenOver

    if pending.listening is None:
        return None
    waiting = pending.connection
    number = None if waiting is None else waiting.detach()
    return TakenOver(pending.listening.detach(), number, pending.line)


def _serve(name: str, companions: MakeCompanions, pending: Pending | None = None) -> NoReturn:
    """Serve until the input ends or a signal comes, then exit."""
    # SIGINT too: a process started in the background ignores it by default.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        # Standard output carries the messages only; what else prints goes to standard error.
        out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        os.dup2(2, 1)

        def write(line: str) -> None:
            out.write(line)
            out.flush()

        client = client_name(pending.hello) if pending else ""
        server = Server(write, load_spec(name), companions, client)
        server.serve(_lines(pending.data if pending else b""))
    sys.stderr.flush()
    # Exit without waiting for a search that may still run in a thread.
    os._exit(0)


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
