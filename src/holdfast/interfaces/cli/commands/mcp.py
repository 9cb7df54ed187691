"""`holdfast mcp`."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from holdfast.interfaces.mcp.offer import Offer
from holdfast.interfaces.mcp.server import Companion, Server, no_companions
from holdfast.interfaces.mcp.wire import read_lines
from holdfast.settings import load_settings

HELP = """\
Answer an agent's questions over standard input and output, as the Model Context Protocol
has it. `holdfast setup` makes Claude Code start it; any other client can be told to run
it in the folder of a project. It ends when its input does.

Without a name it is the server for an agent at work. `memory` is the data access layer:
eight read-only tools for an agent that researches a question by itself. `search` shows an
index first and texts when they are asked for: nine read-only tools."""

EXAMPLES = """\
  holdfast mcp
  holdfast mcp memory
  holdfast mcp search
  claude mcp add memory -- holdfast mcp"""

MAIN = "main"
OFFERS = {
    MAIN: "holdfast.interfaces.mcp.main_offer",
    "memory": "holdfast.interfaces.mcp.access_offer",
    "search": "holdfast.interfaces.mcp.search_offer",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument(
        "server", nargs="?", choices=tuple(OFFERS), default=MAIN, help="which one (default: main)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    # Whatever else prints must not come between the messages.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    for number in (signal.SIGTERM, signal.SIGINT):  # who was started in the background ignores one
        signal.signal(number, _stop)

    def write(line: str) -> None:
        out.write(line)
        out.flush()

    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        companions = _companions if arguments.server == MAIN else no_companions
        Server(write, _offer(arguments.server), companions).serve(_lines())
    sys.stderr.flush()
    # A search may still be under way in a thread; nobody waits for what it finds.
    os._exit(0)


def _offer(name: str) -> Offer:
    module: Any = import_module(OFFERS[name])
    offer: Offer = module.OFFER
    return offer


def _companions() -> Sequence[Companion]:
    """Start what runs beside the server, when the engine is loaded: hooks ask it for briefs."""
    briefing: Any = import_module("holdfast.app.briefing")
    asking = briefing.serve_briefs(load_settings())
    return () if asking is None else (asking,)


def _lines() -> Iterator[str]:
    with open(0, encoding="utf-8", errors="replace", newline="\n", closefd=False) as stream:
        yield from read_lines(stream)


def _stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt
