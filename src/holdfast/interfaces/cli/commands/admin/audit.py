"""`holdfast audit`."""

from __future__ import annotations

from holdfast.app.core.context import describe_bank
from holdfast.app.memory import open_memory
from holdfast.app.search.audit import AuditReport, StaleRecord, audit
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output.records import print_record_head
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day
from holdfast.language import truncate

HELP = """\
Compare the memory with the code of today: list facts, memories, decisions and rules whose
files were changed, renamed or deleted since, the most changed first.

The history must have been read: `holdfast ingest REPOSITORY`. Records without a file that is
in the history are only counted.

--holds ID confirms that a record is still right: it is not listed again until its code
changes again.

--json prints {"bank", "stale", "fresh", "unknown", "about_no_file", "histories"};
each of "stale" has "uri", "kind", "title", "time", "freshness", "since" and "files"."""

EXAMPLES = """\
  holdfast audit
  holdfast audit --file src/billing/
  holdfast audit --file retry.py --json
  holdfast audit --holds 5c1f0a"""

# The start of a title: about two lines.
_MAX_TITLE = 200


def configure(parser: Parser) -> None:
    parser.option(
        "--file", "F", "only records about this file (a path, the end of one, or a folder/)"
    )
    options.add_limit(parser, 30)
    parser.option("--holds", "ID", "confirm that a record is still right")
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    if arguments.holds:
        with open_memory(create=False) as memory:
            entry = memory.curation.confirm(arguments.holds)
        sentence = f"Confirmed {entry.target}. `holdfast undo` undoes this."
        return screen.report(arguments.json, {"confirmed": entry}, sentence)
    with open_memory(create=False) as memory:
        id = memory.context.bank_id(arguments.bank)
        name, hint = memory.context.bank_name(id), memory.context.missing_bank_hint(id)
        found = audit(memory.reader, id, arguments.file)
    shown = found._replace(stale=found.stale[: arguments.limit])
    if arguments.json:
        return screen.json({"bank": name, **shown._asdict()})
    for one in shown.stale:
        _print(screen, one)
    _print_summary(screen, found, len(shown.stale), name)
    if hint:
        screen.wrap(hint)


def _print(screen: Screen, one: StaleRecord) -> None:
    head = f"{one.freshness.value}  {one.kind} · {day(one.time)}"
    print_record_head(screen, head, one.uri)
    screen.wrap(truncate(one.title, _MAX_TITLE), "    ")
    for file in one.files:
        screen.item(f"- {file.description}", "    ")
    screen.line()


def _print_summary(screen: Screen, found: AuditReport, shown: int, bank: str) -> None:
    if not found.histories:
        screen.wrap(
            f"No git history was read into {describe_bank(bank)}, so the memory cannot be compared "
            "with the code: `holdfast ingest REPOSITORY` reads one."
        )
        return
    if not (found.stale or found.fresh or found.unknown or found.about_no_file):
        screen.wrap(
            f"There are no facts, memories, decisions or rules to check in {describe_bank(bank)}."
        )
        return
    hidden = len(found.stale) - shown
    more = f" ({hidden:,} of them not shown)" if hidden > 0 else ""
    screen.wrap(
        f"Of the records in {describe_bank(bank)}, {len(found.stale):,} are about code that "
        f"changed since{more}, and {found.fresh:,} about unchanged code. Not checked: "
        f"{found.unknown:,} about files without a known history, {found.about_no_file:,} about no "
        "file."
    )
