"""What comes in from files: notes, instructions, and lists of memories."""

from __future__ import annotations

import json
import os
import random
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.app.answers.search_tools import SearchTools
from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.transfer.imports import FORMATS
from holdfast.errors import HoldfastError, InputError
from holdfast.model.imports import ImportedRecord
from holdfast.settings import Settings
from holdfast.sources.imports import basic_memory, hindsight, mem0
from holdfast.sources.imports.draft import DraftRecord, SkippedRecord
from tests.support.empty_memory import with_empty_memory

NOTE = """\
---
title: Rig Service
type: component
permalink: rig/service
created: 2024-12-21T14:00:00Z
tags: [rigging, "core"]
---

# Rig Service

Keeps track of every rope.

## Observations
- [design] Ropes are numbered from the bow #numbers (since 2020)
- [ ] a box to tick
- [00:12] a clock is no category
- hemp only, no cotton #material

```
- [code] this is none
```

## Relations
- implements [[Rope Standard]] (all of it)
- "stands in for" [[Old Rig|the old one]]
- see also [[Harbour]] for more
"""


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


def test_basic_memory_notes_observations_and_relations_are_imported(
    memory: Holdfast, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    (notes / "deep").mkdir(parents=True)
    (notes / "deep" / "Rig Service.md").write_text(NOTE)
    (notes / "bare.md").write_text("No frontmatter at all.")
    (notes / "other.txt").write_text("not a note")
    (notes / ".hidden.md").write_text("not a note")
    (notes / "away.md").symlink_to("/etc/passwd")
    took = memory.imports.import_records("basic-memory", notes)
    assert took.uri and dict(took.tallies[0][1].added) == {
        "note": 2, "observation": 2, "relation": 2,
    }  # fmt: skip
    found = imported_records(memory)
    assert found["memory://bare"] == ("note", "bare", "No frontmatter at all.")
    kind, title, text = found["memory://rig/service"]
    assert (kind, title) == ("note", "Rig Service") and "Keeps track of every rope" in text
    assert "[code] this is none" in text and "implements" not in text and "see also" in text
    assert ("relation", "", "Rig Service implements Rope Standard (all of it)") in found.values()
    assert ("relation", "", "Rig Service stands in for Old Rig") in found.values()
    said = "Ropes are numbered from the bow #numbers (since 2020)"
    assert ("observation", "Rig Service", said) in found.values()
    shown = memory.show("memory://rig/service").record
    assert isinstance(shown, ImportedRecord) and shown.labels == ("component", "rigging", "core")
    assert shown.time == "2024-12-21T14:00:00.000Z"
    assert memory.recall("from where are ropes numbered?").hits[0].imported.startswith("memory://")
    assert memory.imports.import_records("basic-memory", notes).is_empty
    (notes / "bare.md").write_text("Said anew.")
    assert dict(memory.imports.import_records("basic-memory", notes).tallies[0][1].changed) == {
        "note": 1
    }


def test_notes_and_instructions_of_claude_code_are_imported(
    memory: Holdfast, tmp_path: Path
) -> None:
    project = tmp_path / "harbour"
    slug = tmp_path / "claude" / "projects" / "-tmp-harbour"
    (slug / "memory").mkdir(parents=True)
    (slug / "s.jsonl").write_text("no json\n" + json.dumps({"cwd": str(project)}) + "\n")
    (slug / "memory" / "MEMORY.md").write_text("- [ropes](ropes.md): how ropes are kept\n")
    (slug / "memory" / "ropes.md").write_text(
        "---\nname: ropes\ndescription: How ropes are kept\nmetadata:\n  type: feedback\n---\n"
        "Ropes hang in the loft, never on the floor.\n"
    )
    (tmp_path / "claude" / "CLAUDE.md").write_text("# Style\nShort words.\n\n# Style\nAgain.\n")
    took = memory.imports.import_records("claude-memory", tmp_path / "claude")
    ((bank, tally),) = took.tallies
    assert bank == "harbour"
    assert dict(tally.added) == {"note": 1, "index": 1, "instruction": 2}
    shown = memory.show("claude-memory://-tmp-harbour/ropes.md")
    assert isinstance(shown.record, ImportedRecord)
    assert (shown.record.title, shown.record.labels) == ("How ropes are kept", ("feedback",))
    other = tmp_path / "quay"
    other.mkdir()
    (other / "CLAUDE.md").write_text("Always splice, never knot.")
    took = memory.imports.import_records("claude-memory", other, dry_run=True)
    assert [bank for bank, _ in took.tallies] == ["quay"]
    took = memory.imports.import_records("claude-memory", other / "CLAUDE.md")
    assert [(bank, dict(tally.added)) for bank, tally in took.tallies] == [
        ("harbour", {"instruction": 1})
    ]
    hit = memory.recall("splice or knot?").hits[0]
    assert hit.imported == f"claude-memory://{other.as_posix()}/CLAUDE.md"
    with pytest.raises(InputError, match="neither notes nor instructions"):
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
    tallies = dict(took.tallies)
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


def an_archive(path: Path, version: int = 1) -> Path:
    document = {
        "id": "log 1", "original_text": "The whole log.", "tags": ["log"],
        "facts": [{"text": "Bo mends nets.", "fact_type": "world", "entities": ["Bo"],
                   "occurred_start": "2024-05-01T00:00:00Z"}, {"text": 3}],
    }  # fmt: skip
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "manifest.json", json.dumps({"schema_version": version, "source_bank_id": "harbour"})
        )
        archive.writestr("documents/000000.json", json.dumps(document))
        archive.writestr("observations.json", json.dumps([{"text": "Nets are mended often."}]))
        archive.writestr("mental_models.json", json.dumps([{"id": "n", "name": "Nets",
                                                            "content": "Of hemp."}]))  # fmt: skip
    return path


