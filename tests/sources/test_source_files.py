"""Where on disk a line is that was read."""

import json
from pathlib import Path
from typing import Any

from holdfast.sources.source_files import line_on_disk


def exported(tmp_path: Path) -> Path:
    """A session as `opencode export` writes it, over many lines."""
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": "Same words.", "id": "prt_1"},
        {"type": "tool", "state": {"output": "ok"}, "id": "prt_2"},
        {"type": "text", "text": 'Same words.\nThe "key" lacks the tenant.', "id": "prt_3"},
    ]
    document: dict[str, Any] = {"info": {"id": "ses_1"}, "messages": [{"info": {}, "parts": parts}]}
    file = tmp_path / "session.json"
    file.write_text(json.dumps(document, indent=2))
    return file


def line_with(file: Path, text: str, number: int = 0) -> int:
    lines = file.read_text().split("\n")
    return [n for n, line in enumerate(lines, 1) if text in line][number]


def test_words_are_found_on_their_line_of_a_document(tmp_path: Path) -> None:
    file = exported(tmp_path)

    first = line_on_disk(file, "opencode", 2, "Same words.", "prt_1")
    again = line_on_disk(file, "opencode", 4, 'Same words.\nThe "key" lacks', "prt_3")

    assert first == line_with(file, "Same words.")
    assert again == line_with(file, "Same words.", 1)


def test_a_call_without_words_is_where_its_id_is(tmp_path: Path) -> None:
    file = exported(tmp_path)
    assert line_on_disk(file, "opencode", 3, "", "prt_2") == line_with(file, "prt_2")


def test_a_file_of_lines_keeps_the_number_and_a_database_has_none(tmp_path: Path) -> None:
    file = exported(tmp_path)
    assert line_on_disk(file, "claude-code", 7, "Same words.", "prt_1") == 7
    assert line_on_disk(tmp_path / "opencode.db" / "ses_1", "opencode", 7, "Same words.") == 0
    assert line_on_disk(file, "opencode", 7, "Other words.", "prt_9") == 0
