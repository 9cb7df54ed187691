"""An export as JSON lines, version 3 of the format (docs/export-format.md): writing and checking.

The first line is a header with the number of lines of each type and a hash of them all, so that a
truncated or changed file is noticed before anything is restored from it (`export_restore`). Texts
are redacted once more, because the patterns may have changed since they were stored.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, StoreError
from holdfast.model.bank import Bank
from holdfast.model.records import Session
from holdfast.model.to_json import to_jsonable
from holdfast.operating_system import replace_file
from holdfast.store.export_tables import GROUPS, TABLES
from holdfast.store.protocol import Reader
from holdfast.store.records.exports import ExportSelection, ExportTable, Row

FORMAT = "holdfast-export"
VERSION = 3
# The JSON Schema of a line, for programs that check an export.
SCHEMA_FILE = Path(__file__).with_name("export-3.schema.json")
TABLE_BY_NAME = {table.name: table for table in TABLES}
# Derived records: exported for other programs, and derived again instead of being restored.
DERIVED_TYPES = ("exchange", "digest", "fact", "memory", "concept")
# Version 1 has no derived memories; both have what is removed here.
_READABLE_VERSIONS = (1, 2, VERSION)
_REMOVED_FIELDS = {"opinion": ("target", "aspect", "positive", "tension", "settled")}
_REMOVED_TYPE = "review_advice"
# The longest line that is read. A longer one is refused as damaged, so that a file without line
# ends cannot fill the memory of the process.
_MAX_LINE_BYTES = 64 * 1024 * 1024
_SCALARS = (str, int, float, bool, type(None))
# Larger than any bank: asks the store for all records.
NO_LIMIT = 1_000_000
# Fields of derived records that hold ids and URIs, not text. They are not redacted.
_REFERENCE_FIELDS = (
    "id", "session", "evidence", "evidence_for", "evidence_against", "members", "supersedes",
    "superseded_by",
)  # fmt: skip


class ExportRequest(NamedTuple):
    """What to export: banks, which of their rows, and whether derived records too."""

    banks: tuple[Bank, ...]
    selection: ExportSelection = ExportSelection()
    derived: bool = False


class Exported(NamedTuple):
    """What was written: the lines by type, or notes; how many notes were removed because their
    records are gone, and the files that were left alone because somebody made or changed them."""

    path: str
    bytes: int
    counts: dict[str, int]
    removed: int = 0
    left_alone: tuple[str, ...] = ()


class ExportLine(NamedTuple):
    """A line after the first: the bank and type of a row, and the row itself."""

    bank: str
    type: str
    row: Row


class _Checksum:
    """Counts and hashes lines one by one."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._hash = hashlib.blake2b(digest_size=32)

    def add(self, type: str, data: bytes) -> None:
        self.counts[type] += 1
        self._hash.update(data)

    @property
    def hash(self) -> str:
        """The hash of all lines so far, newlines included."""
        return f"blake2b:{self._hash.hexdigest()}"


def is_within(selection: ExportSelection, first: str, last: str) -> bool:
    """Whether something that lasted from `first` to `last` is selected."""
    return last >= selection.since and (not selection.until or first <= selection.until)


def selected_sessions(reader: Reader, bank: str, selection: ExportSelection) -> list[Session]:
    """The sessions of a bank that are selected."""
    found = reader.sessions.latest(bank, NO_LIMIT)
    return [one for one in found if is_within(selection, one.started, one.ended)]