def test_a_hindsight_archive_and_its_api_lists_are_imported(
    memory: Holdfast, tmp_path: Path
) -> None:
    took = memory.imports.import_records("hindsight", an_archive(tmp_path / "bank.zip"))
    added = dict(dict(took.tallies)["harbour"].added)
    assert added == {"document": 1, "world": 1, "observation": 1, "mental-model": 1}
    assert dict(dict(took.tallies)[""].failed) == {"wrong-shape": 1}
    assert memory.recall("who mends nets?", bank="harbour").hits
    assert memory.imports.import_records("hindsight", tmp_path / "bank.zip").is_empty
    listed = {"items": [{"id": "u1", "text": "Bo sails.", "fact_type": "experience",
                         "entities": "Bo, sail", "date": "2024-05-01"}], "total": 1}  # fmt: skip
    (tmp_path / "list.json").write_text(json.dumps(listed))
    (one,) = hindsight.read(tmp_path / "list.json")
    assert isinstance(one, DraftRecord) and one.labels == ("experience", "Bo", "sail")
    with pytest.raises(InputError, match="version 9"):
        memory.imports.import_records("hindsight", an_archive(tmp_path / "new.zip", 9))


@pytest.mark.parametrize("field", ["confidence", "confidence_score"])
def test_the_confidence_of_an_opinion_survives_a_hindsight_import(
    memory: Holdfast, tmp_path: Path, field: str
) -> None:
    opinion = {"text": "Hemp ropes are worth it.", "fact_type": "opinion", field: 0.85}
    items = [
        {"id": "u1", **opinion},
        {"id": "u2", **opinion, "text": "Hemp ropes rot.", field: 17},
        {"id": "u3", "text": "Bo."},
    ]
    listed = {"bank_id": "harbour", "items": items}
    (tmp_path / "list.json").write_text(json.dumps(listed))
    memory.imports.import_records("hindsight", tmp_path / "list.json")
    (found,) = memory.reader.imports.by_origin(None, "hindsight://memory/u1")
    assert found.confidence == 0.85 and "confidence 0.85" in found.labels
    for other in ("u2", "u3"):
        (without,) = memory.reader.imports.by_origin(None, f"hindsight://memory/{other}")
        assert without.confidence is None
    with SearchTools.open(memory.settings, "all") as search:
        asked = {"query": "hemp ropes", "days": 0}
        entries = search.call("search_observations", asked)["items"]
    assert {entry.get("confidence") for entry in entries} == {0.85, None}


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "holdfast"])
def test_unknown_formats_are_refused_with_a_message(
    memory: Holdfast, tmp_path: Path, format: str
) -> None:
    whole = an_archive(tmp_path / "whole.zip").read_bytes()
    for number, data in enumerate((
        b"", b"\x00\xff\xfe", b"{", b"[" * 100_000, b'{"a": 1}', b"null", b'"text"', whole[:300],
        whole[:60] + b"\x00" * 40 + whole[100:],
    )):  # fmt: skip
        folder = tmp_path / f"bad{number}"
        folder.mkdir()
        path = folder / "file.json"
        path.write_bytes(data)
        if format == "basic-memory" or format == "claude-memory":
            memory.imports.import_records(format, path, dry_run=True)  # any text may be a note
            continue
        with pytest.raises(HoldfastError):
            memory.imports.import_records(format, path)
    assert memory.store.records.counts().imported == 0


