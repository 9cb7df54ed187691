from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.interfaces.cli.main import main
from tests.support.transcripts import Script


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "c"))
    monkeypatch.setenv("HOLDFAST_BANK", "proj")
    for number, said in enumerate(
        (
            "We moved AuthProvider because SessionGuard failed.",
            "SessionGuard failed because TokenCache was stale.",
            "Look at the auth provider and TokenCache again.",
        )
    ):
        script = Script(f"{number:08d}-0000-4000-8000-000000000001")
        script.user(said)
        script.assistant("Done as you said, and nothing else was touched by it.")
        script.write(tmp_path / "c" / "projects" / "p")
    assert main(["ingest", "--bank", "proj", "--embed", "none"]) == 0
    return tmp_path


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_names_can_be_merged_split_and_restored(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = output_of(capsys, "entities", "--json")
    assert "also" in output_of(capsys, "entity", "merge", "TokenCache", "AuthProvider")
    assert output_of(capsys, "entity", "TokenCache") == output_of(capsys, "entity", "AuthProvider")
    output_of(capsys, "entity", "split", "AuthProvider", "auth provider")
    assert "auth provider" not in output_of(capsys, "entity", "AuthProvider").split("records")[0]
    assert "1 decision undone" in output_of(capsys, "undo", "--yes")
    assert "1 decision undone" in output_of(capsys, "undo", "--yes")
    assert output_of(capsys, "entities", "--json") == before
    assert main(["entity", "merge", "TokenCache"]) == 2
    assert main(["entity", "split", "TokenCache", "Nowhere"]) == 2


def test_the_graph_retriever_is_named_and_explained(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("recall", "why was AuthProvider moved", "--budget", "high")
    found = json.loads(output_of(capsys, *asked, "--json"))
    arms = {arm["name"]: arm for arm in found["strategies"]}
    assert arms["graph"]["found"] > 0 and arms["causal"]["found"] == 1
    assert any("graph" in hit["why"] for hit in found["hits"])
    assert "caused_by 1" in " ".join(output_of(capsys, *asked, "--explain").split())
