"""`holdfast timeline`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import open_memory
from holdfast.app.search import json_shapes
from holdfast.errors import InputError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.screen import Screen, day, number, short
from holdfast.language import truncate
from holdfast.recall.lookup.timeline import ALL_KINDS, MAX_UNDATED, Event, Timeline

HELP = """\
What came before and after: digests, exchanges, commits, memories, pulls and issues in the
order of time.

The anchor is a URI, the start of an id, or a date; or, with --query, the record that
speaks best of something. Without either, the latest are shown. Turns are shown where
they are asked for with --kind turn, and around a turn those of its session. Times are
in UTC. Records without a time are left out, and counted.

--json prints {"bank", "anchor", "query", "events", "undated", "notes"}; each event has
"uri", "kind", "time", "title", "note" (type, outcome, author or speaker), "session",
"bank", and "anchor": true for the anchor."""

EXAMPLES = """\
  holdfast timeline
  holdfast timeline holdfast://exchange/5c1f0a9be2d47c33 --before 3 --after 10
  holdfast timeline 2026-03-01 --kind commit
  holdfast timeline --query "retry wrapper" --json"""

_INDENT = " " * 19


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument(
        "anchor", nargs="?", default="", metavar="ANCHOR", help="a URI, the start of an id, a date"
    )
    parser.add_argument("--query", metavar="Q", default="", help="around what speaks best of this")
    for name, which in (("--before", "earlier"), ("--after", "later")):
        parser.add_argument(
            name,
            type=options.count,
            default=5,
            metavar="N",
            help=f"how many {which} ones (default: 5)",
        )
    parser.add_argument(
        "--kind",
        action="append",
        default=[],
        choices=ALL_KINDS,
        help="only these; may be given several times (default: all but turns and facts)",
    )
    options.add_bank(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    if arguments.anchor and arguments.query:
        raise InputError("An anchor and a query at once.", "Give one of them.")
    screen = Screen()
    with open_memory(create=False) as memory:
        try:
            told = memory.timeline(
                arguments.anchor,
                arguments.query,
                arguments.bank,
                arguments.kind,
                arguments.before,
                arguments.after,
            )
        except InputError as error:
            said: str = arguments.anchor
            if said not in error.message or not said.replace(" ", "").isalpha():
                raise
            words = f"holdfast timeline --query {shlex.quote(said)}"
            raise InputError(error.message, f"For what is said of it: {words}") from error
        names = memory.context.bank_names()
        lost = not told.events and memory.context.bank_id(arguments.bank) == ""
        hint = memory.context.missing_bank_hint() if lost else ""
    if arguments.json:
        screen.json(json_shapes.timeline_json(told, names))
    else:
        _print(screen, told, names, hint)
    return 0


def _print(screen: Screen, told: Timeline, names: Mapping[str, str], hint: str) -> None:
    if told.events:
        _print_events(screen, told, names)
    for note in told.notes:
        screen.wrap(note)
    if not told.events:
        screen.wrap(hint or _advice(told))
    if told.undated:
        least = "at least " if told.undated == MAX_UNDATED else ""
        without = number(told.undated, "record")
        screen.line(screen.paint(f"{least}{without} without a time left out", "dim"))


def _advice(told: Timeline) -> str:
    wider = "" if told.bank == ALL_BANKS else " --bank all looks in every bank."
    if told.query:
        return f"Try other words, or `holdfast recall` for the nearest misses.{wider}"
    return f"Nothing of these kinds lies there. Try another --kind, or other numbers.{wider}"


def _print_events(screen: Screen, told: Timeline, names: Mapping[str, str]) -> None:
    around = f"around {told.anchor}" if told.anchor else "the latest"
    screen.line(screen.paint(f"bank {told.bank}, {around}", "dim"))
    shown = ""
    marked = not told.anchor or any(event.anchor for event in told.events)
    for event in told.events:
        if not marked and event.time >= told.anchor:
            marked = True
            screen.line(_here(screen, told.anchor))
        if day(event.time) != shown:
            shown = day(event.time)
            screen.line()
            screen.line(screen.paint(shown, "bold"))
        _print_event(screen, event, names.get(event.bank, "") if told.bank == ALL_BANKS else "")
    if not marked:
        screen.line(_here(screen, told.anchor))
    screen.line()


def _here(screen: Screen, time: str) -> str:
    return "\n" + screen.paint(f"▶ {time[:16].replace('T', ' ')}", "bold", "yellow")


def _print_event(screen: Screen, event: Event, bank: str) -> None:
    mark = "▶" if event.anchor else " "
    head = f"{mark} {event.time[11:16]}  {event.kind:<8}  "
    lead = f"{event.note}: " if event.kind in ("exchange", "turn") else ""
    end = f" ({event.note})" if event.kind in ("commit", "pull", "issue", "remark") else ""
    title = truncate(event.title, screen.width - len(head + lead + end))
    styles = ("bold", "yellow") if event.anchor else ("bold",)
    screen.line(f"{screen.paint(head, *styles)}{lead}{title}{end}")
    session = f" · session {event.session[:8]}" if event.session else ""
    where = f"{_INDENT}{screen.paint(short(event.uri), 'cyan')}"
    screen.line(where + screen.paint(session + (f" · {bank}" if bank else ""), "dim"))
