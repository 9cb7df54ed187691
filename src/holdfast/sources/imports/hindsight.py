"""Reads Hindsight's memories: a ZIP archive of a bank or of documents, or JSON from its API."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from holdfast.errors import InputError
from holdfast.model.ids import content_id
from holdfast.model.imports import confidence_label
from holdfast.sources.imports.draft import (
    DraftRecord,
    ImportItem,
    SkippedRecord,
    checked,
    load_json,
)
from holdfast.sources.imports.notes import address_part
from holdfast.sources.json_fields import Record, items, mapping, normal_time, string

PROGRAM = "hindsight"
_DESCRIPTION = "an archive that Hindsight exported, or a JSON file of its memories"
_VERSION = 1
# zipfile raises RuntimeError for encrypted archives and ValueError for undecodable names.
_ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)
# Of one file in an archive: it is parsed at once.
_MAX_PART_BYTES = 64 * 1024 * 1024
_MAX_KIND_CHARS = 40
_TIME_FIELDS = ("occurred_start", "mentioned_at", "event_date", "date", "created_at")


def read(path: Path) -> Iterator[ImportItem]:
    """Every fact, observation, document and mental model."""
    if path.is_file() and zipfile.is_zipfile(path):
        yield from _archive(path)
        return
    value = load_json(path, _DESCRIPTION)
    page = mapping(value)
    if "facts" in page:
        yield from _document(page, string(page, "bank_id"))
        return
    listed: object = page.get("items", page.get("memories")) if page else value
    if not isinstance(listed, list):
        raise InputError(f"{path} contains no memories of Hindsight.", f"Name {_DESCRIPTION}.")
    for one in cast(list[Any], listed):
        record = mapping(one)
        if "facts" in record:
            yield from _document(record, string(record, "bank_id"))
        else:
            yield _memory(record, string(record, "bank_id") or string(page, "bank_id"))


def _archive(path: Path) -> Iterator[ImportItem]:
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = mapping(_read_part(archive, "manifest.json"))
            version = manifest.get("schema_version")
            if version != _VERSION:
                raise InputError(
                    f"{path} is an archive of version {version!r}; {_VERSION} is known.",
                    "Export it with a version of Hindsight that writes this one.",
                )
            bank = string(manifest, "source_bank_id")
            for name in sorted(archive.namelist()):
                if name.startswith("documents/") and name.endswith(".json"):
                    yield from _document(mapping(_read_part(archive, name)), bank)
            for one in _list_of_part(archive, "observations.json"):
                yield _memory({"fact_type": "observation", **mapping(one)}, bank)
            for one in _list_of_part(archive, "mental_models.json"):
                yield _mental_model(mapping(one), bank)
    except _ARCHIVE_ERRORS as error:
        raise InputError(
            f"{path} is damaged: {error}.", "Export it again; nothing was imported."
        ) from error


def _read_part(archive: zipfile.ZipFile, name: str) -> Any:
    try:
        entry = archive.getinfo(name)
    except KeyError as error:
        raise InputError(f"The archive has no {name}.", f"Name {_DESCRIPTION}.") from error
    if entry.file_size > _MAX_PART_BYTES:
        raise InputError(
            f"{name} in the archive is larger than {_MAX_PART_BYTES // 1024 // 1024} MB.",
            "Export documents one by one.",
        )
    try:
        with archive.open(entry) as file:
            return json.loads(file.read(_MAX_PART_BYTES + 1))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{name} in the archive is not JSON: {error}.", "Export it again."
        ) from error


def _list_of_part(archive: zipfile.ZipFile, name: str) -> list[Any]:
    if name not in archive.namelist():
        return []
    value = _read_part(archive, name)
    return items(value) or items(mapping(value).get("observations"))


def _document(document: Record, bank: str) -> Iterator[ImportItem]:
    id = string(document, "id")
    if not id:
        yield SkippedRecord("document", "wrong-shape", failed=True)
        return
    uri = f"{PROGRAM}://document/{address_part(id)}"
    text = string(document, "original_text")
    chunks = [string(mapping(one), "chunk_text") for one in items(document.get("chunks"))]
    text = text or "\n\n".join(filter(None, chunks))
    tags = _texts(document.get("tags"))
    time = normal_time(document.get("created_at"))
    yield checked(
        DraftRecord("document", ("document", bank, id), "", text, time, uri, bank, id, (), tags)
    )
    for one in items(document.get("facts")):
        yield _memory(mapping(one), bank, id)


def _memory(record: Record, bank: str, document: str = "") -> ImportItem:
    kind = string(record, "fact_type") or string(record, "type")
    kind = address_part(kind)[:_MAX_KIND_CHARS] or "memory"
    if not isinstance(record.get("text"), str):
        return SkippedRecord(kind, "wrong-shape", failed=True)
    text, context = string(record, "text").strip(), string(record, "context").strip()
    whole = f"{text}\n\n{context}" if context and context not in text else text
    time = next(filter(None, (normal_time(record.get(name)) for name in _TIME_FIELDS)), "")
    document = document or string(record, "document_id")
    # Facts have no ids in an archive: there their text identifies them.
    id = str(record.get("id") or content_id(bank, document, kind, text))
    names = [string(mapping(e), "name") or e for e in items(record.get("entities"))]
    names += string(record, "entities").split(",")
    labels = [kind, *_texts(record.get("tags")), *_texts(names), *_confidence(record)]
    return checked(
        DraftRecord(
            kind, (kind, id), "", whole if text else "", time, f"{PROGRAM}://memory/{address_part(id)}",
            bank, document, (), tuple(dict.fromkeys(labels)),
        )
    )  # fmt: skip


def _confidence(record: Record) -> list[str]:
    """How sure an opinion is, from 0 to 1, as a label."""
    given = record.get("confidence_score", record.get("confidence"))
    if isinstance(given, bool) or not isinstance(given, int | float):
        return []
    return [confidence_label(given)] if 0 <= given <= 1 else []


def _mental_model(record: Record, bank: str) -> ImportItem:
    id = str(record.get("id", ""))
    text = string(record, "content") or string(record, "text") or string(record, "observation")
    title = string(record, "name") or string(record, "subtype")
    time = normal_time(record.get("last_refreshed_at")) or normal_time(record.get("created_at"))
    uri = f"{PROGRAM}://mental-model/{address_part(id)}"
    key = ("mental model", bank, id)
    return checked(
        DraftRecord(
            "mental-model", key, title, text, time, uri, bank, labels=_texts(record.get("tags"))
        )
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one.strip() for one in items(value) if isinstance(one, str) and one.strip())
