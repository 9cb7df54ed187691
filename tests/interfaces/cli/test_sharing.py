from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from holdfast.interfaces.cli.main import main
from tests.support.command_line import Run, read, runner
from tests.support.transcripts import Script


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "proj"
    folder.mkdir()
    for command in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "Ann Ex"],
        ["config", "user.email", "ann@x.org"],
        ["commit", "-q", "--allow-empty", "-m", "First"],
    ):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    return folder


@pytest.fixture
def run(
    tmp_path: Path,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.chdir(project)
    script = Script(cwd=str(project))
    script.user("Why does the xebec loader fail? The log is in /home/ann/logs/xebec.log.")
    script.assistant("The root cause was the lock on the tide table; the xebec loader now waits.")
    script.user("We decided to always paint the yawl blue, because the harbour office wants it.")
    script.assistant("Understood: the yawl is painted blue from now on.")
    script.write(tmp_path / "claude" / "projects")
    assert main(["ingest", "--embed", "none", "--json"]) == 0
    return runner(capsys)


def branch(project: Path, revision: str = "holdfast-shared") -> str:
    output = subprocess.run(
        ["git", "-C", str(project), "grep", "-h", "", revision, "--", "people"],
        capture_output=True,
        text=True,
        check=False,
    )
    return output.stdout


def test_a_memory_can_be_previewed_shared_listed_updated_and_withdrawn(
    run: Run, project: Path
) -> None:
    kept = read(run, "remember", f"Run the crane tests in {project}/tests before a release.")
    name = kept["uri"]
    status, text = run("share", name, "--dry-run")
    assert status == 0 and "+ memory" in text
    assert "Ann Ex <ann@x.org>" in " ".join(text.split())
    assert branch(project) == ""
    status, text = run("share", name)
    assert status == 2 and "--yes" in text and branch(project) == ""
    status, text = run("share", name, "--yes", "--note", "mind this")
    assert status == 0 and "Nothing has left this machine" in " ".join(text.split())
    (line,) = branch(project).splitlines()
    output = json.loads(line)
    assert output["text"] == "Run the crane tests in tests before a release."
    assert (output["by"], output["email"], output["trust"]) == ("Ann Ex", "ann@x.org", "user")
    (shared,) = read(run, "share", "--list")["shared"]
    assert shared["origin"] == name and shared["note"] == "mind this"
    assert read(run, "share", name, "--note", "mind this", "--yes")["plan"]["same"] == [
        shared["uri"]
    ]

    assert run("correct", name, "Run the crane tests twice.", "--yes")[0] == 0
    assert (
        read(run, "share", name, "--yes")["plan"]["changed"][0]["shared"]["text"]
        == "Run the crane tests twice."
    )
    (line,) = branch(project).splitlines()
    assert json.loads(line)["text"] == "Run the crane tests twice."

    status, text = run("unshare", name, "--yes")
    assert status == 0 and "twice" not in branch(project)
    assert read(run, "share", "--list")["shared"] == []
    assert (
        read(run, "share", name, "--yes")["plan"]["added"][0]["shared"]["text"]
        == "Run the crane tests twice."
    )


def test_a_session_is_shared_completely_without_private_text(run: Run, project: Path) -> None:
    key = "ghp_" + "a1B2c3D4" * 5
    kept = read(run, "remember", "The yawl is blue.")
    planned = read(run, "share", "11111111", "--note", f"token {key}", "--dry-run")
    kinds = [one["shared"]["kind"] for one in planned["plan"]["added"]]
    assert kinds.count("digest") == 1 and kinds.count("exchange") == 2
    texts = "\n".join(one["shared"]["text"] for one in planned["plan"]["added"])
    assert "~/logs/xebec.log" in texts and "/home/ann" not in texts
    assert key not in json.dumps(planned) and planned["plan"]["added"][0]["redacted"] == 1
    assert kept["uri"] not in json.dumps(planned)


def test_records_that_cannot_be_shared_are_reported(run: Run) -> None:
    hits = read(run, "recall", "xebec loader", "--layer", "transcripts")["hits"]
    status, text = run("share", hits[0]["uri"], "--yes")
    assert status == 2 and "raw" in text and "exchange" in text
    kept = read(run, "remember", "Forget this.")["uri"]
    assert run("forget", kept, "--yes")[0] == 0
    status, text = run("share", kept, "--yes")
    assert status == 2 and "forgotten" in text
    status, text = run("share", "--yes")
    assert status == 2 and "No record is given" in text
    status, text = run("share", hits[0]["uri"], "--to", "origin")
    assert status == 2 and "--push" in text
    status, text = run("share", "--push")
    assert status == 2 and "remote" in text
    assert run("unshare", "abcdef", "--yes")[0] == 2


def test_shares_can_be_kept_in_another_repository(run: Run, project: Path, tmp_path: Path) -> None:
    team = tmp_path / "team.git"
    subprocess.run(["git", "init", "-q", "--bare", str(team)], check=True)
    kept = read(run, "remember", "The yawl is blue.")["uri"]
    assert run("share", kept, "--yes", "--to", str(team))[0] == 0
    assert branch(project) == "" and "blue" in branch(team)


def test_a_pull_can_be_shown_listed_and_undone(
    run: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = read(run, "remember", "The yawl is always painted blue.")["uri"]
    assert run("share", kept, "--yes")[0] == 0
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "other"))
    output = read(run, "pull", str(project), "--dry-run")
    assert [one["text"] for one in output["plan"]["added"]] == ["The yawl is always painted blue."]
    assert not (tmp_path / "other").exists(), "looking makes nothing"
    status, text = run("pull", str(project))
    assert status == 0 and "Imported 1 record" in text and "by Ann Ex" in text
    status, text = run("recall", "what colour is the yawl painted")
    assert "shared · " in text and "team · by Ann Ex on " in text
    (hit,) = read(run, "recall", "what colour is the yawl painted", "--layer", "team")["hits"]
    assert hit["shared"].startswith("by Ann Ex on ") and hit["trust"] == "team"
    status, text = run("show", hit["uri"])
    assert "author: Ann Ex" in text and kept in text
    status, text = run("pull", str(project))
    assert "Nothing new" in text and "1 known already" in text
    (pulled,) = read(run, "pull", "--list")["pulls"]
    assert not pulled["undone"]
    status, text = run("pull", "--undo", pulled["id"])
    assert status == 0 and "Undone: 1 from " in text
    assert "(undone)" in run("pull", "--list")[1]
    assert read(run, "recall", "what colour is the yawl painted")["abstained"]