def write_export(
    reader: Reader,
    path: Path,
    request: ExportRequest,
    patterns: Sequence[tuple[str, str]] = (),
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Exported:
    """Write an export to a temporary file and rename it, so that it is complete or absent."""
    if path.is_dir():
        raise InputError(f"{path} is a folder.", "Name a file, such as memory.jsonl.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"There is no folder {path.parent}.", "Make it first.")
    body, part = (path.with_name(f".{path.name}.{os.getpid()}.{end}") for end in ("body", "part"))
    checksum = _Checksum()
    try:
        with _create_private(body) as file:
            for number, line in enumerate(export_lines(reader, request, patterns), 1):
                data = _encode({"type": line.type, "bank": line.bank, **line.row})
                checksum.add(line.type, data)
                file.write(data)
                on_progress(number, number)
        header = {
            "format": FORMAT,
            "version": VERSION,
            "chosen": {
                "banks": len(request.banks),
                "kinds": list(request.selection.groups or GROUPS),
                "since": request.selection.since,
                "until": request.selection.until,
                "derived": request.derived,
            },
            "counts": dict(sorted(checksum.counts.items())),
            "hash": checksum.hash,
        }
        with _create_private(part) as file, body.open("rb") as whole:
            file.write(_encode(header))
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
    return Exported(str(path), path.stat().st_size, dict(sorted(checksum.counts.items())))


def _encode(value: object) -> bytes:
    """A line as it is written: sorted keys, no spaces, a newline at the end."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def _create_private(path: Path) -> BinaryIO:
    """Create a file that only its owner can read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def export_lines(
    reader: Reader, request: ExportRequest, patterns: Sequence[tuple[str, str]] = ()
) -> Iterator[ExportLine]:
    """The lines of an export, without its header, in a fixed order. Sources are numbered in the
    order of their paths, so that it does not depend on that in which they were read."""
    redactor, selection = Redactor(patterns), request.selection
    banks = {bank.id for bank in request.banks}
    sources = sorted((s.path, s.id) for s in reader.sources.all() if s.bank in banks)
    numbers = {id: number for number, (_, id) in enumerate(sources, 1)}
    for bank in sorted(banks):
        for table in TABLES:
            if table.group != "bank" and table.group not in (selection.groups or GROUPS):
                continue
            rows = reader.exports.rows(bank, table, selection)
            if table.name == "source":
                rows = iter(sorted(rows, key=lambda row: row["path"]))
            key = "id" if table.name == "source" else "source"
            for row in rows:
                if table.group == "sessions" and key in row:
                    row = {**row, key: numbers.get(row[key], 0)}
                cleaned = {name: _redact(redactor, row[name]) for name in table.words}
                yield ExportLine(bank, table.name, row | cleaned)
        for type, record in _derived(reader, bank, selection) if request.derived else ():
            row = {f"{k}_" if k == "type" else k: v for k, v in to_jsonable(record).items()}
            yield ExportLine(row.pop("bank"), type, _redact(redactor, row))


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


def _derived(reader: Reader, bank: str, selection: ExportSelection) -> Iterator[tuple[str, Any]]:
    """The derived records of a bank, each with its type."""

    for session in sorted(selected_sessions(reader, bank, selection), key=lambda one: one.id):
        for exchange in reader.sessions.exchanges(bank, session.id):
            yield "exchange", exchange
        if digest := reader.sessions.digest(bank, session.id):
            yield "digest", digest
    spans: dict[str, list[tuple[Any, str, str]]] = {
        "fact": [(f, f.validity.learned, f.validity.learned) for f in reader.facts.all(bank)],
        "memory": [(m, m.when, m.when) for m in reader.memories.retained(bank, limit=NO_LIMIT)],
        "concept": [(c, c.founded, c.updated) for c in reader.concepts.latest(bank, NO_LIMIT)],
    }
    for type, found in spans.items():
        for record, first, last in sorted(found, key=lambda one: one[0].id):
            if is_within(selection, first, last):
                yield type, record


def check_export(path: Path) -> dict[str, int]:
    """Read a whole export and compare it with its header; returns its lines by type, and raises
    InputError if it is not valid."""
    with _open(path) as file:
        header = _read_object(file.readline(_MAX_LINE_BYTES))
        if header.get("format") != FORMAT:
            raise InputError(
                f"{path} is not a Holdfast export.", "Name what `holdfast export` wrote."
            )
        if header.get("version") not in _READABLE_VERSIONS:
            raise InputError(
                f"{path} has version {header.get('version')!r} of the format, which this program "
                f"cannot read (it reads up to {VERSION}).",
                "Use the version of Holdfast that wrote it, or a newer one.",
            )
        checksum = _Checksum()
        for line, data in _lines(path, file):
            checksum.add(line.type, data)
    if checksum.counts != header.get("counts") or checksum.hash != header.get("hash"):
        raise InputError(
            f"{path} is incomplete: its content does not match its first line.",
            "Export it again, or copy it again; nothing was imported.",
        )
    return dict(checksum.counts)


def read_lines(path: Path) -> Iterator[ExportLine]:
    """The lines of an export after its header."""
    with _open(path) as file:
        file.readline(_MAX_LINE_BYTES)
        for line, _ in _lines(path, file):
            yield line


def _open(path: Path) -> BinaryIO:
    if not path.is_file():
        raise InputError(f"{path} is not a file.", "Name what `holdfast export` wrote.")
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}.", "Check its permissions."
        ) from error


def _read_object(data: bytes) -> dict[str, Any]:
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def _lines(path: Path, file: BinaryIO) -> Iterator[tuple[ExportLine, bytes]]:
    """The lines after the header, each also as it is written."""
    for number, data in enumerate(iter(lambda: file.readline(_MAX_LINE_BYTES), b""), 2):
        value = _read_object(data)
        type, bank = value.get("type"), value.get("bank")
        if not isinstance(type, str) or not isinstance(bank, str):
            raise InputError(
                f"Line {number} of {path} is not a line of an export.", "Export it again."
            )
        left_out = ("type", "bank", *_REMOVED_FIELDS.get(type, ()))
        row = {key: item for key, item in value.items() if key not in left_out}
        table = TABLE_BY_NAME.get(type)
        is_derived = type in (*DERIVED_TYPES, _REMOVED_TYPE)
        if not is_derived and (table is None or not _is_row(table, row)):
            raise InputError(
                f"Line {number} of {path} is not a valid {type} of version {VERSION}.",
                "Export it again with the version of Holdfast that you have.",
            )
        yield ExportLine(bank, type, row), data


def _is_row(table: ExportTable, row: Row) -> bool:
    return set(row) == set(table.fields) and all(
        isinstance(value, list | dict) if name in table.json else isinstance(value, _SCALARS)
        for name, value in row.items()
    )
