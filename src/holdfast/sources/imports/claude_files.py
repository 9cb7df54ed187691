"""What Claude Code keeps in Markdown: the notes it takes for itself, and files of instructions.

A folder may be that of all settings (`~/.claude`), one project's notes (`…/memory`), or a project.
A note is one record; a file of instructions is one record a section.
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
_INDEX = "MEMORY.md"
_RULES = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md")
_LINES_LOOKED_AT = 50
_LINE_LIMIT = 1_000_000


def read(path: Path) -> Iterator[ImportItem]:
    """Every note and section."""
    if path.is_file():
        is_rules = path.name.upper().startswith("CLAUDE")
        yield from _sections(path, "") if is_rules else _notes(path.parent, [path])
        return
    found = False
    folders = sorted(path.glob("projects/*/memory"))
    if (path / _INDEX).is_file() or path.name == "memory":
        folders.append(path)
    for folder in folders:
        found = True
        yield from _notes(folder, list(find_notes(folder)))
    for name in _RULES:
        if (path / name).is_file():
            found = True
            yield from _sections(path / name, "" if folders else str(path.absolute()))
    if not found:
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
        kind = "index" if file.name == _INDEX else "note"
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
    """The folder that a project's transcripts were made in, else what Claude Code calls it; ""
    where the notes lie somewhere else."""
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("rb") as file:
            for line in islice(iter(lambda: file.readline(_LINE_LIMIT), b""), _LINES_LOOKED_AT):
                try:
                    told = mapping(json.loads(line))
                except (ValueError, RecursionError):
                    continue
                if cwd := string(told, "cwd"):
                    return cwd
    return folder.name if folder.parent.name == "projects" else ""


def _sections(file: Path, project: str) -> Iterator[ImportItem]:
    note = read_note(file, file.parent)
    if note is None:
        yield SkippedRecord("instruction", "too-large", failed=True)
        return
    met: dict[str, int] = {}
    for section in read_rule_file(file.read_bytes()).sections:
        again = met[section.heading] = met.get(section.heading, 0) + 1
        place = address_part(f"{section.heading}{f' {again}' if again > 1 else ''}")
        where = file.absolute().as_posix()
        yield checked(
            DraftRecord(
                "instruction",
                (where, section.heading, str(again)),
                section.heading,
                section.text,
                note.time,
                f"{SCHEME}://{_quoted(where)}{f'#{place}' if place else ''}",
                project,
            )
        )


def _quoted(path: str) -> str:
    """A path as part of an address, byte for byte, though it may be no UTF-8."""
    return quote(path, errors="surrogateescape")
