"""The whole memory, or a part of it, as files that any program can read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.app.transfer.export_format import (
    VERSION,
    Header,
    ExportLine,
    Checksum,
    encode_line,
    encode_header,
)
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, StoreError
from holdfast.model.bank import Bank
from holdfast.model.to_json import to_jsonable
from holdfast.store.export_tables import GROUPS, TABLES
from holdfast.store.protocol import Reader
from holdfast.store.protocol.export import ExportSelection, ExportTable, Row

# What a line looks like, for programs that check it.
SCHEMA_FILE = Path(__file__).with_name("export-1.schema.json")
_PIECE = 1024 * 1024
_ALL = 1_000_000
_NAMES = ("id", "session", "evidence", "members", "supersedes", "superseded_by")
# Called with how many lines are written, and 0: how many there will be is known in the end.
Tick = Callable[[int, int], None]


class ExportReport(NamedTuple):
    """What was written, and where."""

    path: Path
    counts: dict[str, int]
    bytes: int


class ExportRequest(NamedTuple):
    """What is to be exported: of which banks, what of them, and whether also what is made of it."""

    banks: tuple[Bank, ...]
    selection: ExportSelection = ExportSelection()
    derived: bool = False


def check_groups(groups: Sequence[str]) -> None:
    """Refuse a kind that there is not."""
    for group in groups:
        if group not in GROUPS:
            raise InputError(f"There is no kind {group!r}.", f"One of: {', '.join(GROUPS)}.")


def write_export(
    reader: Reader,
    path: Path,
    wanted: ExportRequest,
    patterns: Sequence[tuple[str, str]] = (),
    tick: Tick = lambda done, total: None,
) -> ExportReport:
    """Write an export: beside its place first, then into it, so that it is there whole or not at
    all."""
    if path.is_dir():
        raise InputError(f"{path} is a folder.", "Name a file, such as memory.jsonl.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"There is no folder {path.parent}.", "Make it first.")
    body = path.with_name(f".{path.name}.{os.getpid()}.body")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    seen = Checksum()
    try:
        with _private(body) as file:
            for number, line in enumerate(export_lines(reader, wanted, patterns), 1):
                data = encode_line(line)
                seen.add(line.type, data)
                file.write(data)
                tick(number, number)
        chosen = {
            "banks": len(wanted.banks),
            "kinds": list(wanted.selection.groups or GROUPS),
            "since": wanted.selection.since,
            "until": wanted.selection.until,
            "derived": wanted.derived,
        }
        header = Header(VERSION, chosen, dict(sorted(seen.counts.items())), seen.hash)
        with _private(part) as file, body.open("rb") as whole:
            file.write(encode_header(header))
            while piece := whole.read(_PIECE):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise StoreError(
            f"Nothing can be written to {path}: {error.strerror or error}.",
            "Choose another place; what was there is as it was.",
        ) from error
    finally:
        for left in (body, part):
            with suppress(OSError):
                left.unlink()
    return ExportReport(path, header.counts, path.stat().st_size)


def _private(path: Path) -> Any:
    """A new file that only its owner may read: it holds a memory."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def export_lines(
    reader: Reader, wanted: ExportRequest, patterns: Sequence[tuple[str, str]] = ()
) -> Iterator[ExportLine]:
    """The lines of an export, without its header, in a fixed order."""
    clean = _Cleaner(Redactor(patterns))
    numbers = _numbers(reader, wanted)
    for bank in sorted(wanted.banks, key=lambda one: one.id):
        for table in TABLES:
            if table.group != "bank" and table.group not in (wanted.selection.groups or GROUPS):
                continue
            rows = reader.exported_rows(bank.id, table, wanted.selection)
            if table.name == "source":
                rows = iter(sorted(rows, key=lambda row: row["path"]))
            for row in rows:
                row = _numbered(table, row, numbers)
                yield ExportLine(bank.id, table.name, clean(table, row))
        if wanted.derived:
            for line in _derived(reader, bank.id, wanted.selection):
                yield line._replace(row=clean.all(line.row))


def _numbers(reader: Reader, wanted: ExportRequest) -> dict[int, int]:
    """Sources are numbered by their paths, so that it does not matter in which order they came."""
    banks = {bank.id for bank in wanted.banks}
    known = sorted((s.path, s.id) for s in reader.sources() if s.bank in banks)
    return {id: number for number, (_, id) in enumerate(known, 1)}


def _numbered(table: ExportTable, row: Row, numbers: dict[int, int]) -> Row:
    key = "id" if table.name == "source" else "source"
    if table.group == "sessions" and key in row:
        return {**row, key: numbers.get(row[key], 0)}
    return row


class _Cleaner:
    """Takes out what the settings of today hold for a secret, whatever they were when it came."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def __call__(self, table: ExportTable, row: Row) -> Row:
        return row | {name: self._value(row[name]) for name in table.words}

    def all(self, row: Row) -> Row:
        """The same for whatever holds words; names of records hold none."""
        return {key: v if key in _NAMES else self._value(v) for key, v in row.items()}

    def _value(self, value: Any) -> Any:
        if isinstance(value, str) and value:
            return self._redactor.redact(value).text
        if isinstance(value, dict):
            return self.all(cast(Row, value))
        if isinstance(value, list):
            return [self._value(item) for item in cast(list[Any], value)]
        return value


def _derived(reader: Reader, bank: str, chosen: ExportSelection) -> Iterator[ExportLine]:
    """What is made of a bank's sessions, told as everywhere else."""

    def within(first: str, last: str) -> bool:
        return (not chosen.since or last >= chosen.since) and (
            not chosen.until or first <= chosen.until
        )

    for session in sorted(reader.sessions(bank, _ALL), key=lambda one: one.id):
        if not within(session.started, session.ended):
            continue
        for exchange in reader.exchanges(bank, session.id):
            yield _line("exchange", exchange)
        digest = reader.digest_of(bank, session.id)
        if digest is not None:
            yield _line("digest", digest)
    for fact in sorted(reader.facts(bank), key=lambda one: one.id):
        if within(fact.validity.learned, fact.validity.learned):
            yield _line("fact", fact)
    for concept in sorted(reader.concepts(bank, _ALL), key=lambda one: one.id):
        if within(concept.founded, concept.updated):
            yield _line("concept", concept)


def _line(type: str, record: Any) -> ExportLine:
    row: Row = to_jsonable(record)
    bank = row.pop("bank")
    return ExportLine(bank, type, {f"{key}_" if key == "type" else key: row[key] for key in row})
