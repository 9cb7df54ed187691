from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tools.export_schema import spelled

from holdfast.app.transfer.exporting import SCHEMA_FILE
from tests.support.command_line import Run, runner
from tests.support.foreign_exports import claude_mem


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return runner(capsys)


def test_an_import_can_be_counted_made_listed_and_undone(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".claude-mem").mkdir()
    claude_mem(tmp_path / ".claude-mem" / "claude-mem.db")
    status, output = run("import", "claude-mem", "--dry-run")
    assert status == 0 and "observation 1, prompt 1, summary 1" in output and "dry run" in output
    assert "Nothing was imported yet." in run("import", "list")[1]
    status, output = run("import", "claude-mem", "--json")
    made = json.loads(output)
    assert [bank["bank"] for bank in made["banks"]] == ["ketch", "yawl"]
    status, output = run("recall", "cloth of the sails", "--bank", "yawl")
    assert status == 0 and "from claude-mem://observation/1" in output
    status, output = run("import", "list")
    assert made["uri"] in output and "bank ketch" in output and "undone" not in output
    status, output = run("import", "undo", made["uri"].rpartition("/")[2][:6])
    assert status == 0 and output.count("Undone") == 2
    assert run("import", "list")[1].count("undone") == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("import", "claude-mem"), "There is no"),
        (("import", "undo"), "Something is missing: ID"),
        (("import", "undo", "ffff"), "No import has the id"),
        (("import", "conversation", "x.jsonl"), "needs a bank"),
    ],
)
def test_missing_arguments_and_files_are_reported(
    run: Run, given: tuple[str, ...], said: str
) -> None:
    status, output = run(*given)
    assert status in (1, 2) and said in output and "Traceback" not in output


def test_a_memory_can_be_exported_and_imported(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("import", "claude-mem", str(claude_mem(tmp_path / "c.db")))
    status, output = run("export", "out.jsonl")
    assert status == 0 and "imported_record 4" in output
    assert json.loads(run("export", "b.jsonl", "--bank", "ketch", "--json")[1])["counts"] == {
        "bank": 1, "bank_alias": 1, "curation": 1, "import_batch": 1, "imported_record": 1,
    }  # fmt: skip
    schema: Any = jsonschema.Draft202012Validator(json.loads(run("export", "--schema")[1]))
    for line in (tmp_path / "out.jsonl").read_text().splitlines():
        schema.validate(json.loads(line))
    assert not schema.is_valid({"type": "sent", "bank": "b", "id": "i", "more": 1})
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "other"))
    status, output = run("import", "holdfast", "out.jsonl", "--dry-run")
    assert status == 0 and "imported_record 4" in output and "dry run" in output
    status, output = run("import", "holdfast", "out.jsonl")
    assert status == 0 and "imported_record 4" in output
    assert "from claude-mem://observation/1" in run("recall", "cloth of sails", "--bank", "yawl")[1]
    status, output = run("import", "holdfast", "out.jsonl")
    assert "Nothing new in out.jsonl" in output and "Backup of the memory before" in output
    for given, said in (
        (("export",), "No file is given"),
        (("export", "x", "--since", "soon"), "not a date"),
        (("import", "holdfast", "c.db"), "not a Holdfast export"),
        (("import", "holdfast", "out.jsonl", "--bank", "b"), "Leave --bank out"),
    ):
        status, output = run(*given)
        assert status == 2 and said in output


def test_a_file_of_another_format_is_refused_and_imports_nothing(run: Run, tmp_path: Path) -> None:
    run("import", "claude-mem", str(claude_mem(tmp_path / "c.db")))
    run("export", "out.jsonl")
    before = run("status")[1]
    (tmp_path / "notes.md").write_text("# Notes\n\nThe sloop is small.\n")
    for given, said in (
        (("conversation", "notes.md", "--bank", "b"), "not a dialogue: none of its first 2 lines"),
        (("conversation", "notes.md", "--bank", "b", "--dry-run"), "not a dialogue"),
        (("conversation", "out.jsonl", "--bank", "b"), "`holdfast import holdfast FILE`"),
        (("mem0", "out.jsonl"), "`holdfast import holdfast FILE`"),
    ):
        status, output = run("import", *given)
        assert status == 2 and said in output, output
    assert run("status")[1].partition("last event")[0] == before.partition("last event")[0]


def test_the_packaged_export_schema_matches_the_tables() -> None:
    assert SCHEMA_FILE.read_text("utf-8") == spelled(), "python tools/export_schema.py"
