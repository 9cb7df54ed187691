"""Which memory tools subagents of the real program have: read-only, all or none, by their kind."""

from __future__ import annotations

import json

import pytest

from tests.e2e.claude_code.api import Json, Say, Use
from tests.e2e.claude_code.conftest import MakeLab
from tests.e2e.claude_code.sandbox import Lab
from tests.e2e.claude_code.test_setup_and_removal import PLUGIN, learn

PREFIX = "mcp__plugin_holdfast_memory__"
QUESTION = {"question": "Why does the nightly import fail?"}
READING = {f"{PREFIX}{tool}" for tool in ("memory", "memory_recall", "team_query")}


def delegate(make_lab: MakeLab, kind: str) -> tuple[Lab, list[Json]]:
    """Have the model delegate a task; returns what the subagent asked of the model."""
    task = {
        "description": "look",
        "prompt": "Look. PLAY:kid",
        "subagent_type": kind,
        "run_in_background": False,
    }
    lab = make_lab(
        {
            "lead": ([Use("Agent", task)], [Say("Done.")]),
            "kid": ([Use(f"{PREFIX}memory", QUESTION)], [Say("Found it.")]),
        }
    )
    learn(lab, "setup", "--yes", "--no-allow-tools")
    lab.hold_worker()
    allow = ",".join((*sorted(READING), "Agent"))
    lab.claude("Delegate it. PLAY:lead", "--plugin-dir", str(PLUGIN), allow=allow)
    return lab, [body for body in lab.api.requests if _is_of_subagent(body)]


def _is_of_subagent(body: Json) -> bool:
    first = next(message for message in body["messages"] if message["role"] == "user")
    return "Look. PLAY:kid" in json.dumps(first) and "Delegate it." not in json.dumps(first)


@pytest.mark.slow
def test_the_researcher_reads_memory_and_cannot_write_it(make_lab: MakeLab) -> None:
    _, asked = delegate(make_lab, "holdfast:memory-researcher")
    assert asked
    tools = {tool["name"] for tool in asked[0]["tools"]}
    assert {f"{PREFIX}memory", f"{PREFIX}memory_recall"} <= tools
    assert {name for name in tools if name.startswith("mcp__")} <= READING
    assert "Write" not in tools and "Bash" not in tools
    assert "warmed after the import" in json.dumps(asked[-1]["messages"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["code-explorer", "code-architect", "code-reviewer"])
def test_an_orchestrated_agent_has_no_memory(make_lab: MakeLab, name: str) -> None:
    lab, asked = delegate(make_lab, f"holdfast:{name}")
    assert asked
    assert not [tool["name"] for tool in asked[0]["tools"] if tool["name"].startswith("mcp__")]
    assert "warmed after the import" not in json.dumps(asked[-1]["messages"])
    assert "warmed after the import" in lab.api.sent(0), "whoever delegates was told"


@pytest.mark.slow
def test_a_general_subagent_has_every_tool_and_no_brief(make_lab: MakeLab) -> None:
    _, asked = delegate(make_lab, "general-purpose")
    assert asked
    tools = {tool["name"] for tool in asked[0]["tools"]}
    assert {f"{PREFIX}memory", f"{PREFIX}remember"} <= tools
    assert "holdfast-brief" not in json.dumps(asked[0]["messages"])
