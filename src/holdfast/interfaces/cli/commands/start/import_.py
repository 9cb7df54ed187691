"""`holdfast import`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.transfer.imports import ImportResult
from holdfast.errors import InputError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.progress import Progress
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import uri
from holdfast.operations.screen import Screen, day, number

_HELP = """\
Import the memory of another program, or a dialogue.

{formats}

Imported records are redacted, have the trust `import`, and are found by recall and ask with a
citation of their origin. Every record is counted as imported, known, skipped or failed, with the
reason. An import is applied completely or not at all. Importing again adds only what is new or
changed. `holdfast import undo ID` undoes a whole import.

Without --bank, records go into the bank of their own project, or of the current folder."""

_FORMATS = {
    "claude-mem": "its database (~/.claude-mem/claude-mem.db): observations, summaries, prompts",
    "claude-memory": "notes of Claude Code: ~/.claude, or one folder …/memory",
    "mem0": "memories as its API lists them (JSON), or an export of its plugin",
    "holdfast": "a file written by `holdfast export`, restored exactly",
    "conversation": "one JSON object per line: session, id, time, speaker, text; needs --bank",
}
HELP = _HELP.format(formats="\n".join(f"  {name:<14} {about}" for name, about in _FORMATS.items()))

EXAMPLES = """\
  holdfast import claude-mem --dry-run
  holdfast import claude-mem ~/.claude-mem/claude-mem.db
  holdfast import conversation chat.jsonl --bank support
  holdfast import list
  holdfast import undo 3f2a91c0"""

_ACTIONS = ("list", "undo")
_DEFAULT_PATHS = {"claude-mem": "~/.claude-mem/claude-mem.db"}


def configure(parser: Parser) -> None:
    parser.add_argument(
        "format",
        choices=[*_FORMATS, *_ACTIONS],
        metavar="FORMAT|list|undo",
        help=f"the format: {', '.join(_FORMATS)}; or list, or undo",
    )
    parser.add_argument(
        "path",
        nargs="?",
        default="",
        metavar="PATH|ID",
        help="the file or folder; with undo, the ID",
    )
    parser.option("--bank", "NAME", "the bank to put it in")
    parser.flag("--dry-run", "only count what would be imported")
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> None:
    actions = {"list": _list, "undo": _undo, "holdfast": _holdfast, "conversation": _conversation}
    read_only = arguments.dry_run or arguments.format == "list"
    with open_memory(create=not read_only) as memory:
        actions.get(arguments.format, _records)(screen, memory, arguments)


def _records(screen: Screen, memory: Holdfast, arguments: Arguments) -> None:
    usual = {**_DEFAULT_PATHS, "claude-memory": str(memory.settings.claude_dir)}
    path = Path(arguments.path or usual.get(arguments.format, ""))
    if not arguments.path and arguments.format not in usual:
        raise InputError("No file is given.", "Give the path of a file or folder.")
    progress = Progress("read", lambda count: number(count, "record"))
    result = memory.imports.import_records(
        arguments.format, path, arguments.bank, arguments.dry_run, lambda read: progress(read, read)
    )
    if result.uri:
        memory.ingestion.update()
    if arguments.json:
        screen.json(_result_json(result))
    else:
        _print(screen, result, arguments.dry_run)


def _print(screen: Screen, result: ImportResult, dry_run: bool) -> None:
    for bank, tally in result.tallies:
        taken = tally.added + tally.changed
        head = f"bank {bank}" if bank else "of no bank"
        screen.line(f"{head}: {number(tally.read, 'record')}", "bold")
        for title, counts in (
            ("new", tally.added),
            ("changed", tally.changed),
            ("known already", tally.known),
            ("skipped", tally.skipped),
            ("failed", tally.failed),
        ):
            if counts:
                screen.line(f"  {title}: {_counted(counts)}")
        if tally.redacted and taken:
            screen.line(f"  secrets redacted: {tally.redacted.total():,}")
    if result.is_empty:
        screen.line(f"Nothing new in {result.place}.")
    elif dry_run:
        screen.line("Nothing was imported: this was a dry run.")
    else:
        screen.line(f"Imported as {result.uri}. `holdfast import undo ID` undoes it.")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in sorted(counts.items()) if n)


def _result_json(result: ImportResult) -> dict[str, object]:
    banks = [
        {"bank": bank, "read": tally.read} | to_jsonable(replace(tally, bank=bank))
        for bank, tally in result.tallies
    ]
    return {"import": result.uri, "program": result.program, "place": result.place, "banks": banks}


def _list(screen: Screen, memory: Holdfast, arguments: Arguments) -> None:
    found = memory.imports.list_batches(arguments.bank or "all")
    names = memory.context.bank_names()
    if arguments.json:
        listed = [
            {**to_jsonable(one), "uri": uri("importing", one.id), "stands": in_force}
            for one, in_force in found
        ]
        return screen.json(listed)
    if not found:
        screen.line("Nothing was imported yet.")
    for one, in_force in found:
        state = "" if in_force else " · undone"
        name = screen.paint(uri("importing", one.id), "cyan")
        screen.line(f"{name}  {day(one.time)} · {one.program} · bank {names[one.bank]}{state}")
        screen.line(f"    {_counted(Counter(one.kinds))} from {one.place}")


def _undo(screen: Screen, memory: Holdfast, arguments: Arguments) -> None:
    if not arguments.path:
        raise InputError("No import is given.", "`holdfast import list` lists them.")
    undone = memory.imports.undo_import(arguments.path)
    memory.ingestion.update()
    if arguments.json:
        return screen.json({"undone": undone})
    for entry in undone:
        screen.line(f"Undone: {entry.text}, of {day(entry.time)}.")


def _holdfast(screen: Screen, memory: Holdfast, arguments: Arguments) -> None:
    if arguments.bank:
        raise InputError("An export goes into the banks it comes from.", "Leave --bank out.")
    progress = Progress("restored", lambda count: number(count, "line"))
    done = memory.imports.import_export(Path(arguments.path), arguments.dry_run, progress)
    if arguments.json:
        return screen.json(done)
    if arguments.dry_run:
        screen.wrap(
            f"The file is complete. Records: {_counted(Counter(done.header.counts)) or 'nothing'}"
        )
        screen.line("Nothing was imported: this was a dry run.")
        return
    screen.wrap(f"new: {_counted(Counter(done.added)) or 'nothing'}")
    screen.wrap(f"known already: {_counted(Counter(done.known)) or 'nothing'}")
    if done.backup:
        screen.line(f"Backup of the memory before: {done.backup}")


def _conversation(screen: Screen, memory: Holdfast, arguments: Arguments) -> None:
    if not arguments.bank:
        raise InputError("A dialogue needs a bank.", "Name it: --bank NAME.")
    path = Path(arguments.path).expanduser()
    report = memory.imports.import_conversation(path, arguments.bank, arguments.dry_run)
    if arguments.json:
        return screen.json(report)
    screen.line(
        f"{number(report.lines, 'line')} read into bank {arguments.bank}: "
        f"{report.captured:,} captured, {report.skipped:,} skipped, {report.failed:,} failed."
    )
    if report.lines == 0:
        screen.line("Nothing new in that file.")
    if arguments.dry_run:
        screen.line("Nothing was imported: this was a dry run.")
    elif report.failed:
        screen.line("`holdfast status` shows which lines failed, and why.")
