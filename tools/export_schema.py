"""Writes the JSON Schema of the export format, out of the tables that are carried.

Run it when a table changes: `python tools/export_schema.py`. A test compares the file with what
this makes.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from holdfast.app.transfer.exporting import DERIVED_TYPES, FORMAT, SCHEMA_FILE, VERSION
from holdfast.store.export_tables import TABLES
from holdfast.store.records.exports import ExportTable
from holdfast.store.sqlite.store import SqliteStore

_TYPES = {"TEXT": "string", "INTEGER": "integer", "REAL": "number"}
_LIES_IN = {"withheld_turn": "hidden_record"}
_STRING = {"type": "string"}


def schema() -> dict[str, Any]:
    """The schema of any line."""
    with tempfile.TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "m")) as store:
        known = {table.name: _columns(store, table) for table in TABLES}
    rows = [_row(table, known[table.name]) for table in TABLES]
    derived = [
        {
            "type": "object",
            "properties": {"type": {"const": name}, "bank": _STRING},
            "required": ["type", "bank"],
        }
        for name in DERIVED_TYPES
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of a Holdfast export, version {VERSION}",
        "oneOf": [_header(), *rows, *derived],
    }


def _columns(store: SqliteStore, table: ExportTable) -> dict[str, dict[str, Any]]:
    name = _LIES_IN.get(table.name, table.name)
    found: dict[str, dict[str, Any]] = {"session": _STRING}
    for _, column, type, required, _, key in store.database.all(f'PRAGMA table_info("{name}")'):
        told = _TYPES[type]
        found[column] = {"type": told if required or key else [told, "null"]}
    return found


def _row(table: ExportTable, known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    fields = {name: known[name] for name in table.fields}
    fields |= {name: {"type": ["array", "object"]} for name in table.json}
    return {
        "title": f"{table.name} ({table.group})",
        "type": "object",
        "properties": {"type": {"const": table.name}, "bank": _STRING, **fields},
        "required": ["type", "bank", *fields],
        "additionalProperties": False,
    }


def _header() -> dict[str, Any]:
    counts = {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}}
    return {
        "title": "the first line",
        "type": "object",
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "chosen": {"type": "object"},
            "counts": counts,
            "hash": {"type": "string", "pattern": "^blake2b:[0-9a-f]{64}$"},
        },
        "required": ["format", "version", "chosen", "counts", "hash"],
        "additionalProperties": False,
    }


def spelled() -> str:
    """The schema as it is kept."""
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(spelled(), "utf-8")
