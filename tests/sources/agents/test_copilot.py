"""What Copilot CLI writes, read."""

from __future__ import annotations

from pathlib import Path

from holdfast.model.trust import Trust
from holdfast.sources.agent import UserEnvironment
from holdfast.sources.agents.copilot import AGENT
from tests.support.agent_samples import copy, open_memory, read, sessions


def test_messages_and_tool_calls_are_normalised(tmp_path: Path) -> None:
    found, tools, trusts = read("copilot", tmp_path)

    assert found == [
        ("user", "Why does the parser drop tabs? Fix it."),
        ("user", "[file parser.py]"),
        ("assistant", "I look at the parser first."),
        ("Bash", "rg -n expandtabs src"),
        ("Edit", "src/parser.py|-    line = line.expandtabs()\n+    line = line.rstrip()"),
        ("Bash", "pytest -q"),
        ("wiki-ask", '{"question":"Who owns the parser?"}'),
        ("Read", "src/gone.py"),
        ("Agent", "explore|Find callers of parse"),
        ("user", "[Request interrupted by user]"),
        ("assistant", "The parser keeps tabs now, because the linter wants them."),
        ("assistant", "Only src/cli.py calls parse."),
    ]
    assert [tool.ok for tool in tools] == [True, True, False, True, False, True]
    assert tools[0].result == "src/parser.py:12: line = line.expandtabs()"
    assert tools[2].result == "1 failed in 0.12s"
    assert trusts["wiki-ask"] is Trust.EXTERNAL


def test_a_session_has_its_title_branch_and_subagents(tmp_path: Path) -> None:
    folder = copy("copilot", tmp_path)
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([folder]))
        main, inner = sessions(memory)

    assert (main.title, main.branch, main.version) == (
        "Keep tabs in the parser",
        "fix/tabs",
        "1.0.64",
    )
    assert (inner.id, inner.host, inner.parent) == (f"{main.id}:c6", main.id, main.id)


def test_its_home_can_be_set_by_a_variable(tmp_path: Path) -> None:
    where = UserEnvironment(tmp_path, {"COPILOT_HOME": str(tmp_path / "c")}, "linux")

    assert AGENT.folders(where) == [tmp_path / "c" / "session-state"]
