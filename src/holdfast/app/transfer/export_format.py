"""The format of an export, version 3 (docs/export-format.md): one JSON object per line.

The first line is a header with the number of lines of each type and a hash of them all, so that a
truncated or changed file is noticed before anything is restored from it. `exporting` chooses the
rows; `export_restore` puts them back.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from holdfast.errors import InputError
from holdfast.store.export_tables import TABLES
from holdfast.store.records.exports import ExportTable, Row

FORMAT = "holdfast-export"
VERSION = 3
# Version 1 has no derived memories; both have what is removed here.
_READABLE_VERSIONS = (1, 2, VERSION)
_REMOVED_FIELDS = {"opinion": ("target", "aspect", "positive", "tension", "settled")}
_REMOVED_TYPE = "review_advice"
# The longest line that is read. A longer one is refused as damaged, so that a file without line
# ends cannot fill the memory of the process.
_MAX_LINE_BYTES = 64 * 1024 * 1024
_TABLE_BY_NAME = {table.name: table for table in TABLES}
# Derived records: exported for other programs, and derived again instead of being restored.
DERIVED_TYPES = ("exchange", "digest", "fact", "memory", "concept")
_SCALARS = (str, int, float, bool, type(None))


class Header(NamedTuple):
    """The first line: the version, what was selected, the number of lines of each type, a hash."""

    version: int
    chosen: dict[str, Any]
    counts: dict[str, int]
    hash: str


class ExportLine(NamedTuple):
    """A line after the first: the bank and type of a row, and the row itself."""

    bank: str
    type: str
    row: Row


def encode_line(line: ExportLine) -> bytes:
    """A line as it is written: sorted keys, no spaces, a newline at the end."""
    return _to_line({"type": line.type, "bank": line.bank, **line.row})


def _to_line(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def encode_header(header: Header) -> bytes:
    return _to_line({"format": FORMAT, **header._asdict()})


class Checksum:
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


def check_export(path: Path) -> Header:
    """Read a whole export and compare it with its header; raises InputError if it is not valid."""
    with _open(path) as file:
        header = _decode_header(path, file.readline(_MAX_LINE_BYTES))
        checksum = Checksum()
        for line, data in _decode_lines(path, file):
            checksum.add(line.type, data)
    if dict(checksum.counts) != header.counts or checksum.hash != header.hash:
        raise InputError(
            f"{path} is incomplete: its content does not match its first line.",
            "Export it again, or copy it again; nothing was imported.",
        )
    return header


def read_lines(path: Path) -> Iterator[ExportLine]:
    """The lines of an export after its header."""
    with _open(path) as file:
        file.readline(_MAX_LINE_BYTES)
        for line, _ in _decode_lines(path, file):
            yield line


def _decode_lines(path: Path, file: BinaryIO) -> Iterator[tuple[ExportLine, bytes]]:
    """The lines after the header, each also as it is written."""
    for number, data in enumerate(iter(lambda: file.readline(_MAX_LINE_BYTES), b""), 2):
        yield _decode_line(path, number, data), data


def _open(path: Path) -> BinaryIO:
    if not path.is_file():
        raise InputError(f"{path} is not a file.", "Name what `holdfast export` wrote.")
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}.", "Check its permissions."
        ) from error


def _decode_header(path: Path, data: bytes) -> Header:
    value = _decode_object(data)
    if value is None or value.get("format") != FORMAT:
        raise InputError(f"{path} is not a Holdfast export.", "Name what `holdfast export` wrote.")
    version = value.get("version")
    if version not in _READABLE_VERSIONS:
        raise InputError(
            f"{path} has version {version!r} of the format, which this program "
            f"cannot read (it reads up to {VERSION}).",
            "Use the version of Holdfast that wrote it, or a newer one.",
        )
    counts, chosen = value.get("counts"), value.get("chosen")
    if not isinstance(counts, dict) or not isinstance(chosen, dict):
        raise InputError(f"The first line of {path} is incomplete.", "Export it again.")
    return Header(
        version, cast(dict[str, Any], chosen), cast(dict[str, int], counts), str(value.get("hash"))
    )


def _decode_object(data: bytes) -> dict[str, Any] | None:
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], found) if isinstance(found, dict) else None


def _decode_line(path: Path, number: int, data: bytes) -> ExportLine:
    value = _decode_object(data)
    type, bank = (value or {}).get("type"), (value or {}).get("bank")
    if value is None or not isinstance(type, str) or not isinstance(bank, str):
        raise InputError(f"Line {number} of {path} is not a line of an export.", "Export it again.")
    left_out = ("type", "bank", *_REMOVED_FIELDS.get(type, ()))
    row = {key: item for key, item in value.items() if key not in left_out}
    if type in (*DERIVED_TYPES, _REMOVED_TYPE):
        return ExportLine(bank, type, row)
    table = _TABLE_BY_NAME.get(type)
    if table is None or set(row) != set(table.fields) or not _has_valid_types(table, row):
        raise InputError(
            f"Line {number} of {path} is not a valid {type} of version {VERSION}.",
            "Export it again with the version of Holdfast that you have.",
        )
    return ExportLine(bank, type, row)


def _has_valid_types(table: ExportTable, row: Row) -> bool:
    return all(
        isinstance(value, list | dict) if name in table.json else isinstance(value, _SCALARS)
        for name, value in row.items()
    )
