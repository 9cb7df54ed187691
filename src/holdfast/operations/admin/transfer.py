"""Memories that come from elsewhere and go elsewhere: imports of other programs, dialogues and
exports, and undoing them; exports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from holdfast.app.memory import Holdfast
from holdfast.app.transfer.export_folder import write_folder
from holdfast.app.transfer.export_markdown import markdown_notes
from holdfast.app.transfer.exporting import SCHEMA_FILE, Exported, ExportRequest, write_export
from holdfast.app.transfer.imports import ImportResult
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.learn.import_intake import ImportCounts
from holdfast.model.curation import Curation
from holdfast.model.uris import uri
from holdfast.operations.operation import OWNER, Arg, Call, Work, operation
from holdfast.operations.parameters import MAX_NAME, AnyBank, DryRun, Since, Until
from holdfast.operations.screen import Screen, day, number
from holdfast.principal import Level
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.store.export_tables import GROUPS
from holdfast.store.records.exports import ExportSelection

_admin = partial(operation, level=Level.ADMIN, all_banks=True, work=Work.RUN_LONG)

_MAX_PATH = 4_096


class ImportFormat(StrEnum):
    """What can be imported."""

    CLAUDE_MEM = "claude-mem"
    CLAUDE_MEMORY = "claude-memory"
    MEM0 = "mem0"
    HOLDFAST = "holdfast"
    CONVERSATION = "conversation"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in sorted(counts.items()) if n)


def _print_imported(
    screen: Screen, done: ImportResult, *, dry_run: bool = False, **_: object
) -> None:
    for one in done.banks:
        head = f"bank {one.bank}" if one.bank else done.place
        screen.line(f"{head}: {number(one.read, 'record')}", "bold")
        for title, counts in (
            ("new", one.added),
            ("changed", one.changed),
            ("known already", one.known),
            ("skipped", one.skipped),
            ("failed", one.failed),
        ):
            if counts:
                screen.wrap(f"{title}: {_counted(counts)}", "  ")
        if one.failed.get("line"):
            screen.line("  `holdfast status` shows which lines failed, and why.")
        if one.redacted and (one.added or one.changed):
            screen.line(f"  secrets redacted: {one.redacted.total():,}")
    if done.is_empty:
        screen.line(f"Nothing new in {done.place}.")
    elif dry_run:
        screen.line("Nothing was imported: this was a dry run.")
    elif done.uri:
        screen.line(f"Imported as {done.uri}. `holdfast import undo ID` undoes it.")
    if done.backup:
        screen.line(f"Backup of the memory before: {done.backup}")


@_admin(
    "import-from",
    creates=True,
    text=_print_imported,
    examples="""\
  holdfast import claude-mem --dry-run
  holdfast import claude-mem ~/.claude-mem/claude-mem.db
  holdfast import conversation chat.jsonl --bank support
  holdfast import list
  holdfast import undo 3f2a91c0""",
)
def import_from(
    memory: Holdfast,
    format: Annotated[ImportFormat, Arg("the format", place="FORMAT")],
    path: Annotated[str, Arg("the file or folder", place="PATH", most=_MAX_PATH)] = "",
    bank: Annotated[str, Arg("the bank to put it in", metavar="NAME", most=MAX_NAME)] = "",
    dry_run: DryRun = False,
    call: Call = OWNER,
) -> ImportResult:
    """Import the memory of another program, or a dialogue

    The format is one of

      claude-mem     its database (~/.claude-mem/claude-mem.db): observations, summaries, prompts
      claude-memory  notes of Claude Code: ~/.claude, or one folder …/memory
      mem0           memories as its API lists them (JSON), or an export of its plugin
      holdfast       a file written by `holdfast export`, restored exactly
      conversation   one JSON object per line: session, id, time, speaker, text; needs --bank

    Imported records are redacted, have the trust `import`, and are found by recall and ask with a
    citation of their origin. Every record is counted as imported, known, skipped or failed, with
    the reason. An import is applied completely or not at all. Importing again adds only what is
    new or changed. `holdfast import undo ID` undoes a whole import.

    Without --bank, records go into the bank of their own project, or of the current folder."""
    usual = {
        ImportFormat.CLAUDE_MEM: "~/.claude-mem/claude-mem.db",
        ImportFormat.CLAUDE_MEMORY: str(memory.settings.claude_dir),
    }
    if not path and format not in usual:
        raise InputError("No file is given.", "Give the path of a file or folder.")
    file = Path(path or usual[format]).expanduser()
    read = call.watch("read", lambda count: number(count, "record"))
    if format is ImportFormat.HOLDFAST:
        if bank:
            raise InputError("An export goes into the banks it comes from.", "Leave --bank out.")
        restored = memory.imports.import_export(file, dry_run, read, call.who)
        counts = ImportCounts("", +Counter(restored.added), known=+Counter(restored.known))
        return ImportResult("", format.value, str(file), (counts,), restored.backup)
    if format is ImportFormat.CONVERSATION:
        if not bank:
            raise InputError("A dialogue needs a bank.", "Name it: --bank NAME.")
        report = memory.imports.import_conversation(file, bank, dry_run)
        counts = ImportCounts(
            bank,
            +Counter(turn=report.captured),
            skipped=+Counter(line=report.skipped),
            failed=+Counter(line=report.failed),
            redacted=+Counter(secret=report.redacted),
        )
        return ImportResult("", format.value, str(file), (counts,))
    done = memory.imports.import_records(
        format.value, file, bank, dry_run, lambda done: read(done, done), call.who
    )
    if done.uri:
        memory.ingestion.update()
    return done


class ImportRecord(NamedTuple):
    """One import from another program: from where (`place`), when, how many records of each kind,
    how many were skipped or failed, by reason, and whether it was undone."""

    bank: str
    id: str
    program: str
    place: str
    time: str
    kinds: dict[str, int]
    skipped: dict[str, int]
    failed: dict[str, int]
    redacted: int
    undone: bool
    bank_name: str


class ImportList(NamedTuple):
    """Imports that stored something."""

    imports: tuple[ImportRecord, ...]


class ImportUndone(NamedTuple):
    """The decisions that undid an import, one for each bank."""

    undone: tuple[Curation, ...]


def _print_imports(screen: Screen, found: ImportList, **_: object) -> None:
    if not found.imports:
        screen.line("Nothing was imported yet.")
    for one in found.imports:
        state = " · undone" if one.undone else ""
        name = screen.paint(uri("importing", one.id), "cyan")
        screen.line(f"{name}  {day(one.time)} · {one.program} · bank {one.bank_name}{state}")
        screen.line(f"    {_counted(one.kinds)} from {one.place}")


@_admin("imports", rest="GET /imports", work=Work.READ, text=_print_imports)
def imports(memory: Holdfast, bank: AnyBank = "all") -> ImportList:
    """List imports

    Every import with new records, and whether it was undone."""
    found, names = memory.imports.list_batches(bank), memory.context.bank_names()
    return ImportList(
        tuple(ImportRecord(*one, not in_effect, names[one.bank]) for one, in_effect in found)
    )


def _print_undone(screen: Screen, done: ImportUndone, **_: object) -> None:
    for entry in done.undone:
        screen.line(f"Undone: {entry.text}, of {day(entry.time)}.")


@_admin(
    "undo-import",
    rest="POST /imports/{id}/undo",
    text=_print_undone,
)
def undo_import(
    memory: Holdfast,
    id: Annotated[str, Arg("its id, or the start of it", place="ID", most=MAX_NAME)],
    call: Call = OWNER,
) -> ImportUndone:
    """Undo an import

    Removes all its records, in all banks."""
    undone = memory.imports.undo_import(id, call.who)
    memory.ingestion.update()
    return ImportUndone(tuple(undone))


class ExportFormat(StrEnum):
    """How a memory is exported."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"


