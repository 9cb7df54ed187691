"""A memory as folders: notes that link to each other, and memory-keeper's files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.transfer.export_folder import MANIFEST, ExportFolder, FolderReport, safe_name
from holdfast.app.transfer.export_markdown import write_markdown
from holdfast.app.transfer.export_memory_keeper import write_memory_keeper
from holdfast.app.transfer.export_obsidian import write_vault
from holdfast.app.transfer.exporting import ExportRequest
from holdfast.errors import HoldfastError
from holdfast.learn.bank_settings import BankChanges
from holdfast.settings import Settings
from holdfast.store.records.exports import ExportSelection
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script

pytestmark = pytest.mark.slow

HOSTILE = "[[Private note]] %%hidden%% <% tp.file %> `$= dv.pages()` \n```dataviewjs\nx\n```"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    with open_memory(with_empty_memory(Settings(tmp_path / "home", tmp_path / "claude"))) as opened:
        for number in range(3):
            script = Script(cwd=str(tmp_path / "proj"), session=f"{number:08d}-s")
            script.user(f"Fix the tide loader in src/tide.py: it fails, try {number}. {HOSTILE}")
            place = str(tmp_path / "proj" / "src" / "tide.py")
            script.tool("Edit", "ok", file_path=place, old_string="wait()", new_string="lock()")
            script.assistant(
                "The root cause was the lock in src/tide.py. The tide loader waits now."
            )
            script.user("From now on always lock the tide table before loading.")
            script.assistant("Understood: the tide table is locked before loading.")
            script.write(tmp_path / "claude" / "projects")
        opened.ingest(opened.ingestion.find([]))
        yield opened


def write(
    memory: Holdfast, path: Path, kind: str, chosen: ExportSelection | None = None
) -> FolderReport:
    folder = ExportFolder(path, kind)
    wanted = ExportRequest(tuple(memory.reader.banks.all()), chosen or ExportSelection())
    writers = {"obsidian": write_vault, "markdown": write_markdown}
    writers.get(kind, write_memory_keeper)(
        memory.reader, folder, wanted, lambda text: text.replace("SECRET", "[out]")
    )
    return folder.write()


def notes(path: Path) -> dict[str, str]:
    return {file.stem: file.read_text() for file in path.rglob("*.md")}


def test_every_link_of_the_vault_leads_to_a_note(memory: Holdfast, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    write(memory, vault, "obsidian")
    found = notes(vault)
    kinds = [json.loads(line[6:]) for text in found.values()
             for line in text.splitlines() if line.startswith("kind: ")]  # fmt: skip
    assert sorted(set(kinds)) == ["bank", "concept", "session"] and kinds.count("session") == 3
    links = [link for text in found.values() for link in re.findall(r"(?<!\\)\[\[([^|\]]+)", text)]
    assert links and set(links) <= set(found), set(links) - set(found)
    concept = next(text for text in found.values() if 'kind: "concept"' in text)
    assert "## Records" in concept and "[[2026-09-01" in concept
    whole = "\n".join(found.values())
    assert "[[Private" not in whole and "%%hidden" not in whole and "dataviewjs" not in whole
    assert "<% tp" not in whole.replace(r"\<%", "") and "`$=" not in whole.replace("\\`", "")


def test_the_vault_is_rewritten_and_files_of_people_stay(memory: Holdfast, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Mine.md").write_text("my own")
    first = write(memory, vault, "obsidian")
    before = {path: path.read_bytes() for path in vault.rglob("*") if path.is_file()}
    assert len(before) > 3
    again = write(memory, vault, "obsidian")
    assert again.written == first.written and again.removed == 0 and again.left_alone == ()
    assert {path: path.read_bytes() for path in vault.rglob("*") if path.is_file()} == before
    session = sorted(vault.rglob("Sessions/*.md"))[0]
    session.write_text("I changed this note.")
    memory.forget(memory.reader.sessions.latest(None, 9)[0].id)
    last = write(memory, vault, "obsidian")
    assert last.removed >= 1 or session.name in str(last.left_alone)
    assert session.read_text() == "I changed this note."
    assert (vault / "Mine.md").read_text() == "my own"
    assert len([*vault.rglob("Sessions/*.md")]) <= 3
    with pytest.raises(HoldfastError, match="another format"):
        write(memory, vault, "memory-keeper")


def test_a_symlink_on_disk_is_not_written_through(memory: Holdfast, tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    write(memory, vault, "obsidian")
    (bank,) = [path for path in vault.iterdir() if path.is_dir()]
    for file in (bank / "Sessions").iterdir():
        file.unlink()
    (bank / "Sessions").rmdir()
    outside.mkdir()
    (bank / "Sessions").symlink_to(outside)
    report = write(memory, vault, "obsidian")
    assert [*outside.iterdir()] == [] and len(report.left_alone) == 3


def test_the_memory_keeper_export_has_its_four_layers(memory: Holdfast, tmp_path: Path) -> None:
    folder = tmp_path / "keeper"
    write(memory, folder, "memory-keeper")
    names = sorted(path.name for path in (folder / "sessions").iterdir())
    assert names[:2] == ["2026-09-01_0900.l1.jsonl", "2026-09-01_0900.l2.json"] and len(names) == 6
    l1 = [json.loads(x) for x in (folder / "sessions" / names[0]).read_text().splitlines()]
    assert [turn["role"] for turn in l1] == ["user", "tool", "assistant", "user", "assistant"]
    assert l1[1]["name"] == "Edit" and l1[1]["target"].endswith("tide.py") and "diff" in l1[1]
    l2: list[dict[str, Any]] = json.loads((folder / "sessions" / names[1]).read_text())
    assert l2[0]["id"] == "e001" and l2[0]["l1_range"] == [1, 3]
    assert {"ts", "summary", "details", "files", "keywords"} <= set(l2[0])
    concepts = json.loads((folder / "concepts.json").read_text())
    assert concepts and concepts[0]["id"] == "c001" and "e001" in concepts[0]["exchanges"]
    facts = json.loads((folder / "facts.json").read_text())
    assert set(facts["permanent"]) == {"rules", "solutions", "core_logic"}
    assert facts["stats"]["total_exchanges"] == sum(
        len(json.loads(path.read_text())) for path in folder.glob("sessions/*.l2.json")
    )
    known = {x["id"] for p in folder.glob("sessions/*.l2.json") for x in json.loads(p.read_text())}
    known |= {concept["id"] for concept in concepts}
    assert {id for ids in facts["keywords"].values() for id in ids} <= known
    none = write(memory, tmp_path / "none", "memory-keeper", ExportSelection(until="2000-01-01"))
    assert none.written == 4 and not (tmp_path / "none" / "sessions").exists()


def test_the_memory_keeper_export_tells_people_of_the_project_and_what_is_known(
    memory: Holdfast, tmp_path: Path
) -> None:
    memory.banks.change(BankChanges(background="Loads tide tables."), "proj")
    write(memory, tmp_path / "keeper", "memory-keeper")
    project = (tmp_path / "keeper" / "project.md").read_text()
    assert "Loads tide tables." in project and "Sessions: 3, 2026-09-01" in project
    assert "tide.py`" in project and "Agents: claude-code" in project
    known = (tmp_path / "keeper" / "memory.md").read_text()
    assert "## Rules" in known and "lock the tide table before loading" in known
    assert "## Topics" in known


def test_every_link_of_plain_markdown_is_the_path_of_a_note(
    memory: Holdfast, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    write(memory, folder, "markdown")
    files = [*folder.rglob("*.md")]
    links = [
        (file.parent / unquote(target)).resolve()
        for file in files
        for target in re.findall(r"\]\(([^)\s]+)\)", file.read_text())
    ]
    assert links and set(links) <= {file.resolve() for file in files}
    for file in files:
        text = file.read_text()
        front = text.split("---\n")[1]
        assert 'title: "' in front and "holdfast://" in front
        assert not re.search(r"(?<!\\)\[\[", text)
    assert write(memory, folder, "markdown").removed == 0


def test_an_unusable_folder_is_reported(memory: Holdfast, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(HoldfastError, match="not a folder"):
        ExportFolder(tmp_path / "file", "obsidian")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / MANIFEST).write_text("{")
    with pytest.raises(HoldfastError, match="cannot be read"):
        write(memory, tmp_path / "odd", "obsidian")
    (tmp_path / "evil").mkdir()
    evil = {"format": "obsidian", "files": {"../file": ["x"], "/etc/passwd": ["x"]}}
    (tmp_path / "evil" / MANIFEST).write_text(json.dumps(evil))
    write(memory, tmp_path / "evil", "obsidian")
    assert (tmp_path / "file").read_text() == "x"


@given(st.text(max_size=300), st.text("0123456789abcdef", min_size=8, max_size=16))
def test_any_title_gives_a_file_name_valid_on_every_system(title: str, id: str) -> None:
    name = safe_name(title, id)
    assert name and len(name.encode()) <= 100 and name.endswith(id[:8])
    assert not re.search(r'[\x00-\x1f\\/:*?"<>|#^\[\]]', name)
    assert name == name.strip(". ") and name.split(".")[0].upper() not in ("CON", "NUL", "AUX")
