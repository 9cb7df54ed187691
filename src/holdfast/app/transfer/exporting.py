"""Writing an export: the rows of chosen banks as JSON lines, redacted. See `export_format`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.app.transfer.export_format import (
    VERSION,
    Checksum,
    ExportLine,
    Header,
    encode_header,
    encode_line,
)
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, StoreError
from holdfast.model.bank import Bank
from holdfast.model.records import Session
from holdfast.model.to_json import to_jsonable
from holdfast.operating_system import replace_file
from holdfast.store.export_tables import GROUPS, TABLES
from holdfast.store.protocol import Reader
from holdfast.store.records.exports import ExportSelection, ExportTable, Row

# The JSON Schema of a line, for programs that check an export.
SCHEMA_FILE = Path(__file__).with_name("export-3.schema.json")
# Larger than any bank: asks the store for all records.
NO_LIMIT = 1_000_000
# Fields of derived records that hold ids and URIs, not text. They are not redacted.
_REFERENCE_FIELDS = (
    "id", "session", "evidence", "evidence_for", "evidence_against", "members", "supersedes",
    "superseded_by",
)  # fmt: skip
# Called with the number of lines written so far, twice: the total is known only in the end.
OnProgress = Callable[[int, int], None]


class ExportReport(NamedTuple):
    """The file that was written, its lines by type, and its size."""

    path: Path
    counts: dict[str, int]
    bytes: int


class ExportRequest(NamedTuple):
    """What to export: banks, which of their rows, and whether derived records too."""

    banks: tuple[Bank, ...]
    selection: ExportSelection = ExportSelection()
    derived: bool = False


def is_within(selection: ExportSelection, first: str, last: str) -> bool:
    """Whether something that lasted from `first` to `last` is selected."""
    return last >= selection.since and (not selection.until or first <= selection.until)


def selected_sessions(reader: Reader, bank: str, selection: ExportSelection) -> list[Session]:
    """The sessions of a bank that are selected."""
    found = reader.sessions.latest(bank, NO_LIMIT)
    return [one for one in found if is_within(selection, one.started, one.ended)]


def check_groups(groups: Sequence[str]) -> None:
    """Refuse a kind of record that does not exist."""
    for group in groups:
        if group not in GROUPS:
            raise InputError(f"There is no kind {group!r}.", f"One of: {', '.join(GROUPS)}.")


def write_export(
    reader: Reader,
    path: Path,
    request: ExportRequest,
    patterns: Sequence[tuple[str, str]] = (),
    on_progress: OnProgress = lambda done, total: None,
) -> ExportReport:
    """Write an export to a temporary file and rename it, so that it is complete or absent. Secrets
    are redacted by today's `patterns`."""
    if path.is_dir():
        raise InputError(f"{path} is a folder.", "Name a file, such as memory.jsonl.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"There is no folder {path.parent}.", "Make it first.")
    body = path.with_name(f".{path.name}.{os.getpid()}.body")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    checksum = Checksum()
    try:
        with _create_private(body) as file:
            for number, line in enumerate(export_lines(reader, request, patterns), 1):
                data = encode_line(line)
                checksum.add(line.type, data)
                file.write(data)
                on_progress(number, number)
        chosen = {
            "banks": len(request.banks),
            "kinds": list(request.selection.groups or GROUPS),
            "since": request.selection.since,
            "until": request.selection.until,
            "derived": request.derived,
        }
        header = Header(VERSION, chosen, dict(sorted(checksum.counts.items())), checksum.hash)
        with _create_private(part) as file, body.open("rb") as whole:
            file.write(encode_header(header))
            shutil.copyfileobj(whole, file)
            file.flush()
            os.fsync(file.fileno())
        replace_file(part, path)
    except OSError as error:
        raise StoreError(
            f"Nothing can be written to {path}: {error.strerror or error}.",
            "Choose another place; nothing was changed.",
        ) from error
    finally:
        for leftover in (body, part):
            with suppress(OSError):
                leftover.unlink()
    return ExportReport(path, header.counts, path.stat().st_size)


def _create_private(path: Path) -> Any:
    """Create a file that only its owner can read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def export_lines(
    reader: Reader, request: ExportRequest, patterns: Sequence[tuple[str, str]] = ()
) -> Iterator[ExportLine]:
    """The lines of an export, without its header, in a fixed order. Texts are redacted once more,
    because the patterns may have changed since they were stored."""
    redactor = Redactor(patterns)
    numbers = _source_numbers(reader, request)
    for bank in sorted(request.banks, key=lambda one: one.id):
        for table in TABLES:
            if table.group != "bank" and table.group not in (request.selection.groups or GROUPS):
                continue
            rows = reader.exports.rows(bank.id, table, request.selection)
            if table.name == "source":
                rows = iter(sorted(rows, key=lambda row: row["path"]))
            for row in rows:
                cleaned = {name: _redact(redactor, row[name]) for name in table.words}
                yield ExportLine(bank.id, table.name, _renumber(table, row, numbers) | cleaned)
        if request.derived:
            for line in _derived_lines(reader, bank.id, request.selection):
                yield line._replace(row=_redact(redactor, line.row))


def _source_numbers(reader: Reader, request: ExportRequest) -> dict[int, int]:
    """Numbers for the sources, in the order of their paths, so that the export does not depend on
    the order in which they were read."""
    banks = {bank.id for bank in request.banks}
    known = sorted((s.path, s.id) for s in reader.sources.all() if s.bank in banks)
    return {id: number for number, (_, id) in enumerate(known, 1)}


def _renumber(table: ExportTable, row: Row, numbers: dict[int, int]) -> Row:
    key = "id" if table.name == "source" else "source"
    if table.group == "sessions" and key in row:
        return {**row, key: numbers.get(row[key], 0)}
    return row


def _redact(redactor: Redactor, value: Any) -> Any:
    """A value with every text in it redacted."""
    if isinstance(value, str) and value:
        return redactor.redact(value).text
    if isinstance(value, dict):
        return {
            key: item if key in _REFERENCE_FIELDS else _redact(redactor, item)
            for key, item in cast(Row, value).items()
        }
    if isinstance(value, list):
        return [_redact(redactor, item) for item in cast(list[Any], value)]
    return value


def _derived_lines(reader: Reader, bank: str, selection: ExportSelection) -> Iterator[ExportLine]:
    """The derived records of a bank, in the form that other JSON output has."""
    for session in sorted(selected_sessions(reader, bank, selection), key=lambda one: one.id):
        for exchange in reader.sessions.exchanges(bank, session.id):
            yield _line("exchange", exchange)
        digest = reader.sessions.digest(bank, session.id)
        if digest is not None:
            yield _line("digest", digest)
    for fact in sorted(reader.facts.all(bank), key=lambda one: one.id):
        if is_within(selection, fact.validity.learned, fact.validity.learned):
            yield _line("fact", fact)
    for memory in sorted(reader.memories.retained(bank, limit=NO_LIMIT), key=lambda one: one.id):
        if is_within(selection, memory.when, memory.when):
            yield _line("memory", memory)
    for concept in sorted(reader.concepts.latest(bank, NO_LIMIT), key=lambda one: one.id):
        if is_within(selection, concept.founded, concept.updated):
            yield _line("concept", concept)


def _line(type: str, record: Any) -> ExportLine:
    row: Row = to_jsonable(record)
    bank = row.pop("bank")
    return ExportLine(bank, type, {f"{key}_" if key == "type" else key: row[key] for key in row})
