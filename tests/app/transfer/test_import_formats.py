"""What comes in from files: notes, instructions, and lists of memories."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.memory import Holdfast, open_memory
from holdfast.errors import HoldfastError, InputError
from holdfast.model.imports import ImportedRecord
from holdfast.settings import Settings
from holdfast.sources.imports import mem0
from holdfast.sources.imports.draft import DraftRecord, SkippedRecord
from tests.support.empty_memory import with_empty_memory


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holdfast]:
    folder = tmp_path / "harbour"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with open_memory(with_empty_memory(Settings(tmp_path / "home", tmp_path / "claude"))) as opened:
        yield opened


def imported_records(memory: Holdfast) -> dict[str, tuple[str, str, str]]:
    found = [one for bank in memory.store.banks.all() for one in memory.store.imports.all(bank.id)]
    return {one.origin: (one.kind, one.title, one.text) for one in found}


def test_notes_of_claude_code_are_imported(memory: Holdfast, tmp_path: Path) -> None:
    slug = tmp_path / "claude" / "projects" / "-tmp-harbour"
    (slug / "memory").mkdir(parents=True)
    (slug / "s.jsonl").write_text("no json\n" + json.dumps({"cwd": str(tmp_path / "harbour")}))
    (slug / "memory" / "MEMORY.md").write_text("- [ropes](ropes.md): how ropes are kept\n")
    (slug / "memory" / "ropes.md").write_text(
        "---\nname: ropes\ndescription: How ropes are kept\nmetadata:\n  type: feedback\n---\n"
        "Ropes hang in the loft, never on the floor.\n"
    )
    (slug / "memory" / "large.md").write_text("x" * 1_100_000)
    (slug / "memory" / "away.md").symlink_to("/etc/passwd")
    took = memory.imports.import_records("claude-memory", tmp_path / "claude")
    tallies = {one.bank: one for one in took.banks}
    assert dict(tallies["harbour"].added) == {"note": 1, "index": 1}
    assert dict(tallies[""].failed) == {"too-large": 1}
    shown = memory.show("claude-memory://-tmp-harbour/ropes.md")
    assert isinstance(shown.record, ImportedRecord)
    assert (shown.record.title, shown.record.labels) == ("How ropes are kept", ("feedback",))
    assert memory.recall("where do ropes hang?").hits[0].imported.startswith("claude-memory://")
    assert memory.imports.import_records("claude-memory", slug / "memory").is_empty
    with pytest.raises(InputError, match="no notes"):
        memory.imports.import_records("claude-memory", tmp_path / "home")


MEMORIES: list[dict[str, Any]] = [
    {"id": "m1", "memory": "Ann likes hemp.", "app_id": "harbour", "categories": ["taste"],
     "created_at": "2024-07-01T12:00:00Z", "metadata": {"type": "preference", "files": ["a.py"]}},
    {"id": "m2", "memory": "Old.", "replaced_by": "m1"},
    {"id": "m3", "memory": "  "},
    {"id": "m4"},
]  # fmt: skip


@pytest.mark.parametrize(
    "shape",
    [
        MEMORIES,
        {"results": MEMORIES, "relations": [{"source": "ann", "relationship": "ties_with",
                                             "target": "hemp"}]},
        [{"results": MEMORIES[:2]}, {"results": MEMORIES[2:]}],
    ],
)  # fmt: skip
def test_mem0_memories_are_imported_in_every_shape(
    memory: Holdfast, tmp_path: Path, shape: object
) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(shape))
    took = memory.imports.import_records("mem0", path)
    tallies = {one.bank: one for one in took.banks}
    assert tallies["harbour"].added["memory"] == 1
    assert dict(tallies[""].skipped) == {"superseded": 1, "empty": 1}
    assert dict(tallies[""].failed) == {"wrong-shape": 1}
    shown = memory.show("mem0://memory/m1").record
    assert isinstance(shown, ImportedRecord) and shown.labels == ("preference", "taste")
    lines = tmp_path / "mem0.jsonl"
    lines.write_text("\n".join(json.dumps(one) for one in MEMORIES))
    assert memory.imports.import_records("mem0", lines).is_empty


def test_blocks_of_the_mem0_plugin_are_imported(tmp_path: Path) -> None:
    path = tmp_path / "mem0-export.md"
    path.write_text(
        "---\nid: a1\ncreated_at: 2024-01-01T00:00:00Z\ntype: rule\nfiles: a.py, b.py\n"
        "categories: x, y\n---\nHemp: always.\n\n---\nid: a2\n---\n\n"
    )
    one, two = mem0.read(path)
    assert isinstance(one, DraftRecord) and one.text.strip() == "Hemp: always."
    assert one.files == ("a.py", "b.py") and one.labels == ("rule", "x", "y")
    assert two == SkippedRecord("memory", "empty")


@pytest.mark.parametrize("format", ["claude-mem", "mem0"])
def test_unknown_formats_are_refused_with_a_message(
    memory: Holdfast, tmp_path: Path, format: str
) -> None:
    for number, data in enumerate((
        b"", b"\x00\xff\xfe", b"{", b"[" * 100_000, b'{"a": 1}', b"null", b'"text"',
    )):  # fmt: skip
        path = tmp_path / f"bad{number}.json"
        path.write_bytes(data)
        with pytest.raises(HoldfastError):
            memory.imports.import_records(format, path)
    assert memory.store.records.counts().imported == 0


HALF = "half \ud83d of a character"


def test_files_with_names_that_are_not_utf8_are_imported(memory: Holdfast, tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-p" / "memory"
    folder.mkdir(parents=True)
    try:
        with open(os.fsencode(folder) + b"/b\xff.md", "wb") as file:  # noqa: PTH123 - bytes
            file.write(b"The bow is at the front.")
    except OSError:
        pytest.skip("this file system has no such names")
    assert not memory.imports.import_records("claude-memory", folder, "harbour").is_empty
    assert memory.imports.import_records("claude-memory", folder, "harbour").is_empty
    names = {hit.text for hit in memory.recall("bow front", "harbour").hits}
    assert any("The bow is at the front" in text for text in names)
    assert memory.show("claude-memory://-p/b%FF.md").record is not None
