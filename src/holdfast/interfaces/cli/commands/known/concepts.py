"""`holdfast concepts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.app.core.context import ALL_BANKS, describe_bank
from holdfast.app.memory import open_memory
from holdfast.app.search import json_shapes
from holdfast.app.search.hit_view import ended_lines
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output.records import print_reference
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day, number
from holdfast.language import truncate
from holdfast.model.knowledge import Concept
from holdfast.model.records import Exchange
from holdfast.model.uris import uri
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.recall.lookup.trace import Trace

HELP = """\
List the topics of a project: exchanges and memories, grouped by the files, words and names
they share. The most recently active comes first. With a name: its summary, its history, and
the records that belong to it.

NAME may be part of a name, an id, or the start of one. A concept can be renamed (`correct`),
hidden (`forget`) and merged with another (`merge`).

--json prints {"bank", "concepts"}; each has "uri", "name", "summary", "exchanges",
"founded", "updated", "files", "keywords", "trust" and "bank". With a name it prints one,
with its "history" and "members"."""

EXAMPLES = """\
  holdfast concepts
  holdfast concepts "nightly import"
  holdfast concepts 5c1f0a --json
  holdfast correct concept/5c1f0a "Nightly import retries\""""

# How many files a concept is listed with: about what fits in a line.
_MAX_FILES = 3


def configure(parser: Parser) -> None:
    parser.add_argument("name", nargs="*", metavar="NAME", help="a name, or an id")
    options.add_limit(parser, 30)
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    name = " ".join(arguments.name)
    with open_memory(create=False) as memory:
        names = memory.context.bank_names()
        if name:
            concept = memory.browse.concept(name, arguments.bank)
            trace = memory.show(uri("concept", concept.id))
            if arguments.json:
                return screen.json(json_shapes.concept_details_json(concept, trace, names))
            return _print_one(screen, concept, trace)
        found = memory.browse.concepts(arguments.bank, arguments.limit + 1)
        id = memory.context.bank_id(arguments.bank)
        bank, hint = memory.context.bank_name(id), memory.context.missing_bank_hint(id)
        shown = found[: arguments.limit]
        if arguments.json:
            endings = RecordEndings(memory.reader)
            listed = [json_shapes.concept_json(one, names, endings.of(one)) for one in shown]
            return screen.json({"bank": bank, "concepts": listed})
    _print(screen, shown, bank, names if bank == ALL_BANKS else {}, hint)
    if len(found) > len(shown):
        screen.line("There are more, see --limit.", "dim")


def _print(
    screen: Screen, found: Sequence[Concept], bank: str, names: Mapping[str, str], hint: str
) -> None:
    if not found:
        screen.line(f"No concepts in {describe_bank(bank)} yet.")
        screen.wrap(hint or "They group exchanges that share files, words and names.")
        return
    for concept in found:
        count = number(json_shapes.count_exchanges(concept), "exchange")
        screen.line(concept.name, "bold")
        files = f" · {', '.join(concept.files[:_MAX_FILES])}" if concept.files else ""
        screen.line("  " + truncate(f"{count} · {day(concept.updated)}{files}", screen.width - 2))
        name = uri("concept", concept.id)
        print_reference(screen, name, "  ", bank=names.get(concept.bank, ""))
    screen.line(f"{number(len(found), 'concept')} in {describe_bank(bank)}", "dim")


def _print_one(screen: Screen, concept: Concept, found: Trace) -> None:
    c = concept
    screen.line(c.name, "bold")
    screen.line(uri("concept", c.id), "cyan")
    screen.wrap(c.summary, "  ")
    for line in ended_lines(c.updated, found.ended):
        screen.wrap(line, "  ")
    for label, values in (("files", c.files), ("keywords", c.keywords)):
        if values:
            screen.item(f"{label}: {', '.join(values)}", "  ")
    screen.line(f"  trust: {c.trust.value}")
    screen.title("history:")
    for event in c.history:
        why = f" ({event.why})" if event.why else ""
        screen.item(f"{day(event.time)} {event.what}{why}", "  ")
    for entry in found.history:
        text = f": {truncate(entry.text, 100)}" if entry.text else ""
        screen.item(f"{day(entry.time)} {entry.action.value} by {entry.who}{text}", "  ")
    screen.title(f"{number(len(found.below), 'member')}:")
    for record in reversed(found.below):
        member = json_shapes.member_json(record)
        note = f" [{record.type.value}]" if isinstance(record, Exchange) else ""
        screen.line(f"  {day(str(member['time']))}{note} {truncate(str(member['title']), 80)}")
        screen.line(f"    {screen.paint(str(member['uri']), 'cyan')}")
