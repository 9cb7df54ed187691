"""The memory tools in the real program after setup: used without a question to the user."""

from __future__ import annotations

import json

import pytest

from tests.e2e.claude_code.api import Say, Use
from tests.e2e.claude_code.conftest import MakeLab
from tests.e2e.claude_code.sandbox import Lab
from tests.e2e.claude_code.test_setup_and_removal import PLUGIN, learn

QUESTION = {"question": "Why does the nightly import fail?"}
OWN, OF_PLUGIN = "mcp__holdfast__", "mcp__plugin_holdfast_memory__"
KEPT = "The staging database is wiped every Sunday night by the reset job."


def set_up(lab: Lab, *options: str) -> None:
    done = lab.holdfast("setup", "--yes", *options)
    assert done.status == 0, done.err
    lab.hold_worker()
    learn(lab)


@pytest.mark.parametrize("allow", [True, False])
def test_claude_uses_memory_without_a_prompt_if_setup_allowed_it(
    make_lab: MakeLab, allow: bool
) -> None:
    lab = make_lab({"ask": ([Use(f"{OWN}memory", QUESTION)], [Say("I see.")])})
    set_up(lab, *([] if allow else ["--no-allow-tools"]))
    lab.claude("Why? PLAY:ask")
    answer = json.dumps(lab.api.requests[1]["messages"][-1])
    assert ("warmed after the import" in answer) is allow
    assert ("haven't granted" in answer) is not allow


def test_a_tool_that_writes_still_needs_the_users_permission(make_lab: MakeLab) -> None:
    lab = make_lab({"keep": ([Use(f"{OWN}remember", {"text": KEPT})], [Say("Kept.")])})
    set_up(lab)
    lab.claude("Keep it. PLAY:keep")
    assert "haven't granted" in json.dumps(lab.api.requests[1]["messages"][-1])


def test_the_commands_of_the_plugin_may_use_their_tools(make_lab: MakeLab) -> None:
    lab = make_lab(
        {
            "ask": ([Use(f"{OF_PLUGIN}memory", QUESTION)], [Say("I see.")]),
            "keep": ([Use(f"{OF_PLUGIN}remember", {"text": KEPT})], [Say(f"Remember: {KEPT}")]),
        }
    )
    set_up(lab, "--no-allow-tools")
    lab.claude("/holdfast:ask PLAY:ask", "--plugin-dir", str(PLUGIN))
    assert "warmed after the import" in json.dumps(lab.api.requests[1]["messages"][-1])
    lab.api.requests.clear()
    lab.claude("/holdfast:remember PLAY:keep", "--plugin-dir", str(PLUGIN))
    assert "granted" not in json.dumps(lab.api.requests[1]["messages"][-1])
    found = json.loads(lab.holdfast("recall", "staging database wiped", "--json").out)
    assert any(hit["kind"] == "memory" and KEPT in hit["text"] for hit in found["hits"])


def test_the_status_command_of_the_plugin_runs_nothing_but_its_script(make_lab: MakeLab) -> None:
    lab = make_lab({"status": ([Say("It works.")],)})
    set_up(lab, "--no-allow-tools")
    lab.claude("/holdfast:status PLAY:status", "--plugin-dir", str(PLUGIN))
    assert "every line is accounted for" in lab.api.sent(0)
    assert "Bash(sh:*)" not in (PLUGIN / "commands" / "status.md").read_text()


def test_the_very_next_session_after_setup_has_the_brief(make_lab: MakeLab) -> None:
    lab = make_lab({"hello": ([Say("Hello.")],)})
    learn(lab, "setup", "--yes")
    lab.hold_worker()
    lab.claude("Hello there. PLAY:hello")
    assert "<holdfast-brief" in lab.api.sent(0).replace("\\u003c", "<")
    assert "warmed after the import" in lab.api.sent(0)
