from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.interfaces.cli.main import main
from tests.support.command_line import Run, read, runner
from tests.support.opinion_sessions import START, session_on_day


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOLDFAST_BANK", "proj")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    folder = tmp_path / "claude" / "projects"
    for number in (1, 2):
        said = session_on_day(number, "The CI is flaky, I am tired of it because releases wait.")
        # What is believed fades, so these must not be long ago.
        age = datetime.now(UTC) - timedelta(days=9 - number) - START
        for line in said.lines:
            time = datetime.fromisoformat(line["timestamp"]) + age
            line["timestamp"] = time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        said.write(folder)
    assert main(["ingest", "--embed", "none", "--json"]) == 0
    return runner(capsys)


def test_opinions_can_be_listed_shown_and_forgotten(run: Run) -> None:
    kept = read(run, "retain", "The CI is flaky", "--network", "opinion", "--confidence", "0.8")
    (output,) = read(run, "opinions")["opinions"]
    assert (output["what"], output["trend"]) == ("The CI is flaky", "new")
    assert output["evidence_for"] == [kept["uri"]]
    status, text = run("opinions")
    assert status == 0 and "0.80" in text and "CI is flaky" in text and "1 for" in text
    status, text = run("show", output["uri"])
    assert "confidence: " in text and "confidence over time:" in text
    assert read(run, "show", output["uri"])["beliefs"][0]["note"] == "formed"
    (change,) = read(run, "opinions", "--changes")["changes"]
    assert (change["note"], change["before"], change["what"]) == ("formed", None, "The CI is flaky")
    assert "formed 0.80" in run("opinions", "--changes")[1]
    assert run("forget", output["uri"], "--yes")[0] == 0
    assert read(run, "opinions")["opinions"] == []
    assert "No opinions" in run("opinions")[1]


def test_reflect_lists_the_evidence_and_says_that_no_model_was_used(run: Run) -> None:
    output = read(run, "reflect", "is the CI flaky")
    assert "Without a model nothing is inferred" in output["answer"] and output["stored"] == []
    assert output["citations"][0]["uri"].startswith("holdfast://")
    status, text = run("reflect", "is the CI flaky")
    assert status == 0 and "Confidence" not in text and "[1]" in text
    assert read(run, "reflect", "zeppelin budget")["abstained"] is True


def test_two_banks_can_be_merged_and_come_apart_again(run: Run) -> None:
    assert run("remember", "We paint the yawl in May.", "--bank", "boats")[0] == 0
    memory = read(run, "recall", "yawl", "--bank", "boats")["hits"][0]["uri"]
    assert run("bank", "merge", "boats")[0] == 2
    assert run("bank", "merge", "boats", "nowhere", "--yes")[0] == 2
    status, text = run("bank", "merge", "boats", "proj", "--yes")
    assert status == 0 and "boats is in proj now" in text
    assert [bank["name"] for bank in read(run, "bank", "list")["banks"]] == ["proj"]
    assert read(run, "recall", "yawl", "--bank", "boats")["hits"][0]["uri"] == memory
    assert read(run, "show", memory)["record"]["bank"] == read(run, "bank", "show")["id"]
    status, text = run("bank", "unmerge", "boats")
    assert status == 0 and "boats" in text and "of its own again" in text
    assert [bank["name"] for bank in read(run, "bank", "list")["banks"]] == ["boats", "proj"]
    assert run("bank", "unmerge", "boats")[0] == 2
