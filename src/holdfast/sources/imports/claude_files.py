"""Reads Claude Code's Markdown: the notes of its own memory, and instruction files.

A folder may be `~/.claude`, one project's notes (`…/memory`), or a project. A note is one record;
an instruction file is one record a section.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from holdfast.errors import InputError
from holdfast.sources.imports.draft import DraftRecord, ImportItem, SkippedRecord, checked
from holdfast.sources.imports.notes import address_part, find_notes, read_note
from holdfast.sources.json_fields import mapping, string
from holdfast.sources.rule_files import read_rule_file

PROGRAM = "claude-code"
SCHEME = "claude-memory"
_INDEX_FILE = "MEMORY.md"
_RULE_FILES = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md")
# How far into a transcript the folder of its project is looked for.
_MAX_LINES = 50
_MAX_LINE_BYTES = 1_000_000


def read(path: Path) -> Iterator[ImportItem]:
    """Every note and section."""
    if path.is_file():
        is_rules = path.name.upper().startswith("CLAUDE")
        yield from _sections(path, "") if is_rules else _notes(path.parent, [path])
        return
    has_records = False
    folders = sorted(path.glob("projects/*/memory"))
    if (path / _INDEX_FILE).is_file() or path.name == "memory":
        folders.append(path)
    for folder in folders:
        has_records = True
        yield from _notes(folder, list(find_notes(folder)))
    for name in _RULE_FILES:
        if (path / name).is_file():
            has_records = True
            yield from _sections(path / name, "" if folders else str(path.absolute()))
    if not has_records:
        raise InputError(
            f"There are neither notes nor instructions of Claude Code in {path}.",
            "Name ~/.claude, a folder …/memory below its projects, a project, or a CLAUDE.md.",
        )


def _notes(folder: Path, files: list[Path]) -> Iterator[ImportItem]:
    slug = folder.parent.name
    project = _project(folder.parent)
    for file in files:
        note = read_note(file, folder)
        if note is None:
            yield SkippedRecord("note", "too-large", failed=True)
            continue
        kind = "index" if file.name == _INDEX_FILE else "note"
        title = note.first_value("description", "name") or (file.stem if kind == "note" else "")
        type = note.first_value("metadata.type", "type")
        yield checked(
            DraftRecord(
                kind,
                (slug, note.name),
                title,
                note.text,
                note.time,
                f"{SCHEME}://{_quoted(slug)}/{_quoted(note.name)}",
                project,
                labels=(type,) if type else (),
            )
        )


def _project(folder: Path) -> str:
    """The project's folder according to its transcripts, or Claude Code's name of it; "" where the
    notes are somewhere else."""
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("rb") as file:
            for line in islice(iter(lambda: file.readline(_MAX_LINE_BYTES), b""), _MAX_LINES):
                try:
                    record = mapping(json.loads(line))
                except (ValueError, RecursionError):
                    continue
                if cwd := string(record, "cwd"):
                    return cwd
    return folder.name if folder.parent.name == "projects" else ""


def _sections(file: Path, project: str) -> Iterator[ImportItem]:
    note = read_note(file, file.parent)
    if note is None:
        yield SkippedRecord("instruction", "too-large", failed=True)
        return
    counts: dict[str, int] = {}
    for section in read_rule_file(file.read_bytes()).sections:
        count = counts[section.heading] = counts.get(section.heading, 0) + 1
        anchor = address_part(f"{section.heading}{f' {count}' if count > 1 else ''}")
        full_path = file.absolute().as_posix()
        yield checked(
            DraftRecord(
                "instruction",
                (full_path, section.heading, str(count)),
                section.heading,
                section.text,
                note.time,
                f"{SCHEME}://{_quoted(full_path)}{f'#{anchor}' if anchor else ''}",
                project,
            )
        )


def _quoted(path: str) -> str:
    """A path as part of a URI, byte for byte, even if it is no UTF-8."""
    return quote(path, errors="surrogateescape")