@pytest.mark.slow
@settings(max_examples=150)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=40),
            st.sampled_from(
                ["---", "- [a] b #c (d)", "- x [[Y]]", "- [[", "```", "# Observations", "a: [b",
                 "  b: c", "- [x] y", "(" * 50, "- [" + "a" * 90 + "] " + "(" * 90, "tags:", "- t"]
            ),
        ),
        max_size=20,
    )
)  # fmt: skip
def test_any_markdown_is_read_and_every_observation_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.md"
    path.write_bytes("\n".join(lines).encode("utf-8", "replace"))
    found = list(basic_memory.read(path))
    assert found and all(isinstance(one, DraftRecord | SkippedRecord) for one in found)


def test_a_file_that_is_too_large_is_reported(memory: Holdfast, tmp_path: Path) -> None:
    (tmp_path / "large.md").write_text("x" * 1_100_000)
    took = memory.imports.import_records("basic-memory", tmp_path / "large.md")
    assert dict(took.tallies[0][1].failed) == {"too-large": 1} and took.uri == ""


HALF = "half \ud83d of a character"
ODD = {
    "mem0": [{"id": "a\ud800", "memory": HALF, "app_id": "har\x1b\ud800bour"}],
    "hindsight": {
        "items": [{"id": "a\ud800", "text": HALF, "tags": ["\udfff"], "fact_type": "\x1b[2J"}]
    },
}


@pytest.mark.parametrize("format", ODD)
def test_lone_surrogates_are_imported_as_replacement_characters(
    memory: Holdfast, tmp_path: Path, format: str
) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(ODD[format]))
    took = memory.imports.import_records(format, path)
    assert sum(tally.added.total() for _, tally in took.tallies) == 1
    (found,) = memory.recall("half of a character", "all").hits
    assert "half \ufffd of a character" in found.text
    assert not any("\x1b" in bank.name for bank in memory.reader.banks.all())
    assert memory.imports.import_records(format, path).is_empty


def test_files_with_names_that_are_not_utf8_are_imported(memory: Holdfast, tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-p" / "memory"
    folder.mkdir(parents=True)
    try:
        with open(os.fsencode(folder) + b"/b\xff.md", "wb") as file:  # noqa: PTH123 - bytes
            file.write(b"The bow is at the front.")
    except OSError:
        pytest.skip("this file system has no such names")
    for format in ("claude-memory", "basic-memory"):
        assert not memory.imports.import_records(format, folder, "harbour").is_empty
        assert memory.imports.import_records(format, folder, "harbour").is_empty
    names = {hit.text for hit in memory.recall("bow front", "harbour").hits}
    assert any("The bow is at the front" in text for text in names)
    assert memory.show("claude-memory://-p/b%FF.md").record is not None


def test_a_list_in_utf_16_is_read(memory: Holdfast, tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_bytes(json.dumps([{"id": "u", "memory": "Möwen"}]).encode("utf-16"))
    assert [
        tally.added.total() for _, tally in memory.imports.import_records("mem0", path).tallies
    ] == [1]


def test_a_damaged_archive_is_reported(memory: Holdfast, tmp_path: Path) -> None:
    whole = an_archive(tmp_path / "whole.zip").read_bytes()
    path = tmp_path / "odd.zip"
    locked = bytearray(whole)
    locked[whole.index(b"PK\x03\x04") + 6] |= 1
    locked[whole.index(b"PK\x01\x02") + 8] |= 1
    chance = random.Random(1)
    for number in range(120):
        data = bytearray(whole) if number else locked
        for _ in range(number and chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        with suppress(HoldfastError):
            memory.imports.import_records("hindsight", path, dry_run=True)
    path.write_bytes(locked)
    with pytest.raises(InputError, match="damaged"):
        memory.imports.import_records("hindsight", path)


def test_a_project_name_is_turned_into_a_valid_bank_name(memory: Holdfast, tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps([{"id": "1", "memory": "Oars.", "app_id": "all"}]))
    for dry_run in (True, False):
        with pytest.raises(InputError, match="called 'all'") as error:
            memory.imports.import_records("mem0", path, dry_run=dry_run)
        assert "--bank" in error.value.remedy
    memory.imports.import_records("mem0", path, "fleet")
    key = "AKIAIOSFODNN7EXAMPLE"
    path.write_text(json.dumps([{"id": "2", "memory": "Oars.", "app_id": f"{key} {'x' * 5000}"}]))
    memory.imports.import_records("mem0", path)
    names = [bank.name for bank in memory.reader.banks.all()]
    assert len(names) == 2 and not any(key in name or len(name) > 400 for name in names)
