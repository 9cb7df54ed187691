"""Reads the notes of Claude Code's own memory: `~/.claude`, or one folder of notes (`…/memory`).

A note is one record. Of its frontmatter `name`, `description` and `type` count, below another key
or not; nothing in a note is run or followed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from holdfast.errors import InputError
from holdfast.sources.imports.draft import DraftRecord, ImportItem, SkippedRecord, checked
from holdfast.sources.json_fields import mapping, normal_time, string
from holdfast.sources.rule_files import decode, frontmatter_end

PROGRAM = "claude-code"
SCHEME = "claude-memory"
_INDEX_FILE = "MEMORY.md"
# A larger file is no note.
_MAX_NOTE_BYTES = 1_000_000
# How far into a transcript the folder of its project is looked for.
_MAX_LINES = 50
_MAX_LINE_BYTES = 1_000_000


def read(path: Path) -> Iterator[ImportItem]:
    """Every note."""
    folders = sorted(path.glob("projects/*/memory"))
    if path.name == "memory" or (path / _INDEX_FILE).is_file():
        folders.append(path)
    if not folders:
        raise InputError(
            f"There are no notes of Claude Code in {path}.",
            "Name ~/.claude, or a folder …/memory below its projects.",
        )
    for folder in folders:
        project = _project(folder.parent)
        for file in _files(folder):
            yield _note(folder, file, project)


def _files(path: Path) -> Iterator[Path]:
    """The Markdown files of a folder. Links are not followed; names with a dot in front are left
    out."""
    for folder, below, names in os.walk(path):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder) / name
            is_note = name.lower().endswith(".md") and not name.startswith(".")
            if is_note and file.is_file() and not file.is_symlink():
                yield file


def _note(folder: Path, file: Path, project: str) -> ImportItem:
    try:
        stat = file.stat()
        if stat.st_size > _MAX_NOTE_BYTES:
            return SkippedRecord("note", "too-large", failed=True)
        lines = decode(file.read_bytes()).split("\n")
    except OSError as error:
        raise InputError(
            f"{file} cannot be read: {error.strerror or error}.", "Check its permissions."
        ) from error
    end = frontmatter_end(lines)
    fields: dict[str, str] = {}
    for line in lines[1 : max(end - 1, 1)]:
        key, _, value = line.strip().partition(":")
        fields.setdefault(key, value.strip().strip("\"'"))
    kind = "index" if file.name == _INDEX_FILE else "note"
    named = fields.get("description") or fields.get("name")
    slug, name = folder.parent.name, file.relative_to(folder).as_posix()
    type = fields.get("type")
    return checked(
        DraftRecord(
            kind,
            (slug, name),
            named or (file.stem if kind == "note" else ""),
            "\n".join(lines[end:]).strip(),
            normal_time(stat.st_mtime),
            f"{SCHEME}://{_quoted(slug)}/{_quoted(name)}",
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


def _quoted(path: str) -> str:
    """A path as part of a URI, byte for byte, even if it is no UTF-8."""
    return quote(path, errors="surrogateescape")