def _print_exported(screen: Screen, done: Exported | dict[str, Any], **_: object) -> None:
    if isinstance(done, dict):
        return screen.json(done)
    screen.line(f"{done.path}: {done.bytes:,} bytes")
    screen.wrap(f"records: {_counted(done.counts) or 'none'}", "  ")
    if done.removed:
        screen.line(f"  removed: {done.removed:,}")
    for left in done.left_alone:
        screen.line(f"  not replaced, because you created or changed it: {left}")


@_admin(
    "export",
    text=_print_exported,
    examples="""\
  holdfast export memory.jsonl
  holdfast export ~/vault/memory --format markdown
  holdfast export work.jsonl --bank work --since 2026-01 --kind sessions --kind decisions""",
)
def export(
    memory: Holdfast,
    path: Annotated[str, Arg("where to write it", place="FILE|DIR", most=_MAX_PATH)] = "",
    format: Annotated[ExportFormat, Arg("the format")] = ExportFormat.JSONL,
    since: Since = "",
    until: Until = "",
    kind: Annotated[
        tuple[str, ...],
        Arg(f"only this kind; repeatable (default: all): {', '.join(GROUPS)}", metavar="KIND"),
    ] = (),
    derived: Annotated[
        bool,
        Arg("jsonl: also the derived records: exchanges, digests, facts, memories and concepts"),
    ] = False,
    schema: Annotated[bool, Arg("only print the JSON Schema of the format")] = False,
    bank: AnyBank = "all",
    call: Call = OWNER,
) -> Exported | dict[str, Any]:
    """Write the memory as files in an open format

    jsonl: everything that was read and decided, one JSON object per line, in a versioned format
    (docs/export-format.md); `holdfast import holdfast FILE` restores it exactly.

    markdown: a folder of notes, one for every concept and session, linked with each other, with
    front matter; for Obsidian, Notion and others. It can be written again into the same folder;
    files that you added or changed stay.

    Forgotten records are left out, and secrets are redacted again. A file is written completely or
    not at all."""
    if schema:
        return json.loads(SCHEMA_FILE.read_text("utf-8"))
    if not path:
        raise InputError("No file is given.", "Give a file, such as memory.jsonl.")
    for group in kind:
        if group not in GROUPS:
            raise InputError(f"There is no kind {group!r}.", f"One of: {', '.join(GROUPS)}.")
    id = memory.context.bank_id(bank)
    chosen = ExportSelection(
        tuple(dict.fromkeys(kind)),
        read_iso_span(since).first if since else "",
        read_iso_span(until).last if until else "",
    )
    banks = tuple(one for one in memory.reader.banks.all() if id in (None, one.id))
    request, file = ExportRequest(banks, chosen, derived), Path(path).expanduser()
    patterns, written = memory.settings.redact_patterns, call.watch("written", "{:,}".format)
    if format is ExportFormat.JSONL:
        return write_export(memory.reader, file, request, patterns, written)
    if kind or derived:
        raise InputError(
            "--kind and --derived do not apply to Markdown.",
            "It always contains sessions, their records, concepts and facts.",
        )
    redactor = Redactor(patterns)
    notes: dict[str, str] = {}
    for name, text in markdown_notes(
        memory.reader, request, lambda text: redactor.redact(text).text
    ):
        notes[name] = text
        written(len(notes), len(notes))
    return write_folder(file, notes)
