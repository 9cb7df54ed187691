from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.interfaces.cli.main import main
from tests.refine.facts.test_facts import open_with_violations
from tests.support.refine_banks import open_filled, session_saying
from tests.support.rule_families import TUNED


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(arguments) == 0
    return capsys.readouterr().out


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_BANK", "proj")
    return tmp_path


def test_facts_can_be_listed_shown_and_queried_as_of_a_day(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    family = TUNED[0]
    open_filled(
        home,
        session_saying("2026-09-01", 1, family.rule),
        session_saying("2026-09-20", 2, family.amendment),
    ).close()
    output = run(capsys, "facts")
    assert "pnpm" in output and "with npm in" not in output and "1 fact in proj." in output
    whole: dict[str, Any] = json.loads(run(capsys, "facts", "--all", "--json"))
    new, old = whole["facts"]
    assert old["status"] == "superseded" and old["superseded_by"] == new["uri"]
    shown = run(capsys, "show", old["uri"])
    assert "its life:" in shown and "superseded, because of holdfast://turn/" in shown
    then = json.loads(run(capsys, "show", old["uri"], "--as-of", "2026-09-10", "--json"))
    assert then["record"]["status"] == "observed" and len(then["life"]) == 1
    answer = run(capsys, "ask", "how do we install packages", "--as-of", "2026-09-10")
    assert "with npm in" in answer and "pnpm" not in answer
    hits = json.loads(run(capsys, "recall", "install packages", "--json"))["hits"]
    assert old["uri"] in hits[0]["supersedes"]


def test_a_disputed_fact_is_decided_and_the_decision_undone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_with_violations(home).close()
    listed = json.loads(run(capsys, "review", "--json"))["reviews"]
    assert len(listed) == 1 and len(listed[0]["evidence"]) == 5
    assert "5 deeds went against it" in run(capsys, "review", "list")
    assert "Besides, 1 question on facts" in run(capsys, "promote", "candidates")
    assert "Retired." in run(capsys, "review", "retire", listed[0]["id"][:8], "--yes")
    assert "0 facts in proj." in run(capsys, "facts")
    assert main(["review", "keep", listed[0]["id"], "--yes"]) == 2
    run(capsys, "undo", "--yes")
    assert "1 fact in proj." in run(capsys, "facts")
    assert main(["review", "keep", "nothing", "--yes"]) == 2
