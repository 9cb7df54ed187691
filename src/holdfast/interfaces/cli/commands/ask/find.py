"""`holdfast find`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.app.core.context import ALL_BANKS, describe_bank
from holdfast.app.memory import open_memory
from holdfast.app.search import json_shapes
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output.records import print_reference
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, minute, number
from holdfast.language import truncate
from holdfast.model.query import RecordFilter, matches_path
from holdfast.model.records import ExchangeType
from holdfast.recall.lookup.filters import Finding, Found

HELP = """\
List work by file, concept, type or date: exchanges and imported records; with --file also
commits and pull requests. Filters combine; the latest comes first. At least one filter
is needed.

A file is a path (src/ui/rest.js), the end of one (rest.js, ui/rest.js), or a folder
(src/ui/; the slash is optional if no file has that name). A concept is one of the
keywords, in any form. Dates are days, months or times in UTC, inclusive.

--json prints {"bank", "filter", "findings", "more"}; each finding has "uri", "kind",
"time", "type", "title", "files" (changed), "files_read", "session" and "bank"."""

EXAMPLES = """\
  holdfast find --file rest.js
  holdfast find --file src/ui/ --type bugfix --since 2026-03
  holdfast find --concept caching --limit 5 --json
  holdfast find --type decision --bank all"""

# The width of a time (16 characters) and two spaces: what follows is aligned with the type.
_INDENT = " " * 18


def configure(parser: Parser) -> None:
    parser.option("--file", "PATH", "read or changed this file, or a file in this folder/")
    parser.option("--concept", "WORD", "is about this topic")
    parser.choice("--type", ExchangeType, "has this type")
    parser.option("--since", "DATE", "started on this date or later")
    parser.option("--until", "DATE", "started on this date or earlier")
    options.add_limit(parser, 20)
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    with open_memory(create=False) as memory:
        a = arguments
        found = memory.browse.find(a.file, a.concept, a.type, a.since, a.until, a.bank, a.limit)
        names = memory.context.bank_names()
        hint = memory.context.missing_bank_hint(memory.context.bank_id(arguments.bank))
    if arguments.json:
        screen.json(json_shapes.found_json(found, names))
    else:
        _print(screen, found, names, hint)


def _print(screen: Screen, found: Found, names: Mapping[str, str], hint: str) -> None:
    if not found.findings:
        screen.line(f"Nothing in {describe_bank(found.bank)} matches these filters.")
        screen.wrap(hint or _advice(found.filter, found.bank == ALL_BANKS))
        return
    for finding in found.findings:
        bank = names.get(finding.bank, "") if found.bank == ALL_BANKS else ""
        _print_finding(screen, finding, found.filter.file, bank)
    more = "; there are more, see --limit" if found.more else ""
    shown = f"{number(len(found.findings), 'record')} in {describe_bank(found.bank)}{more}"
    screen.line(shown, "dim")


def _advice(filter: RecordFilter, everywhere: bool) -> str:
    """What to try where nothing passes the filter."""
    advice: list[str] = []
    file = filter.file.rstrip("/")
    name = file.rpartition("/")[2]
    if name != file:
        advice.append(f"Try the name alone ({name}).")
    if sum(map(bool, filter)) > 1:
        advice.append("Try fewer filters.")
    if not everywhere:
        advice.append("--bank all looks in every bank.")
    if words := filter.concept or file:
        advice.append(f"`holdfast recall {words}` searches all that was said.")
    return " ".join(advice) or "Try another type, or other dates."


def _print_finding(screen: Screen, finding: Finding, wanted_file: str, bank: str) -> None:
    head = f"{minute(finding.time) or 'undated':<16}  {finding.type:<9}  "
    screen.line(screen.paint(head, "bold") + truncate(finding.title, screen.width - len(head)))
    if finding.ended:
        screen.line(f"{_INDENT}no longer valid: {finding.ended}")
    width = screen.width - len(_INDENT)
    for verb, files in (("changed", finding.files), ("read", finding.files_read)):
        if files:
            ordered = sorted(files, key=lambda file: not matches_path(file, wanted_file))
            screen.line(_INDENT + _list_files(verb, ordered, width))
    print_reference(screen, finding.uri, _INDENT, finding.session, bank)
    screen.line()


def _list_files(verb: str, files: Sequence[str], width: int) -> str:
    """As many files as fit in a line, and the number of the others."""
    text = f"{verb} {files[0]}"
    for listed, file in enumerate(files[1:], start=1):
        rest = f", and {len(files) - listed} more"
        if len(text) + len(file) + len(rest) + len(", ") > width:
            return text + rest
        text += f", {file}"
    return text
