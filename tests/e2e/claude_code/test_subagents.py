"""Which memory tools subagents of the real program have: read-only, all or none, by their kind."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from tests.e2e.claude_code.api import Json, Say, Use
from tests.e2e.claude_code.conftest import MakeLab
from tests.e2e.claude_code.test_setup_and_removal import PLUGIN, learn

PREFIX = "mcp__plugin_holdfast_memory__"
QUESTION = {"question": "Why does the nightly import fail?"}
READING = {f"{PREFIX}{tool}" for tool in ("memory", "memory_recall", "show", "team_query")}


AGENTS = ("code-explorer", "code-architect", "code-reviewer")
KINDS = ("holdfast:memory-researcher", *(f"holdfast:{name}" for name in AGENTS), "general-purpose")


class Delegated(NamedTuple):
    """What the model was sent by whoever delegates, and by each kind of subagent."""

    lead: str
    asked: dict[str, list[Json]]

    def tools(self, kind: str) -> set[str]:
        return {tool["name"] for tool in self.asked[kind][0]["tools"]}


@pytest.fixture(scope="module")
def delegated(make_shared_lab: MakeLab) -> Delegated:
    """One session, in which the model delegates a task to every kind of subagent."""
    tasks = [
        {
            "description": "look",
            "prompt": f"{_prompt(kind)} PLAY:kid",
            "subagent_type": kind,
            "run_in_background": False,
        }
        for kind in KINDS
    ]
    lab = make_shared_lab(
        {
            "lead": ([Use("Agent", task) for task in tasks], [Say("Done.")]),
            "kid": ([Use(f"{PREFIX}memory", QUESTION)], [Say("Found it.")]),
        }
    )
    learn(lab, "setup", "--yes", "--no-allow-tools")
    lab.hold_worker()
    allow = ",".join((*sorted(READING), "Agent"))
    lab.claude("Delegate it. PLAY:lead", "--plugin-dir", str(PLUGIN), allow=allow)
    requests = lab.api.requests
    asked = {kind: [body for body in requests if _prompt(kind) in _first(body)] for kind in KINDS}
    assert all(asked.values()), {kind: len(found) for kind, found in asked.items()}
    return Delegated(lab.api.sent(0), asked)


def _prompt(kind: str) -> str:
    return f"Look as {kind}."


def _first(body: Json) -> str:
    """What a conversation began with: for a subagent, its task."""
    return json.dumps(next(m for m in body["messages"] if m["role"] == "user"))


@pytest.mark.slow
def test_the_researcher_reads_memory_and_cannot_write_it(delegated: Delegated) -> None:
    kind = "holdfast:memory-researcher"
    tools = delegated.tools(kind)
    assert {f"{PREFIX}memory", f"{PREFIX}memory_recall"} <= tools
    assert {name for name in tools if name.startswith("mcp__")} <= READING
    assert "Write" not in tools and "Bash" not in tools
    assert "warmed after the import" in json.dumps(delegated.asked[kind][-1]["messages"])


@pytest.mark.slow
@pytest.mark.parametrize("name", AGENTS)
def test_an_orchestrated_agent_has_no_memory(delegated: Delegated, name: str) -> None:
    kind = f"holdfast:{name}"
    assert not [tool for tool in delegated.tools(kind) if tool.startswith("mcp__")]
    assert "warmed after the import" not in json.dumps(delegated.asked[kind][-1]["messages"])
    assert "warmed after the import" in delegated.lead, "whoever delegates was told"


@pytest.mark.slow
def test_a_general_subagent_has_every_tool_and_no_brief(delegated: Delegated) -> None:
    kind = "general-purpose"
    assert {f"{PREFIX}memory", f"{PREFIX}remember"} <= delegated.tools(kind)
    assert "holdfast-brief" not in json.dumps(delegated.asked[kind][0]["messages"])
