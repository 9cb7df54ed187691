"""`holdfast timeline`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from holdfast.app.core.context import ALL_BANKS, describe_bank
from holdfast.app.memory import open_memory
from holdfast.app.search import json_shapes
from holdfast.errors import InputError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output.records import print_reference
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day, minute, number
from holdfast.language import truncate
from holdfast.recall.lookup.timeline import ALL_KINDS, MAX_UNDATED, Event, Timeline

HELP = """\
List digests, exchanges, commits, memories, pull requests and issues by time, before and
after an anchor.

The anchor is a URI, the start of an id, or a date; or, with --query, the best match of a
search. Without either, the latest records are shown. Turns are shown only with --kind
turn, or if the anchor is a turn: then those of its session. Times are in UTC. Records
without a time are left out and counted.

--json prints {"bank", "anchor", "query", "events", "undated", "notes"}; each event has
"uri", "kind", "time", "title", "note" (type, outcome, author or speaker), "session",
"bank", and "anchor": true for the anchor."""

EXAMPLES = """\
  holdfast timeline
  holdfast timeline holdfast://exchange/5c1f0a9be2d47c33 --before 3 --after 10
  holdfast timeline 2026-03-01 --kind commit
  holdfast timeline --query "retry wrapper" --json"""

# The width of a mark, a time and a kind: the URI of a record stands below its title.
_INDENT = " " * 19


def configure(parser: Parser) -> None:
    parser.add_argument(
        "anchor", nargs="?", default="", metavar="ANCHOR", help="a URI, the start of an id, a date"
    )
    parser.option("--query", "Q", "around the best match for these words")
    for name, which in (("--before", "earlier"), ("--after", "later")):
        parser.option(name, "N", f"how many {which} records (default: 5)", 5, options.count)
    parser.repeated(
        "--kind",
        "only this kind; repeatable (default: all but turns and facts)",
        choices=ALL_KINDS,
    )
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    a = arguments
    if a.anchor and a.query:
        raise InputError("An anchor and --query cannot be combined.", "Give one of them.")
    with open_memory(create=False) as memory:
        try:
            timeline = memory.timeline(a.anchor, a.query, a.bank, a.kind, a.before, a.after)
        except InputError as error:
            # Words are no anchor, but may be meant as a query.
            anchor: str = arguments.anchor
            if anchor not in error.message or not anchor.replace(" ", "").isalpha():
                raise
            command = f"holdfast timeline --query {shlex.quote(anchor)}"
            raise InputError(error.message, f"To search for it: {command}") from error
        names = memory.context.bank_names()
        no_bank = not timeline.events and memory.context.bank_id(arguments.bank) == ""
        hint = memory.context.missing_bank_hint() if no_bank else ""
    if arguments.json:
        screen.json(json_shapes.timeline_json(timeline, names))
    else:
        _print(screen, timeline, names, hint)


def _print(screen: Screen, timeline: Timeline, names: Mapping[str, str], hint: str) -> None:
    if timeline.events:
        _print_events(screen, timeline, names)
    for note in timeline.notes:
        screen.wrap(note)
    if not timeline.events:
        screen.wrap(hint or _advice(timeline))
    if timeline.undated:
        least = "at least " if timeline.undated == MAX_UNDATED else ""
        without = number(timeline.undated, "record")
        screen.line(f"{least}{without} without a time left out", "dim")


def _advice(timeline: Timeline) -> str:
    """What to try where there are no events."""
    wider = "" if timeline.bank == ALL_BANKS else " --bank all looks in every bank."
    if timeline.query:
        return f"Try other words, or `holdfast recall` for what is loosely related.{wider}"
    return f"No records of these kinds there. Try another --kind, or a larger --before.{wider}"


def _print_events(screen: Screen, timeline: Timeline, names: Mapping[str, str]) -> None:
    """The events by day, with a mark at the anchor: at its event, or between two events."""
    around = f"around {timeline.anchor}" if timeline.anchor else "the latest"
    screen.line(f"{describe_bank(timeline.bank)}, {around}", "dim")
    current_day = ""
    marked = not timeline.anchor or any(event.anchor for event in timeline.events)
    for event in timeline.events:
        if not marked and event.time >= timeline.anchor:
            marked = True
            _print_mark(screen, timeline.anchor)
        if day(event.time) != current_day:
            current_day = day(event.time)
            screen.title(current_day, "bold")
        bank = names.get(event.bank, "") if timeline.bank == ALL_BANKS else ""
        _print_event(screen, event, bank)
    if not marked:
        _print_mark(screen, timeline.anchor)
    screen.line()


def _print_mark(screen: Screen, time: str) -> None:
    screen.title(f"▶ {minute(time)}", "bold", "yellow")


def _print_event(screen: Screen, event: Event, bank: str) -> None:
    mark = "▶" if event.anchor else " "
    head = f"{mark} {event.time[11:16]}  {event.kind:<8}  "
    lead = f"{event.note}: " if event.kind in ("exchange", "turn") else ""
    end = f" ({event.note})" if event.kind in ("commit", "pull", "issue", "remark") else ""
    title = truncate(event.title, screen.width - len(head + lead + end))
    styles = ("bold", "yellow") if event.anchor else ("bold",)
    screen.line(f"{screen.paint(head, *styles)}{lead}{title}{end}")
    if event.ended:
        screen.line(f"{_INDENT}no longer valid: {event.ended}")
    print_reference(screen, event.uri, _INDENT, event.session, bank)
