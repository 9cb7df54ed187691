"""Agents other than Claude Code at the command line: ingest, setup and uninstall."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.app.memory import open_memory
from tests.support.agent_samples import copy
from tests.support.command_line import Run, runner


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user who has Codex and Gemini, each with a session."""
    home = tmp_path / "me"
    home.mkdir()
    copy("codex", tmp_path).rename(home / ".codex")
    copy("gemini", tmp_path).rename(home / ".gemini")
    for name in ("CODEX_HOME", "GEMINI_CLI_HOME", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOLDFAST_HOME", str(home / ".holdfast"))
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


def files(home: Path) -> dict[str, bytes]:
    found = (path for path in home.rglob("*") if path.is_file())
    return {str(path.relative_to(home)): path.read_bytes() for path in found}


def test_ingest_without_a_path_finds_the_transcripts_of_every_agent(user: Path, run: Run) -> None:
    assert run("ingest", "--agent", "gemini", "--embed", "none", "--json")[0] == 0
    one = json.loads(run("status", "--json")[1])["ledger"]
    status, text = run("ingest", "--embed", "none")

    assert status == 0 and "= 42" in text, text
    whole = json.loads(run("status", "--json")[1])["ledger"]
    assert one["pending"] == 42 and whole["pending"] == 0
    assert whole["balanced"] is True and whole["failed"] == 0


def test_hits_name_their_agent_and_can_be_filtered_by_it(user: Path, run: Run) -> None:
    run("ingest", "--embed", "none")
    query = ("recall", "parser", "tabs", "linter", "--bank", "proj", "--json")

    hits = json.loads(run(*query)[1])["hits"]
    assert {"codex", "gemini"} <= {hit.get("agent") for hit in hits}
    for agent in ("codex", "gemini"):
        found = json.loads(run(*query, "--agent", agent)[1])["hits"]
        assert {hit["agent"] for hit in found} == {agent}
    assert json.loads(run(*query, "--agent", "claude-code")[1])["hits"] == []
    status, text = run(*query, "--agent", "codx")
    assert status != 0 and "There is no agent 'codx'." in text and "codex" in text
    with open_memory(create=False) as memory:
        alone = memory.recall("parser tabs linter", "proj", agent="codex").hits
    assert alone and {hit.agent for hit in alone} == {"codex"}
    status, text = run("ask", "why does the parser keep tabs", "--bank", "proj")
    assert status == 0 and "(with codex)" in " ".join(text.split())
    turn = next(hit["uri"] for hit in hits if hit["kind"] == "turn")
    shown = run("show", turn)[1]
    assert "raw line: " in shown and "gone" not in shown and "changed" not in shown


def test_installing_and_uninstalling_an_agent_restores_its_files(user: Path, run: Run) -> None:
    config = user / ".codex" / "config.toml"
    config.write_text('model = "x"\n')
    before = files(user)

    plan = json.loads(run("setup", "--agent", "codex", "--dry-run", "--json")[1])
    assert [Path(change["path"]).name for change in plan["changes"]] == [
        "config.toml",
        "hooks.json",
    ]
    assert plan["done"] is False and files(user) == before
    status, text = run("setup", "--agent", "codex", "--yes", "--no-ingest")
    assert status == 0 and "/hooks" in text
    assert run("setup", "--agent", "gemini", "--yes", "--no-ingest")[0] == 0
    assert "nothing to change" in run("setup", "--agent", "codex", "--yes", "--no-ingest")[1]
    assert "not set up" not in run("status")[1].splitlines()[0]

    assert "still uses" in run("uninstall", "--agent", "gemini", "--yes")[1]
    assert (user / ".holdfast" / "hooks" / "other_agents.py").is_file()
    assert run("uninstall", "--yes")[0] == 0
    assert files(user) == before


def test_another_agent_is_set_up_for_all_projects_or_not_at_all(user: Path, run: Run) -> None:
    status, text = run("setup", "--agent", "cursor", "--scope", "project", "--yes")

    assert status != 0 and "all of your projects" in text


def test_setting_up_claude_code_mentions_other_installed_agents(user: Path, run: Run) -> None:
    run("setup", "--agent", "gemini", "--yes", "--no-ingest")

    notes = json.loads(run("setup", "--dry-run", "--json")[1])["notes"]

    setup_notes = [note for note in notes if "setup --agent" in note]
    assert len(setup_notes) == 1 and "Codex CLI" in setup_notes[0]
