"""The real program calls every tool of every server, in one session, and goes on in another."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, cast

import pytest

from holdfast.operations.agents.tools import SERVERS, AgentTool
from tests.e2e.claude_code.api import Json, Say, Use, texts
from tests.e2e.claude_code.conftest import MakeLab
from tests.e2e.claude_code.sandbox import Lab
from tests.e2e.claude_code.test_setup_and_removal import learn, told_record

GIVEN: dict[str, Any] = {
    "question": "Why does the nightly import fail?",
    "query": "nightly import",
    "text": "The staging database is rebuilt every night.",
    "domain": "testing",
    "content": "Use the fixtures in tests/conftest.py.",
    "action": "candidates",
    "concept": "import",
    "filePath": "src/cache.py",
    "type": "bugfix",
    "anchor": "2026-01-05",
    "verdict": "useful",
}


def uses(server: str, tools: tuple[AgentTool, ...], **own: Json) -> list[Use]:
    """A call of each tool; `own` has what some of them are given, by their names."""
    return [
        Use(
            f"mcp__{server}__{tool.name}",
            own.get(tool.name) or {key: GIVEN[key] for key in tool.schema().get("required", ())},
        )
        for tool in tools
    ]


def blocks(request: Json) -> list[Json]:
    found: list[Json] = []
    for message in request["messages"]:
        content: Any = message["content"]
        found += cast(list[Json], content) if isinstance(content, list) else []
    return found


class Asked(NamedTuple):
    """One session in which the model called every tool of every server."""

    lab: Lab
    first: str
    request: Json
    results: list[Json]
    found: list[Json]

    def answer_of(self, tool: str) -> str:
        """What a tool answered; the answers come in any order."""
        uses = {b["id"]: b["name"] for b in blocks(self.request) if b["type"] == "tool_use"}
        (found,) = (block for block in self.results if uses[block["tool_use_id"]] == tool)
        return json.dumps(found["content"])


@pytest.fixture(scope="module")
def asked(make_shared_lab: MakeLab) -> Asked:
    lab = make_shared_lab({})
    lab.env["ENABLE_TOOL_SEARCH"] = "false"
    assert lab.holdfast("setup", "--yes").status == 0
    lab.hold_worker()
    learn(lab)
    told = told_record(lab, "warmed after the import")
    kept = [
        json.loads(lab.holdfast("remember", text, "--json").out)["uri"]
        for text in ("The crane of the pier is red.", "The buoy of the channel is green.")
    ]
    own = {
        "review": {"verdict": "useful", "ids": [told]},
        "correct": {"id": kept[0], "text": "The crane of the pier is blue."},
        "forget": {"id": kept[1]},
        "show": {"id": told},
    }
    steps = (
        uses("holdfast", SERVERS["main"].tools, **own),
        uses("access", SERVERS["memory"].tools),
        uses("search", SERVERS["search"].tools, show={"id": told}),
        [Say("I see.")],
    )
    lab.api.plays = {"all": steps}
    for name, server in (("access", "memory"), ("search", "search")):
        command = (str(lab.python), "-I", "-m", "holdfast", "mcp", server)
        added = lab.run_claude("mcp", "add", name, "-s", "user", "--", *command)
        assert added.status == 0, added.err
    done = lab.claude("Look. PLAY:all", allow="mcp__holdfast,mcp__access,mcp__search")
    assert done.out.strip() == "I see.", done.err
    results = [block for block in blocks(lab.api.requests[-1]) if block["type"] == "tool_result"]
    found = json.loads(lab.holdfast("recall", "staging database rebuilt", "--json").out)["hits"]
    return Asked(lab, lab.api.sent(0), lab.api.requests[-1], results, found)


@pytest.mark.slow
def test_every_tool_of_every_server_can_be_called(asked: Asked) -> None:
    assert len(asked.results) == sum(len(server.tools) for server in SERVERS.values())
    assert not [block for block in asked.results if block.get("is_error")]
    assert "Remembered in proj" in asked.answer_of("mcp__holdfast__remember")
    assert "Done: correct holdfast://memory/" in asked.answer_of("mcp__holdfast__correct")
    assert "Done: forget holdfast://memory/" in asked.answer_of("mcp__holdfast__forget")
    assert not (asked.lab.project / ".claude").exists()
    assert [hit["trust"] for hit in asked.found if hit["kind"] == "memory"] == ["assistant"]


@pytest.mark.slow
def test_the_model_can_ask_and_recall(asked: Asked) -> None:
    assert "Holdfast remembers earlier sessions" in asked.first
    for tool in ("memory", "memory_recall"):
        told = asked.answer_of(f"mcp__holdfast__{tool}")
        assert "warmed after the import" in told and "holdfast://" in told


@pytest.mark.slow
def test_the_model_reads_text_and_no_json(asked: Asked) -> None:
    for tool in SERVERS["main"].tools:
        told = "".join(texts(json.loads(asked.answer_of(f"mcp__holdfast__{tool.name}"))))
        assert told and not told.lstrip().startswith("{"), told[:200]


@pytest.mark.slow
def test_a_research_session_can_be_continued_in_a_later_session(asked: Asked) -> None:
    lab = asked.lab
    (session,) = set(re.findall(r"mem-[0-9a-f]{8,}", asked.answer_of("mcp__holdfast__memory")))
    on = {"question": "And when must it be warmed?", "session_id": session}
    lab.api.plays = {"on": ([Use("mcp__holdfast__memory", on)], [Say("I see.")])}
    server = {"command": str(lab.python), "args": ["-I", "-m", "holdfast", "mcp"]}
    config = json.dumps({"mcpServers": {"holdfast": server}})
    given = ("--strict-mcp-config", "--mcp-config", config)
    lab.claude("When? PLAY:on", *given, allow="mcp__holdfast")
    assert session in lab.api.sent(-1) and "warmed after the import" in lab.api.sent(-1)
    told = json.loads(lab.holdfast("research", "show", session, "--json").out)
    assert told["questions"] == [GIVEN["question"], on["question"]] and told["state"] == "done"
