from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.interfaces.cli.main import main
from tests.refine.facts.test_closed_tasks import session_that_does_it, session_that_leaves_open
from tests.refine.facts.test_facts import open_with_violations
from tests.support.refine_banks import open_filled, session_on, session_saying
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
    assert "pnpm" in output and "with npm in" not in output and "1 fact in bank proj." in output
    whole: dict[str, Any] = json.loads(run(capsys, "facts", "--all", "--json"))
    new, old = whole["facts"]
    assert old["status"] == "superseded" and old["superseded_by"] == new["uri"]
    shown = run(capsys, "show", old["uri"])
    assert "history:" in shown and "superseded, because of holdfast://turn/" in shown
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
    assert "5 actions contradict it" in run(capsys, "review", "list")
    assert "Also 1 question on facts" in run(capsys, "promote", "candidates")
    assert "Retired." in run(capsys, "review", "retire", listed[0]["id"][:8], "--yes")
    assert "0 facts in bank proj." in run(capsys, "facts")
    assert main(["review", "keep", listed[0]["id"], "--yes"]) == 2
    run(capsys, "undo", "--yes")
    assert "1 fact in bank proj." in run(capsys, "facts")
    assert main(["review", "keep", "nothing", "--yes"]) == 2


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


def test_a_task_that_a_later_session_did_is_not_open_any_more(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_filled(home, session_that_leaves_open("2026-09-01", 1)).close()
    (task,) = json.loads(run(capsys, "facts", "--kind", "todo", "--json"))["statements"]
    assert "still missing" in run(capsys, "facts", "--kind", "todo")
    assert "still missing" in run(capsys, "brief")
    open_filled(
        home,
        session_that_leaves_open("2026-09-01", 1),
        session_that_does_it("2026-09-05", 2),
    ).close()
    assert json.loads(run(capsys, "facts", "--kind", "todo", "--json"))["statements"] == []
    assert "still missing" not in run(capsys, "brief")
    shown = json.loads(run(capsys, "show", task["uri"], "--json"))["record"]
    assert shown["status"] == "superseded"
    done = json.loads(run(capsys, "show", shown["superseded_by"], "--json"))["record"]
    assert done["kind"] == "outcome" and done["supersedes"] == [task["uri"]]
    asked = ("recall", "retry for the uploader", "--json")
    (hit,) = json.loads(run(capsys, *asked, "--kind", "todo"))["hits"]
    assert (hit["uri"], hit["superseded_by"]) == (task["uri"], shown["superseded_by"])
    by_uri = {one["uri"]: one for one in json.loads(run(capsys, *asked))["hits"]}
    assert by_uri[shown["superseded_by"]]["supersedes"] == [task["uri"]]
    then = json.loads(run(capsys, *asked, "--kind", "todo", "--as-of", "2026-09-03"))
    (hit,) = then["hits"]
    assert (hit["uri"], hit["status"]) == (task["uri"], "observed") and not hit["superseded_by"]


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
