"""`holdfast export`."""

from __future__ import annotations

from pathlib import Path

from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.transfer.export_folder import write_folder
from holdfast.app.transfer.export_markdown import markdown_notes
from holdfast.app.transfer.exporting import SCHEMA_FILE, ExportRequest, check_groups, write_export
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.progress import Progress
from holdfast.operations.screen import Screen, number
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.store.export_tables import GROUPS
from holdfast.store.records.exports import ExportSelection

HELP = """\
Write the memory, or a part of it, as files that any program can read.

jsonl: everything that was read and decided, one JSON object per line, in a versioned format
(docs/export-format.md); `holdfast import holdfast FILE` restores it exactly.

markdown: a folder of notes, one for every concept and session, linked with each other, with front
matter; for Obsidian, Notion and others. It can be written again into the same folder; files that
you added or changed stay.

Forgotten records are left out, and secrets are redacted again. A file is written completely or
not at all."""

EXAMPLES = """\
  holdfast export memory.jsonl
  holdfast export ~/vault/memory --format markdown
  holdfast export work.jsonl --bank work --since 2026-01 --kind sessions --kind decisions"""


def configure(parser: Parser) -> None:
    parser.add_argument("path", nargs="?", default="", metavar="FILE|DIR", help="where to write it")
    parser.choice("--format", ["jsonl", "markdown"], "the format (default: jsonl)", "jsonl")
    parser.option("--since", "DATE", "only from this date")
    parser.option("--until", "DATE", "only up to this date")
    parser.repeated("--kind", "only this kind; repeatable (default: all)", choices=GROUPS)
    parser.flag(
        "--derived",
        "jsonl: also the derived records: exchanges, digests, facts, memories and concepts",
    )
    parser.flag("--schema", "print the JSON Schema of the format, and exit")
    options.add(parser, "bank_or_all", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    if arguments.schema:
        screen.line(SCHEMA_FILE.read_text("utf-8").rstrip())
        return
    if not arguments.path:
        raise InputError("No file is given.", "Give a file, such as memory.jsonl.")
    check_groups(arguments.kind)
    with open_memory(create=False) as memory:
        wanted = _wanted(memory, arguments)
        path = Path(arguments.path).expanduser()
        if arguments.format != "jsonl":
            return _write_notes(screen, memory, arguments, path, wanted)
        progress = Progress("written", lambda count: number(count, "line"))
        patterns = memory.settings.redact_patterns
        made = write_export(memory.reader, path, wanted, patterns, progress)
    if arguments.json:
        return screen.json({"path": str(made.path), "counts": made.counts, "bytes": made.bytes})
    counts = ", ".join(f"{name} {count:,}" for name, count in made.counts.items())
    screen.line(f"{made.path}: {made.bytes:,} bytes")
    screen.wrap(f"records: {counts or 'none'}", "  ")


def _wanted(memory: Holdfast, arguments: Arguments) -> ExportRequest:
    bank = memory.context.bank_id(arguments.bank)
    banks = tuple(one for one in memory.reader.banks.all() if bank in (None, one.id))
    chosen = ExportSelection(
        tuple(dict.fromkeys(arguments.kind)),
        read_iso_span(arguments.since).first if arguments.since else "",
        read_iso_span(arguments.until).last if arguments.until else "",
    )
    return ExportRequest(banks, chosen, arguments.derived)


def _write_notes(
    screen: Screen, memory: Holdfast, arguments: Arguments, path: Path, wanted: ExportRequest
) -> None:
    if arguments.kind or arguments.derived:
        raise InputError(
            "--kind and --derived do not apply to Markdown.",
            "It always contains sessions, their records, concepts and facts.",
        )
    redactor = Redactor(memory.settings.redact_patterns)
    progress = Progress("made", lambda count: number(count, "file"))
    files: dict[str, str] = {}
    for name, text in markdown_notes(
        memory.reader, wanted, lambda text: redactor.redact(text).text
    ):
        files[name] = text
        progress(len(files), len(files))
    done = write_folder(path, files)
    if arguments.json:
        return screen.json(done._replace(folder=str(done.folder)))
    screen.line(f"{done.folder}: {number(done.written, 'file')}, {done.removed:,} removed.")
    for left in done.left_alone:
        screen.line(f"  not replaced, because you created or changed it: {left}")
