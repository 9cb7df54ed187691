"""A memory as a folder of notes that link to each other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.transfer.export_folder import write_folder
from holdfast.app.transfer.export_markdown import markdown_notes, safe_name
from holdfast.app.transfer.exporting import Exported, ExportRequest
from holdfast.settings import Settings
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


def write(memory: Holdfast, path: Path) -> Exported:
    wanted = ExportRequest(tuple(memory.reader.banks.all()))
    return write_folder(path, dict(markdown_notes(memory.reader, wanted, str)))


def test_the_vault_is_rewritten_and_files_of_people_stay(memory: Holdfast, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Mine.md").write_text("my own")
    first = write(memory, vault)
    before = {path: path.read_bytes() for path in vault.rglob("*") if path.is_file()}
    assert len(before) > 3
    again = write(memory, vault)
    assert again.counts == first.counts and again.removed == 0 and again.left_alone == ()
    assert {path: path.read_bytes() for path in vault.rglob("*") if path.is_file()} == before
    session = sorted(vault.rglob("Sessions/*.md"))[0]
    session.write_text("I changed this note.")
    memory.forget(memory.reader.sessions.latest(None, 9)[0].id)
    last = write(memory, vault)
    assert last.removed >= 1 or session.name in str(last.left_alone)
    assert session.read_text() == "I changed this note."
    assert (vault / "Mine.md").read_text() == "my own"
    assert len([*vault.rglob("Sessions/*.md")]) <= 3


def test_a_symlink_on_disk_is_not_written_through(memory: Holdfast, tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    write(memory, vault)
    (bank,) = [path for path in vault.iterdir() if path.is_dir()]
    for file in (bank / "Sessions").iterdir():
        file.unlink()
    (bank / "Sessions").rmdir()
    outside.mkdir()
    (bank / "Sessions").symlink_to(outside)
    report = write(memory, vault)
    assert [*outside.iterdir()] == [] and len(report.left_alone) == 3


def test_every_link_of_plain_markdown_is_the_path_of_a_note(
    memory: Holdfast, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    write(memory, folder)
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
    kinds = [json.loads(line[6:]) for file in files for line in file.read_text().splitlines()
             if line.startswith("kind: ")]  # fmt: skip
    assert sorted(set(kinds)) == ["bank", "concept", "session"] and kinds.count("session") == 3
    whole = "\n".join(file.read_text() for file in files)
    assert "%%hidden" not in whole and "dataviewjs" not in whole
    assert "<% tp" not in whole.replace(r"\<%", "") and "`$=" not in whole.replace("\\`", "")
    assert write(memory, folder).removed == 0


@given(st.text(max_size=300), st.text("0123456789abcdef", min_size=8, max_size=16))
def test_any_title_gives_a_file_name_valid_on_every_system(title: str, id: str) -> None:
    name = safe_name(title, id)
    assert name and len(name.encode()) <= 100 and name.endswith(id[:8])
    assert not re.search(r'[\x00-\x1f\\/:*?"<>|#^\[\]]', name)
    assert name == name.strip(". ") and name.split(".")[0].upper() not in ("CON", "NUL", "AUX")
