"""`holdfast audit`."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.app.search.audit import AuditReport, StaleRecord, audit
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output.records import print_record_head
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day, number
from holdfast.language import truncate

HELP = """\
Hold what is remembered against the code of today: lists the facts, memories, decisions
and rules whose files have changed, been renamed or gone since, the most changed first.

The history must have been read: `holdfast ingest REPOSITORY`. Records about no file,
or only about files that are in no history, are counted and not judged.

--holds ID says that a record is right all the same: it is not listed again until its code
changes once more.

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
    parser.option("--file", "F", "only about this file, the end of a path, or folder/")
    options.add_limit(parser, 30)
    parser.option("--holds", "ID", "say that a record still holds, as it is now")
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    if arguments.holds:
        with open_memory(create=False) as memory:
            entry = memory.curation.confirm(arguments.holds)
        sentence = f"{entry.target} still holds. `holdfast undo` takes that back."
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
            f"No repository's history was read into {bank}, so nothing can be told: "
            "`holdfast ingest REPOSITORY` reads one."
        )
        return
    if not (found.stale or found.fresh or found.unknown or found.about_no_file):
        screen.wrap(f"{bank} holds no fact, memory, decision or rule that could be out of date.")
        return
    more = f", {len(found.stale) - shown:,} of them not shown" if len(found.stale) > shown else ""
    screen.wrap(
        f"{number(len(found.stale), 'record')} in {bank} speak of code that is not what it was"
        f"{more}; {found.fresh:,} of code that is. {found.unknown:,} speak of files "
        f"that no history knows, {found.about_no_file:,} of no file: of those nothing can be told."
    )
