"""The format of an export: JSON, one object a line; the first tells what follows.

A pure function of rows, in version 1 as docs/export-format.md says. The header holds how many lines
of each type follow and a hash of them all, so that what is cut short or changed is noticed before
anything is taken from it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.errors import InputError
from holdfast.store.export_tables import TABLES
from holdfast.store.protocol.export import ExportTable, Row

FORMAT = "holdfast-export"
VERSION = 1
_LONGEST_LINE = 64 * 1024 * 1024
_BY_NAME = {table.name: table for table in TABLES}
# What is made of the rest: told for other programs, and made again when it is read back.
DERIVED_TYPES = ("exchange", "digest", "fact", "concept")
_SCALARS = (str, int, float, bool, type(None))


class Header(NamedTuple):
    """The first line: which version, what was chosen, how many lines of each type, their hash."""

    version: int
    chosen: dict[str, Any]
    counts: dict[str, int]
    hash: str


class ExportLine(NamedTuple):
    """One line: its bank and type, and the row itself."""

    bank: str
    type: str
    row: Row


def encode_line(line: ExportLine) -> bytes:
    """A line as it is written: keys in order, no blanks, ending in a newline."""
    told = {"type": line.type, "bank": line.bank, **line.row}
    return _spelled(told)


def _spelled(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def encode_header(header: Header) -> bytes:
    """The first line."""
    return _spelled(
        {
            "format": FORMAT,
            "version": header.version,
            "chosen": header.chosen,
            "counts": dict(header.counts),
            "hash": header.hash,
        }
    )


class Checksum:
    """Counts and hashes lines as they go by."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._hash = hashlib.blake2b(digest_size=32)

    def add(self, type: str, data: bytes) -> None:
        """One more line."""
        self.counts[type] += 1
        self._hash.update(data)

    @property
    def hash(self) -> str:
        """The hash of all lines so far, newlines included."""
        return f"blake2b:{self._hash.hexdigest()}"


def check_export(path: Path) -> Header:
    """Go through a whole export; says in words what is wrong with it, if anything is."""
    with _opened(path) as file:
        header = _header(path, file.readline(_LONGEST_LINE))
        seen = Checksum()
        for number, data in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 2):
            seen.add(_decoded(path, number, data).type, data)
    if dict(seen.counts) != header.counts or seen.hash != header.hash:
        raise InputError(
            f"{path} is not whole: it does not hold what its first line says.",
            "Export it again, or copy it again; nothing was imported.",
        )
    return header


def read_lines(path: Path) -> Iterator[ExportLine]:
    """The lines of an export that was checked."""
    with _opened(path) as file:
        file.readline(_LONGEST_LINE)
        for number, data in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 2):
            yield _decoded(path, number, data)


def _opened(path: Path) -> Any:
    if not path.is_file():
        raise InputError(f"{path} is not a file.", "Name what `holdfast export` wrote.")
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}.", "Check its permissions."
        ) from error


def _header(path: Path, data: bytes) -> Header:
    told = _object(data)
    if told is None or told.get("format") != FORMAT:
        raise InputError(f"{path} is no export of Holdfast.", "Name what `holdfast export` wrote.")
    version = told.get("version")
    if version != VERSION:
        raise InputError(
            f"{path} is of version {version!r} of the format; {VERSION} is known.",
            "Use the version of Holdfast that wrote it, or a newer one.",
        )
    counts, chosen = told.get("counts"), told.get("chosen")
    if not isinstance(counts, dict) or not isinstance(chosen, dict):
        raise InputError(f"The first line of {path} is not whole.", "Export it again.")
    return Header(
        VERSION, cast(dict[str, Any], chosen), cast(dict[str, int], counts), str(told.get("hash"))
    )


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def _decoded(path: Path, number: int, data: bytes) -> ExportLine:
    told = _object(data)
    type, bank = (told or {}).get("type"), (told or {}).get("bank")
    if told is None or not isinstance(type, str) or not isinstance(bank, str):
        raise InputError(f"Line {number} of {path} is none of an export.", "Export it again.")
    row = {key: value for key, value in told.items() if key not in ("type", "bank")}
    if type in DERIVED_TYPES:
        return ExportLine(bank, type, row)
    table = _BY_NAME.get(type)
    if table is None or set(row) != set(table.fields) or not _fits(table, row):
        raise InputError(
            f"Line {number} of {path} is no {type} as version {VERSION} has them.",
            "Export it again with the version of Holdfast that you have.",
        )
    return ExportLine(bank, type, row)


def _fits(table: ExportTable, row: Row) -> bool:
    return all(
        isinstance(value, list | dict) if name in table.json else isinstance(value, _SCALARS)
        for name, value in row.items()
    )
