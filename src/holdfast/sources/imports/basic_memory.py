"""basic-memory's Markdown: notes with frontmatter, observations and relations.

A note gives one record for its text, and one for every observation (`- [category] text #tag
(context)`) and every relation (`- kind [[Other note]] (context)`) in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from holdfast.errors import InputError
from holdfast.regex import regex
from holdfast.sources.imports.draft import (
    DraftRecord,
    ImportItem,
    SkippedRecord,
    checked,
    unique_texts,
)
from holdfast.sources.imports.notes import Note, address_part, find_notes, read_note
from holdfast.sources.json_fields import normal_time
from holdfast.sources.rule_files import fence_after

PROGRAM = "basic-memory"
SCHEME = "memory"
# A longer line is no list item; it stays in the text of the note.
_MAX_LINE_CHARS = 20_000
_ITEM = regex(r"\s*[-*+]\s+(.*)$")
_CATEGORY = regex(r"\[([^\[\]()]{1,100})\]\s+(\S.*)$")
_TIME = regex(r"\d{1,3}:\d{2}[\d:.,\s-]*$")
_RELATION = regex(
    r"(?:\"([^\"\[\]]{1,100})\"|'([^'\[\]]{1,100})'|([^\s\[\]]{1,100}))\s*"
    r"\[\[([^\[\]]{1,300})\]\]\s*(?:\(([^()]{0,500})\))?\s*$"
)
_TAG = regex(r"(?<!\S)#([^\s#]{1,60})")
_CONTEXT = regex(r"\s*\(([^()]{1,500})\)$")
_EMPTY_SECTION = regex(
    r"(?m)^#{1,6}[ \t]+(?:observations|relations)[ \t]*\n+(?=#|\Z)", re.IGNORECASE
)


def read(path: Path) -> Iterator[ImportItem]:
    """Every note of a folder, or the one that is named."""
    base = path if path.is_dir() else path.parent
    has_notes = False
    for file in find_notes(path):
        has_notes = True
        note = read_note(file, base)
        if note is None:
            yield SkippedRecord("note", "too-large", failed=True)
        else:
            yield from _note_records(note)
    if not has_notes:
        raise InputError(f"There are no Markdown files in {path}.", "Name a folder with notes.")


def _note_records(note: Note) -> Iterator[ImportItem]:
    permalink = note.first_value("permalink") or address_part(note.name.removesuffix(".md").lower())
    title = note.first_value("title") or note.path.stem
    time = normal_time(note.first_value("created", "date")) or note.time
    tags = [
        tag.strip().lstrip("#")
        for word in note.frontmatter.get("tags", [])
        for tag in word.split(",")
    ]
    labels = unique_texts(note.first_value("type"), *tags)
    other_lines: list[str] = []
    items: list[DraftRecord] = []
    fence = ""
    for line in note.text.split("\n"):
        fence = fence_after(line, fence)
        item = None if fence or len(line) > _MAX_LINE_CHARS else _ITEM.match(line)
        record = item and _item_record(item.group(1).strip(), title, permalink, time)
        if record:
            items.append(record)
        else:
            other_lines.append(line)
    text = _EMPTY_SECTION.sub("", "\n".join(other_lines).strip() + "\n").strip()
    yield checked(
        DraftRecord("note", ("note", permalink), title, text, time, _uri(permalink), labels=labels)
    )
    for record in items:
        yield checked(record)


def _uri(*parts: str) -> str:
    return f"{SCHEME}://{'/'.join(address_part(part) for part in parts)}"


def _item_record(text: str, title: str, permalink: str, time: str) -> DraftRecord | None:
    relation = _RELATION.match(text)
    if relation:
        kind = next(filter(None, relation.groups()[:3]))
        other, context = relation.group(4).partition("|")[0].strip(), relation.group(5)
        text = f"{title} {kind.replace('_', ' ')} {other}" + (f" ({context})" if context else "")
        key = ("relation", permalink, kind, other)
        return DraftRecord(
            "relation", key, "", text, time, _uri(permalink, kind, other.lower()), labels=(kind,)
        )
    found = _CATEGORY.match(text)
    category = found.group(1).strip() if found else ""
    if (len(category) == 1 and not category.isalnum()) or category in ("x", "X"):
        return None  # a checkbox
    is_time = bool(_TIME.match(category))
    tags = _TAG.findall(text)
    if (not category or is_time) and not tags:
        return None
    words = found.group(2) if found and not is_time else text
    context = _CONTEXT.search(words)
    labels = unique_texts("" if is_time else category, *tags)
    statement = _CONTEXT.sub("", words)
    short = address_part(statement.lower())[:100]
    name = _uri(permalink, "observations", category.lower() or "note", short)
    key = ("observation", permalink, category, statement)
    text = words if not context else f"{statement} ({context.group(1)})"
    return DraftRecord("observation", key, title, text, time, name, labels=labels)
