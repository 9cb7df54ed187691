"""Reads mem0's memories: JSON from its API, or the Markdown blocks that its plugin exports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from holdfast.errors import InputError
from holdfast.model.ids import content_id
from holdfast.sources.imports.draft import (
    DraftRecord,
    ImportItem,
    SkippedRecord,
    checked,
    load_json,
    read_bytes,
    unique_texts,
)
from holdfast.sources.json_fields import Record, items, mapping, normal_time, string
from holdfast.sources.rule_files import decode

PROGRAM = "mem0"
_DESCRIPTION = "a JSON file of memories as mem0's API lists them, or an export of its plugin"
_MAX_MARKDOWN_BYTES = 64 * 1024 * 1024
_LIST_FIELDS = ("results", "memories", "data")
_TEXT_FIELDS = ("memory", "content", "text", "data")
_SESSION_FIELDS = ("run_id", "session_id")


def read(path: Path) -> Iterator[ImportItem]:
    """Every memory, and every relation of its graph."""
    if path.suffix.lower() in (".md", ".markdown"):
        yield from _blocks(path)
        return
    value = load_json(path, _DESCRIPTION)
    pages = cast(list[Any], value) if isinstance(value, list) else [value]
    if not isinstance(value, list) and not _is_page(value):
        raise InputError(f"{path} contains no list of memories.", f"Name {_DESCRIPTION}.")
    for one in pages:
        if _is_page(one):
            page = mapping(one)
            found = next(
                items(page[name]) for name in _LIST_FIELDS if isinstance(page.get(name), list)
            )
            for record in found:
                yield _memory(record)
            for relation in items(page.get("relations")):
                yield _relation(relation)
        else:
            yield _memory(one)


def _is_page(value: object) -> bool:
    return any(isinstance(mapping(value).get(name), list) for name in _LIST_FIELDS)


def _memory(value: object) -> ImportItem:
    record = mapping(value)
    text = next((word for name in _TEXT_FIELDS if (word := string(record, name).strip())), "")
    if not record or not (text or any(name in record for name in _TEXT_FIELDS)):
        return SkippedRecord("memory", "wrong-shape", failed=True)
    if record.get("replaced_by"):
        return SkippedRecord("memory", "superseded")
    extra = mapping(record.get("metadata"))
    id = str(record.get("id") or content_id(text))
    kind = string(extra, "type")
    labels = [kind, *(one for one in items(record.get("categories")) if isinstance(one, str))]
    run = next((word for name in _SESSION_FIELDS if (word := string(record, name))), "")
    return checked(
        DraftRecord(
            "memory",
            ("memory", id),
            "",
            text,
            normal_time(record.get("created_at")) or normal_time(record.get("updated_at")),
            f"{PROGRAM}://memory/{id}",
            string(record, "app_id"),
            run,
            tuple(one for one in items(extra.get("files")) if isinstance(one, str)),
            unique_texts(*labels),
        )
    )


def _relation(value: object) -> ImportItem:
    record = mapping(value)
    source, kind = string(record, "source"), string(record, "relationship")
    target = string(record, "target") or string(record, "destination")
    if not (source and kind and target):
        return SkippedRecord("relation", "wrong-shape", failed=True)
    text = f"{source} {kind} {target}".replace("_", " ")
    name = f"{PROGRAM}://relation/{content_id(source, kind, target)}"
    return DraftRecord("relation", (source, kind, target), "", text, "", name, labels=(kind,))


def _blocks(path: Path) -> Iterator[ImportItem]:
    """The memories of blocks between lines of dashes: fields, then text, in turn."""
    lines = decode(read_bytes(path, _MAX_MARKDOWN_BYTES, _DESCRIPTION)).split("\n")
    parts = [""]
    for line in lines:
        if line.rstrip() == "---":
            parts.append("")
        else:
            parts[-1] += line + "\n"
    if len(parts) < 3:
        raise InputError(f"{path} is not an export of mem0.", f"Name {_DESCRIPTION}.")
    for head, text in zip(parts[1::2], parts[2::2], strict=False):
        fields: Record = {}
        for line in head.splitlines():
            key, _, value = line.partition(":")
            fields[key.strip()] = value.strip()
        fields["metadata"] = {
            "type": fields.get("type", ""),
            "files": _split_list(fields, "files"),
        }
        yield _memory({**fields, "memory": text, "categories": _split_list(fields, "categories")})


def _split_list(fields: Record, name: str) -> list[str]:
    return [part.strip() for part in string(fields, name).split(",") if part.strip()]
