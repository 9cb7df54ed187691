from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.interfaces.cli.main import main
from tests.support.refine_banks import open_filled, session_on, session_saying


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(arguments) == 0
    return capsys.readouterr().out


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_BANK", "proj")
    return tmp_path


def test_a_rule_that_three_sessions_state_is_one_fact_with_three_sources(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = [
        "We never deploy the harbour service on a Friday afternoon.",
        "Once more: we NEVER deploy the harbour service on Friday afternoon!",
        "Remember: we never deploy our **harbour service** on Friday afternoons.",
        "We never deploy the ferry service on a Friday afternoon.",
    ]
    sessions = [session_saying(f"2026-09-0{n}", n, text) for n, text in enumerate(said, 1)]
    open_filled(home, *sessions).close()
    whole: dict[str, Any] = json.loads(run(capsys, "facts", "--kind", "rule", "--json"))
    sources = {fact["content"]: len(fact["evidence"]) for fact in whole["facts"]}
    assert sources == {said[0]: 3, said[3]: 1}
    seen = {one["what"]: one["seen"] for one in whole["statements"]}
    assert seen == {said[2]: 3, said[3]: 1}
    counted = run(capsys, "facts")
    assert "Memories from sessions: rule 2. `holdfast facts --kind rule` lists those." in counted
    listed = run(capsys, "facts", "--kind", "rule")
    assert (
        "rule · verified" in listed
        and "· 3 records for it ·" in listed
        and "in 3 sessions" in listed
    )


@pytest.mark.parametrize(
    "reply",
    [
        "Removed ap_max, overflow is allowed, and sleep_recovery replaces the maximum.",
        "Done. The AP system no longer has `ap_max`: `sleep_recovery` replaces the maximum.",
    ],
)
def test_a_restructured_feature_with_one_edit_tests_and_a_commit_is_core_logic(
    home: Path, capsys: pytest.CaptureFixture[str], reply: str
) -> None:
    script = session_on("2026-01-09", 1)
    script.user("Restructure the AP system.")
    script.tool(
        "Edit",
        "ok",
        file_path="/home/dev/proj/scripts/state.js",
        old_string="state.ap = Math.min(state.ap, state.ap_max)",
        new_string="state.ap += state.sleep_recovery",
    )
    script.tool("Bash", "Tests: 12 passed, 12 total", command="npm test")
    script.tool("Bash", "[main 1a2b3c4] x", command='git commit -am "Restructure the AP system"')
    script.assistant(reply)
    open_filled(home, script).close()
    (fact,) = json.loads(run(capsys, "facts", "--kind", "core_logic", "--json"))["facts"]
    assert fact["content"] == reply.removeprefix("Done. ")
    assert fact["files"] == ["scripts/state.js"] and fact["trust"] == "assistant"
    assert "core logic · observed" in run(capsys, "facts")
