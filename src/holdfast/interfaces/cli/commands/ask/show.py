"""`holdfast show`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.search import json_shapes
from holdfast.app.search.code_freshness import whole_anchor
from holdfast.app.search.hit_view import ended_lines
from holdfast.capture.redact import Redactor
from holdfast.framed_text import defang, one_line, quote
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output import commit as commit_output
from holdfast.interfaces.cli.output import thread
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day, minute, number, short
from holdfast.language import cut, truncate
from holdfast.model.curation import Action
from holdfast.model.forge import Issue, Pull, Remark
from holdfast.model.kinds import is_from_outside, knowledge_kind, record_kind
from holdfast.model.knowledge import Fact, Rule
from holdfast.model.records import Turn
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import uri
from holdfast.recall.lookup.path import Path, PathStep, describe_record
from holdfast.recall.lookup.trace import RawState, Trace
from holdfast.refine.core.passages import turn_text
from holdfast.store.across_tables.lookup import Record

if TYPE_CHECKING:
    from holdfast.recall.links.linked_records import LinkedRecord

HELP = """\
Open a record and what it was made from: digest → exchanges → turns → the raw line.
A commit comes with its tags, reverts, files, hunks, and the sessions that made it.

URI is one from `recall` or `ask`, or the start of an id. If the transcript has been
deleted since, show says so; the record itself is still shown."""

EXAMPLES = """\
  holdfast show holdfast://exchange/5c1f0a9be2d47c33
  holdfast show 5c1f0a
  holdfast show 5c1f0a --raw
  holdfast show 5c1f0a --path
  holdfast show 5c1f0a --links
  holdfast show commit/1f0c9d2 --full"""

# The start of a text, in characters: of superseded words and of a raw line about six lines, of a
# decision two, of a part below the record one.
_MAX_TEXT, _MAX_DECISION, _MAX_PART = 600, 200, 90
# At a terminal they are cut to its width, but not to less than this.
_MIN_PART = 20
# How deep a step of a path is indented: facts least, raw lines most.
_INDENT_BY_LEVEL = {"L4": 0, "L3": 1, "L2": 2, "L1": 3, "raw": 4}
# Links of each kind that are printed; --json has all.
_MAX_LINKS = 5
_RAW_STATES = {
    RawState.PRESENT: "{where}",
    RawState.WITHHELD: "{where} is not shown, because something was scrubbed from it",
    RawState.GONE: "gone ({where} is no longer on disk); what is above was kept from it",
    RawState.CHANGED: "{where} has changed since it was read; what is above was kept from it",
}


def configure(parser: Parser) -> None:
    parser.add_argument("uri", metavar="URI", help="holdfast://KIND/ID, or the start of an id")
    parser.flag("--raw", "print the whole raw line as it is on disk, secrets included")
    parser.flag("--rules", "if a model wrote the summary, also show the one made by rules")
    parser.flag(
        "--path", "the whole path: facts and concepts made from it, turns and raw lines below it"
    )
    parser.flag("--links", "also show linked records, and how they are linked (docs/entities.md)")
    parser.flag("--full", "all stored files and hunks of a commit")
    options.add(parser, "as_of", "bank_or_all", "json")


def run(screen: Screen, arguments: Arguments) -> int | None:
    with open_memory(create=False) as memory:
        if arguments.path:
            path = memory.browse.path(arguments.uri, arguments.bank)
            return screen.json(path) if arguments.json else _print_path(screen, path)
        found = memory.show(arguments.uri, arguments.bank, options.as_of(arguments))
        by_rules = memory.inventory.without_model(found.record) if arguments.rules else None
        anchor = whole_anchor(memory.reader, found.record)
        links = _links(memory, found.record) if arguments.links else None
    if arguments.raw:
        return _print_raw_line(screen, found)
    if found.raw is not None:
        # The file is the user's own, but an agent may run this command and pass on its output.
        clean = Redactor(memory.settings.redact_patterns).redact(found.raw.text).text
        found = found._replace(raw=found.raw._replace(text=clean))
    if arguments.json:
        shape = json_shapes.trace_json(found, anchor, by_rules)
        screen.json(shape if links is None else {**shape, "links": links})
    else:
        _print(screen, found, arguments.full)
        commit_output.print_anchor(screen, anchor)
        if by_rules is not None:
            screen.title("by rules alone:")
            _print_fields(screen, to_jsonable(by_rules), is_from_outside(by_rules))
        if links is not None:
            _print_links(screen, links)
    return 0


def _links(memory: Holdfast, record: Record) -> list[LinkedRecord]:
    from holdfast.recall.links.linked_records import linked_records

    return linked_records(memory.reader, record, memory.settings.vectors)


def _print_links(screen: Screen, links: list[LinkedRecord]) -> None:
    if not links:
        screen.line()
        screen.line("It has no links.")
    for kind in dict.fromkeys(link.kind for link in links):
        of_kind = [link for link in links if link.kind is kind]
        screen.title(f"{kind.value.replace('_', ' ')}:")
        for link in of_kind[:_MAX_LINKS]:
            via = f"  by {link.via}" if link.via else ""
            screen.line(f"  {day(link.time)}  {screen.paint(short(link.uri), 'cyan')}{via}")
            screen.wrap(link.title, "      ")
        if len(of_kind) > _MAX_LINKS:
            screen.line(f"  … and {len(of_kind) - _MAX_LINKS} more, see --json")


def _print_raw_line(screen: Screen, found: Trace) -> int:
    if found.raw is None or found.raw.state is not RawState.PRESENT:
        Screen(sys.stderr).line(f"holdfast: {_describe_raw_line(found)}")
        return 1
    screen.line(found.raw.text)
    return 0


def _print(screen: Screen, found: Trace, full: bool) -> None:
    record = found.record
    screen.line(uri(found.kind, record.id), "bold", "cyan")
    if found.note:
        screen.wrap(found.note)
    for line in ended_lines(describe_record(record)[1], found.ended):
        screen.wrap(line)
    if isinstance(record, Turn):
        screen.line(f"{record.role.value} turn {record.seq} · {record.time} · {record.trust.value}")
        screen.line()
        screen.wrap(defang(turn_text(record), is_from_outside(record)), "  ")
    elif found.story is not None:
        # The files are among the details.
        _print_fields(screen, to_jsonable(record) | {"files": []}, is_from_outside(record))
        commit_output.print_details(screen, found.story, full)
    elif isinstance(record, Pull | Issue):
        thread.print_thread(screen, record)
    elif isinstance(record, Remark):
        thread.print_remark(screen, record)
    else:
        kind = knowledge_kind(record)
        says = {"knowledge": kind.value} if kind and isinstance(record, Fact | Rule) else {}
        _print_fields(screen, to_jsonable(record) | says, is_from_outside(record))
    commit_output.print_commits(screen, found.commits)
    screen.section(
        "confidence over time:",
        (
            f"{minute(one.time)} {one.confidence:.2f} {one.note} "
            f"({one.favour} for, {one.against} against)"
            for one in found.beliefs
        ),
    )
    _print_history(screen, found)
    _print_status_changes(screen, found)
    if found.above:
        screen.title(f"in: {', '.join(found.above)}")
    _print_below(screen, found)
    if found.raw is not None or found.kind in ("turn", "exchange", "digest", "session"):
        screen.title(_describe_raw_line(found))
    if found.raw is not None and found.raw.text:
        screen.line(cut(found.raw.text, _MAX_TEXT), "dim")


def _print_below(screen: Screen, found: Trace) -> None:
    """What it is made of; what was said under a pull or an issue, in full."""
    thread.print_remarks(screen, (one for one in found.below if isinstance(one, Remark)))
    parts = [one for one in found.below if not isinstance(one, Remark)]
    if parts:
        screen.title(f"made of {len(parts)}:")
    for part in parts:
        text = turn_text(part) if isinstance(part, Turn) else describe_record(part)[0]
        name = uri(record_kind(part), part.id)
        room = max(_MIN_PART, screen.width - len(name) - 4) if screen.is_terminal else _MAX_PART
        title = truncate(text, min(room, _MAX_PART))
        screen.line(f"  {screen.paint(name, 'cyan')}  {title}")


def _print_history(screen: Screen, found: Trace) -> None:
    """The words that were superseded, and the decisions of people about the record."""
    if found.superseded:
        screen.line()
        screen.item(f"superseded: {truncate(found.superseded, _MAX_TEXT)}", "  ")
    if found.history:
        screen.title("decisions:")
    for entry in found.history:
        text = f": {quote(truncate(entry.text, _MAX_DECISION))}" if entry.text else ""
        which = f" of {entry.target}" if entry.action is Action.UNDO else ""
        line = f"{entry.seq}. {minute(entry.time)} {one_line(entry.who)}: "
        screen.item(f"{line}{entry.action.value}{which}{text}", "  ")


def _print_status_changes(screen: Screen, found: Trace) -> None:
    """The changes of its status, and the evidence for it and against it."""
    periods = (
        f"{minute(period.time)} {period.status.value}"
        + (f", because of {period.because}" if period.because else "")
        for period in found.lives
    )
    screen.section("history:", periods)
    for against, title in ((False, "evidence for:"), (True, "evidence against:")):
        evidence = [b for b in found.bearings if b.against is against]
        screen.section(title, (f"{minute(b.time)} {b.how.value}: {b.uri}" for b in evidence))


def _print_fields(screen: Screen, fields: dict[str, object], outside: bool) -> None:
    for name, value in fields.items():
        if value in ("", [], None) or name in ("bank", "id", "source"):
            continue
        if isinstance(value, list):
            screen.line(f"  {name}:")
            for item in cast(list[object], value):
                screen.item(f"- {defang(_describe_item(item), outside)}", "    ")
        else:
            words = defang(_describe_value(value), outside)
            first, _, more = f"{name}: {words}".partition("\n")
            screen.item(first, "  ")
            if more:
                screen.item(more, "    ")


def _describe_value(value: object) -> str:
    """A value as text; of a record within a record, the fields that are not empty."""
    if not isinstance(value, dict):
        return str(value)
    parts = cast(dict[str, object], value)
    return ", ".join(f"{name} {part}" for name, part in parts.items() if part not in ("", None))


def _describe_item(value: object) -> str:
    """An item of a list as text; of a record, the values of its fields that are not empty."""
    if isinstance(value, dict):
        return " · ".join(str(part) for part in cast(dict[str, object], value).values() if part)
    return str(value)


def _describe_raw_line(found: Trace) -> str:
    if found.raw is None:
        return "raw line: none is known"
    where = _location(found.raw.path, found.raw.line)
    return f"raw line: {_RAW_STATES[found.raw.state].format(where=where)}"


def _location(path: str, line: int) -> str:
    """A line of a file; a database has none."""
    return f"{path}:{line}" if line else path


def _print_path(screen: Screen, found: Path) -> None:
    for step in found.up:
        _print_step(screen, step)
    _print_step(screen, found.here, "bold")
    for step in found.down:
        _print_step(screen, step)
    for kind, count in found.left_out.items():
        screen.line(f"and {number(count, kind)} more", "dim")


def _print_step(screen: Screen, step: PathStep, *styles: str) -> None:
    indent = "  " * _INDENT_BY_LEVEL.get(step.level, 0)
    if step.kind == "line":
        state = "" if step.state == "present" else f" ({step.state})"
        screen.line(f"{indent}{_location(step.path, step.line)}{state}")
        return
    name = screen.paint(step.uri, "cyan")
    head = f"{indent}{step.level:<3} {day(step.time)} "
    title = truncate(step.title, max(20, screen.width - len(head) - len(step.uri) - 2))
    screen.line(f"{head}{screen.paint(title, *styles) if styles else title}  {name}")
