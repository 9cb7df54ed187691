"""mem0's memories: what its API lists, as JSON, or what its plugin exports, as Markdown blocks."""

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
)
from holdfast.sources.json_fields import Record, items, mapping, normal_time, string
from holdfast.sources.rule_files import decode

PROGRAM = "mem0"
_WHAT = "a JSON file of memories as mem0's API lists them, or an export of its plugin"
_LARGEST = 64 * 1024 * 1024
_LISTS = ("results", "memories", "data")
_WORDS = ("memory", "content", "text", "data")
_RUNS = ("run_id", "session_id")


def read(path: Path) -> Iterator[ImportItem]:
    """Every memory, and every relation of its graph."""
    if path.suffix.lower() in (".md", ".markdown"):
        yield from _blocks(path)
        return
    told = load_json(path, _WHAT)
    pages = cast(list[Any], told) if isinstance(told, list) else [told]
    if not isinstance(told, list) and not _is_page(told):
        raise InputError(f"{path} holds no list of memories.", f"Name {_WHAT}.")
    for one in pages:
        if _is_page(one):
            page = mapping(one)
            found = next(items(page[name]) for name in _LISTS if isinstance(page.get(name), list))
            for record in found:
                yield _memory(record)
            for relation in items(page.get("relations")):
                yield _relation(relation)
        else:
            yield _memory(one)


def _is_page(value: object) -> bool:
    return any(isinstance(mapping(value).get(name), list) for name in _LISTS)


def _memory(value: object) -> ImportItem:
    record = mapping(value)
    text = next((word for name in _WORDS if (word := string(record, name).strip())), "")
    if not record or not (text or any(name in record for name in _WORDS)):
        return SkippedRecord("memory", "wrong-shape", failed=True)
    if record.get("replaced_by"):
        return SkippedRecord("memory", "superseded")
    extra = mapping(record.get("metadata"))
    id = str(record.get("id") or content_id(text))
    kind = string(extra, "type")
    labels = [kind, *(one for one in items(record.get("categories")) if isinstance(one, str))]
    run = next((word for name in _RUNS if (word := string(record, name))), "")
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
            tuple(dict.fromkeys(filter(None, labels))),
        )
    )


def _relation(value: object) -> ImportItem:
    record = mapping(value)
    source, kind = string(record, "source"), string(record, "relationship")
    target = string(record, "target") or string(record, "destination")
    if not (source and kind and target):
        return SkippedRecord("relation", "wrong-shape", failed=True)
    said = f"{source} {kind} {target}".replace("_", " ")
    name = f"{PROGRAM}://relation/{content_id(source, kind, target)}"
    return DraftRecord("relation", (source, kind, target), "", said, "", name, labels=(kind,))


def _blocks(path: Path) -> Iterator[ImportItem]:
    """Blocks between lines of dashes: what is told of a memory, then its words."""
    lines = decode(read_bytes(path, _LARGEST, _WHAT)).split("\n")
    parts = [""]
    for line in lines:
        if line.rstrip() == "---":
            parts.append("")
        else:
            parts[-1] += line + "\n"
    if len(parts) < 3:
        raise InputError(f"{path} is no export of mem0.", f"Name {_WHAT}.")
    for head, text in zip(parts[1::2], parts[2::2], strict=False):
        told: Record = {}
        for line in head.splitlines():
            key, _, value = line.partition(":")
            told[key.strip()] = value.strip()
        told["metadata"] = {"type": told.get("type", ""), "files": _listed(told, "files")}
        yield _memory({**told, "memory": text, "categories": _listed(told, "categories")})


def _listed(told: Record, name: str) -> list[str]:
    return [part.strip() for part in string(told, name).split(",") if part.strip()]
