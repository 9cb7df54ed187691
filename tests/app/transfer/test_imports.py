"""Other programs' memories come in whole, once, as what they are, and go again as one."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.transfer.imports import ImportResult
from holdfast.errors import HoldfastError, NotFoundError
from holdfast.model.imports import ImportedRecord
from holdfast.model.query import Layer
from holdfast.model.trust import Trust
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.foreign_exports import claude_mem, insert
from tests.support.transcripts import Script


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    with open_memory(with_empty_memory(Settings(tmp_path / "home", tmp_path / "claude"))) as opened:
        yield opened


def counts(took: ImportResult, of: str = "added") -> dict[str, dict[str, int]]:
    return {one.bank: dict(getattr(one, of)) for one in took.banks if getattr(one, of)}


ALL = {"yawl": {"observation": 1, "summary": 1, "prompt": 1}, "ketch": {"observation": 1}}


def test_claude_mem_is_imported_by_project_and_recalled_with_its_origin(
    memory: Holdfast, tmp_path: Path
) -> None:
    took = memory.imports.import_records("claude-mem", claude_mem(tmp_path / "c.db"))
    assert counts(took) == ALL and sum(one.read for one in took.banks) == 4
    found = memory.recall("what cloth are the sails of the yawl cut from?", bank="yawl")
    hit = found.hits[0]
    assert (hit.kind, hit.layer, hit.trust) == ("imported", Layer.OBSERVATIONS, Trust.IMPORT)
    assert hit.imported == "claude-mem://observation/1"
    assert memory.ask("what cloth are the sails of the yawl cut from?", bank="yawl").citations
    record = memory.show("claude-mem://observation/1").record
    assert isinstance(record, ImportedRecord)
    assert record.files == ("rig/sails.py", "not json")
    assert record.labels == ("decision", "trade-off") and record.session == "m-1"
    assert "Hemp cloth lasts ten years" in record.text
    assert (
        memory.show("claude-mem://session/1").record
        == memory.show("claude-mem://session/m-1").record
    )
    with pytest.raises(NotFoundError):
        memory.show("claude-mem://observation/99")
    assert memory.recall("which leak has the rudder post?", bank="yawl").hits == ()
    prompt = memory.show("claude-mem://prompt/1").record
    assert isinstance(prompt, ImportedRecord) and "AKIA" not in prompt.text


def test_the_first_session_of_a_folder_goes_to_the_bank_that_was_imported_for_it(
    memory: Holdfast, tmp_path: Path
) -> None:
    memory.imports.import_records("claude-mem", claude_mem(tmp_path / "c.db"))
    before = {bank.name: bank.id for bank in memory.banks.all()}
    folders = [tmp_path / place / "yawl" for place in ("boats", "models")]
    for number, folder in enumerate(folders, start=1):
        folder.mkdir(parents=True)
        assert (memory.context.banks.find(memory.store, str(folder)) == before["yawl"]) is (
            number == 1
        ), "the first folder with the name has it"
        script = Script(f"{number:08d}-0000-4000-8000-000000000001", cwd=str(folder))
        script.user("Who sews the sails?")
        script.assistant("The sailmaker in Bergen does.")
        memory.ingest(memory.ingestion.find([script.write(tmp_path / "claude" / "projects")]))
    (session,) = memory.store.sessions.latest(before["yawl"])
    assert session.id.startswith("00000001")
    assert sorted(bank.name for bank in memory.banks.all()) == ["ketch", "yawl", "yawl"]
    kinds = {hit.kind for hit in memory.recall("sails of the yawl", bank=before["yawl"]).hits}
    assert "imported" in kinds and len(kinds) > 1


def test_a_dry_run_counts_the_same_and_changes_nothing(tmp_path: Path) -> None:
    path = claude_mem(tmp_path / "c.db")
    with open_memory(Settings(tmp_path / "home", tmp_path / "claude"), create=False) as looking:
        took = looking.imports.import_records("claude-mem", path, dry_run=True)
    assert counts(took) == ALL and took.uri == ""
    assert not (tmp_path / "home").exists()


def test_a_repeated_import_changes_nothing_and_a_grown_source_adds_only_new_records(
    memory: Holdfast, tmp_path: Path
) -> None:
    path = claude_mem(tmp_path / "c.db")
    memory.imports.import_records("claude-mem", path)
    again = memory.imports.import_records("claude-mem", path)
    assert again.is_empty and again.uri == "" and counts(again, "known") == ALL
    with closing(sqlite3.connect(path)) as database:
        new = {"memory_session_id": "m-1", "project": "yawl", "title": "Tar", "type": "change"}
        insert(database, "observations", [new])
        database.execute("UPDATE observations SET narrative = 'Of flax.' WHERE id = 1")
        database.commit()
    grown = memory.imports.import_records("claude-mem", path)
    assert counts(grown) == {"yawl": {"observation": 1}}
    assert counts(grown, "changed") == {"yawl": {"observation": 1}}
    shown = memory.show("claude-mem://observation/1").record
    assert isinstance(shown, ImportedRecord) and "Of flax." in shown.text
    memory.imports.undo_import(grown.uri)
    shown = memory.show("claude-mem://observation/1").record
    assert isinstance(shown, ImportedRecord) and "hemp cloth" in shown.text
    assert [stands for _, stands in memory.imports.list_batches("all")] == [True, True, False]


@pytest.mark.slow
def test_an_import_is_undone_as_a_whole_and_can_be_repeated(
    memory: Holdfast, tmp_path: Path
) -> None:
    path = claude_mem(tmp_path / "c.db")
    took = memory.imports.import_records("claude-mem", path)
    undone = memory.imports.undo_import(took.uri)
    assert len(undone) == 2, "one entry a bank"
    assert memory.store.records.counts().imported == 0
    assert memory.recall("sails of hemp cloth", bank="all").hits == ()
    with pytest.raises(NotFoundError):
        memory.imports.undo_import(took.uri)
    with pytest.raises(NotFoundError):
        memory.imports.undo_import("")
    assert counts(memory.imports.import_records("claude-mem", path)) == ALL
    assert memory.store.records.counts().imported == 4


@pytest.mark.slow
def test_forgotten_or_erased_records_are_not_imported_again(
    memory: Holdfast, tmp_path: Path
) -> None:
    path = claude_mem(tmp_path / "c.db")
    memory.imports.import_records("claude-mem", path)
    leak = memory.show("claude-mem://observation/2").record
    sails = memory.show("claude-mem://observation/1").record
    memory.forget(f"imported/{leak.id}")
    memory.erasure.purge(f"imported/{sails.id}")
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE observations SET narrative = narrative || ' Indeed.'")
        database.commit()
    again = memory.imports.import_records("claude-mem", path)
    assert counts(again, "skipped") == {"yawl": {"erased": 1}}
    assert memory.recall("ketch leaks rudder post", bank="all").hits == ()
    assert "hemp" not in str([*memory.store.imports.all(sails.bank)])
    memory.restore(f"imported/{leak.id}")
    assert memory.recall("ketch leaks rudder post", bank="all").hits


def test_a_database_in_use_is_read_and_not_changed(memory: Holdfast, tmp_path: Path) -> None:
    path = claude_mem(tmp_path / "c.db", wal=True)
    before = sorted(
        (p.name, hashlib.sha256(p.read_bytes()).digest()) for p in tmp_path.glob("c.db*")
    )
    memory.imports.import_records("claude-mem", path, dry_run=True)
    after = sorted(
        (p.name, hashlib.sha256(p.read_bytes()).digest()) for p in tmp_path.glob("c.db*")
    )
    assert before and before == after, "nothing is made beside it"
    with closing(sqlite3.connect(path)) as working:
        new = {"memory_session_id": "m-1", "project": "yawl", "title": "Tar", "type": "change"}
        insert(working, "observations", [new])
        working.commit()
        insert(working, "observations", [{**new, "title": "not committed"}])
        took = memory.imports.import_records("claude-mem", path)
    assert counts(took)["yawl"] == {"observation": 2, "summary": 1, "prompt": 1}


def test_invalid_input_is_reported_and_nothing_is_imported_partially(
    memory: Holdfast, tmp_path: Path
) -> None:
    text, empty, other = tmp_path / "text", tmp_path / "empty", tmp_path / "other.db"
    text.write_text("not a database at all, but long enough to look like one")
    empty.touch()
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE memories (id)")
    cut = claude_mem(tmp_path / "cut.db")
    with closing(sqlite3.connect(cut)) as database:
        new = {"memory_session_id": "m-1", "project": "yawl", "narrative": "x" * 500}
        insert(database, "observations", [{**new, "title": f"Tar {n}"} for n in range(500)])
        database.commit()
    cut.write_bytes(cut.read_bytes()[:-40_000])
    for path, why in (
        (text, "not a SQLite database"),
        (empty, "not a SQLite database"),
        (other, "not claude-mem's"),
        (cut, "damaged"),
        (tmp_path, "cannot be read"),
        (tmp_path / "none", "There is no"),
    ):
        with pytest.raises(HoldfastError, match=why):
            memory.imports.import_records("claude-mem", path)
    assert memory.store.records.counts().imported == 0 and memory.store.banks.all() == []


@pytest.mark.slow
def test_a_dialogue_is_counted_undone_and_restored_as_a_whole(
    memory: Holdfast, tmp_path: Path
) -> None:
    path = tmp_path / "chat.jsonl"
    said = [
        {"session": f"s{n % 2}", "speaker": "Ann", "text": f"Tar the yawl, {n}."} for n in range(4)
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in said) + "no json\n")
    looked = memory.imports.import_conversation(path, "fleet", dry_run=True)
    assert (looked.captured, looked.failed) == (4, 1) and memory.store.banks.all() == []
    read = memory.imports.import_conversation(path, "fleet")
    assert (read.captured, read.failed) == (4, 1)
    ((made, stands),) = memory.imports.list_batches("fleet")
    assert stands and (made.kinds, made.failed) == ({"turn": 4}, {"line": 1})
    assert memory.recall("tar the yawl", bank="fleet").hits
    with path.open("a") as file:
        file.write(json.dumps({"session": "s0", "text": "Paint it."}) + "\n")
    assert memory.imports.import_conversation(path, "fleet", dry_run=True).captured == 1
    memory.imports.undo_import(made.id)
    assert memory.recall("tar the yawl", bank="fleet").hits == ()
    assert memory.store.records.counts().turns == 0
    assert memory.imports.import_conversation(path, "fleet").captured == 1
    assert (
        memory.store.records.counts().turns == 5
        and memory.recall("tar the yawl", bank="fleet").hits
    )
    assert [stands for _, stands in memory.imports.list_batches("fleet")] == [False, True, True]
    assert memory.imports.import_conversation(path, "fleet").captured == 0
    assert len(memory.imports.list_batches("fleet")) == 3
