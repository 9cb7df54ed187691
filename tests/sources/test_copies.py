"""Copies of files are cut from a line before it is parsed; nothing that is read changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from holdfast.sources.claude_code.records import read_record, without_file_copies
from holdfast.sources.draft import FileInfo

FILE = FileInfo("/p/s.jsonl", "claude-code", "s", "/p")
BULK = 'say "hi", "numLines":1, \\",\\"structuredPatch\\": é\n' * 200
PATCH = [{"newStart": 3, "newLines": 4, "lines": ["+x"]}]
RESULTS: dict[str, dict[str, Any]] = {
    "edit": {"filePath": "/p/a", "oldString": BULK, "originalFile": BULK, "structuredPatch": PATCH},
    "read": {"type": "text", "file": {"filePath": "/p/a", "content": BULK, "numLines": 9}},
    "write": {"type": "update", "filePath": "/p/a", "content": BULK, "structuredPatch": PATCH},
}


def line_of(result: dict[str, Any]) -> bytes:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": BULK}
    record = {
        "type": "user",
        "sessionId": "s",
        "uuid": "u",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": [block]},
        "toolUseResult": result,
        "isMeta": False,
    }
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_a_file_copy_is_removed_and_the_parsed_record_is_the_same(result: dict[str, Any]) -> None:
    line = line_of(result)

    cut = without_file_copies(line)

    assert len(cut) < len(line) - len(BULK.encode())
    assert read_record(orjson.loads(cut), FILE) == read_record(orjson.loads(line), FILE)


def test_a_line_without_the_expected_end_of_the_copy_is_not_changed() -> None:
    line = line_of({"filePath": "/p/a", "content": BULK})

    assert without_file_copies(line) is line


def test_recorded_lines_parse_the_same_without_copies() -> None:
    lines = [
        orjson.dumps(orjson.loads(line))
        for path in (Path(__file__).parent.parent / "recorded").rglob("*.jsonl")
        for line in path.read_bytes().splitlines()
        if b'"toolUseResult"' in line
    ]

    assert lines
    for line in lines:
        padded = line[:1] + b" " * 4000 + line[1:]
        cut = orjson.loads(without_file_copies(padded))
        assert read_record(cut, FILE) == read_record(orjson.loads(line), FILE)
