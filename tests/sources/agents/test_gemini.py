"""What Gemini CLI writes, read: lines since 0.30, whole documents before."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from holdfast.model.ledgers.lines import SourceState
from holdfast.model.trust import Trust
from holdfast.sources.agent import UserEnvironment
from holdfast.sources.agents.gemini import AGENT
from tests.support.agent_samples import copy, open_memory, read, sessions, turns


def test_messages_and_tool_calls_are_normalised(tmp_path: Path) -> None:
    found, tools, trusts = read("gemini", tmp_path)

    assert found == [
        ("user", "Say hello in hello.txt"),
        ("Write", "hello.txt|+hello"),
        ("assistant", "hello.txt says hello."),
        ("user", "Why does the parser drop tabs? Fix it. @src/parser.py"),
        ("assistant", "I look at the parser first."),
        ("Bash", "rg -n expandtabs src"),
        ("Edit", "src/parser.py|-    line = line.expandtabs()\n+    line = line.rstrip()"),
        ("Bash", "pytest -q"),
        ("mcp_wiki_ask", '{"question":"Who owns the parser?"}'),
        ("Write", "/etc/x|+x"),
        ("assistant", "The parser keeps tabs now, because the linter wants them."),
        ("user", "Thanks, commit it."),
        ("user", "Find every caller of parse."),
        ("assistant", "Only src/cli.py calls parse."),
    ]
    assert [(tool.ok, tool.result) for tool in tools if tool.name == "Bash"] == [
        (True, "src/parser.py:12: line = line.expandtabs()"),
        (False, "Output: 1 failed in 0.12s\nError: (none)\nExit Code: 1"),
    ]
    assert tools[-1].ok is False
    assert trusts["mcp_wiki_ask"] is Trust.EXTERNAL


def test_a_session_has_its_title_and_parent(tmp_path: Path) -> None:
    folder = copy("gemini", tmp_path)
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([folder]))
        _, main, inner = sessions(memory)

    assert main.title == "Keep tabs in the parser"
    assert (inner.host, inner.parent, inner.subagent) == (main.id, main.id, "subagent")


@pytest.mark.slow
def test_a_document_rewritten_with_every_message_is_stored_once(tmp_path: Path) -> None:
    folder = copy("gemini", tmp_path)
    (path,) = folder.rglob("*.json")
    whole = json.loads(path.read_text())
    with open_memory(tmp_path / "whole") as memory:
        memory.ingest(memory.ingestion.find([path]))
        wanted = [(turn.id, turn.text, turn.tool) for turn in turns(memory)]
        assert len(wanted) > 1
    with open_memory(tmp_path / "piecewise") as memory:
        for count in range(len(whole["messages"]) + 1):
            part = {**whole, "lastUpdated": str(count), "messages": whole["messages"][:count]}
            path.write_text(json.dumps(part, indent=2))
            memory.ingest(memory.ingestion.find([path]))
        balance = memory.inventory.balance()

        assert [(turn.id, turn.text, turn.tool) for turn in turns(memory)] == wanted
        assert balance.lines == balance.accounted == 6


def test_a_call_that_was_still_running_gets_its_result_later(tmp_path: Path) -> None:
    folder = copy("gemini", tmp_path)
    (path,) = folder.rglob("*.json")
    whole = json.loads(path.read_text())
    done = whole["messages"][1]["toolCalls"][0]
    running = {key: value for key, value in done.items() if key not in ("result", "status")}
    whole["messages"][1]["toolCalls"][0] = {**running, "status": "executing"}
    with open_memory(tmp_path) as memory:
        path.write_text(json.dumps(whole))
        memory.ingest(memory.ingestion.find([path]))
        assert [turn.tool.ok for turn in turns(memory) if turn.tool] == [None]
        whole["messages"][1]["toolCalls"][0] = done
        path.write_text(json.dumps(whole))
        memory.ingest(memory.ingestion.find([path]))

        assert [turn.tool.ok for turn in turns(memory) if turn.tool] == [True]


def test_a_truncated_document_is_reported_and_read_when_it_is_complete(tmp_path: Path) -> None:
    folder = copy("gemini", tmp_path)
    (path,) = folder.rglob("*.json")
    whole = path.read_bytes()
    with open_memory(tmp_path) as memory:
        path.write_bytes(whole[:-40])
        memory.ingest(memory.ingestion.find([path]))
        (source,) = memory.reader.sources.all()
        assert (source.state, turns(memory)) == (SourceState.UNREADABLE, [])
        path.write_bytes(whole)
        memory.ingest(memory.ingestion.find([path]))

        assert len(turns(memory)) == 3


def test_a_project_known_only_by_its_hash_is_looked_up(tmp_path: Path) -> None:
    project = "/home/dev/other"
    named = hashlib.sha256(project.encode()).hexdigest()
    chats = tmp_path / ".gemini" / "tmp" / named / "chats"
    chats.mkdir(parents=True)
    registry = tmp_path / ".gemini" / "projects.json"
    registry.write_text(json.dumps({"projects": {project: "other"}}))
    head = json.dumps({"sessionId": "s", "projectHash": named}).encode()

    assert AGENT.read_session(chats / "session-1.json", head).cwd == project
    assert AGENT.folders(UserEnvironment(tmp_path, {}, "linux")) == [tmp_path / ".gemini" / "tmp"]
