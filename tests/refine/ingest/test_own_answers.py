"""Answers of our own MCP server appear in transcripts: they are not stored a second time, and
external text that they quote stays external."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.trust import Trust
from holdfast.settings import Settings
from tests.support.transcripts import Script


def ingest_answer(tmp_path: Path, tool: str, trust: str) -> tuple[Trust, Trust, str]:
    """The trust of the call and of the exchange, and the stored answer."""
    script = Script("99999999-0000-4000-8000-000000000001", cwd="/home/dev/proj")
    script.user("Which harbour gauge do we trust?")
    cited = [{"uri": "holdfast://turn/1", "trust": trust, "excerpt": "The north gauge."}]
    data = {"answer": "The north gauge. [1]", "citations": cited}
    script.tool(tool, json.dumps(data), question="which gauge")
    script.assistant("The north gauge, as was settled in March.")
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path)
    with Holdfast(settings) as memory:
        memory.ingest(memory.ingestion.find([script.write(tmp_path)]))
        (session,) = memory.reader.sessions.latest(None)
        (call,) = [t for t in memory.reader.turns.of_session(session.bank, session.id) if t.tool]
        (exchange,) = memory.reader.sessions.exchanges(session.bank, session.id)
    assert call.tool is not None
    return call.trust, exchange.trust, call.tool.result


@pytest.mark.parametrize("tool", ["mcp__holdfast__memory", "mcp__plugin_holdfast_memory__memory"])
def test_answers_of_our_own_server_are_trusted_and_not_stored_again(
    tmp_path: Path, tool: str
) -> None:
    trust, exchange, result = ingest_answer(tmp_path, tool, "assistant")
    assert (trust, result) == (Trust.TOOL, "answered from memory")
    assert exchange is not Trust.EXTERNAL


def test_external_text_stays_external_when_memory_quotes_it(tmp_path: Path) -> None:
    trust, exchange, result = ingest_answer(tmp_path, "mcp__holdfast__memory", "external")
    assert trust is exchange is Trust.EXTERNAL
    assert "north gauge" not in result


def test_another_server_with_the_same_answer_is_external(tmp_path: Path) -> None:
    trust, exchange, _ = ingest_answer(tmp_path, "mcp__weather__memory", "assistant")
    assert trust is exchange is Trust.EXTERNAL


def test_a_short_reply_can_be_the_summary(tmp_path: Path) -> None:
    script = Script("99999999-0000-4000-8000-000000000002", cwd="/home/dev/proj")
    script.user("The parser crashes on lines with an empty value, please fix it.")
    script.assistant("The cause is in parse(): it splits at the sign and takes the second part, "
                     "which is not there when the value is empty.")  # fmt: skip
    script.tool("Edit", "ok", file_path="/home/dev/proj/parse.py", old_string="a", new_string="b")
    script.assistant("Now the tests:")
    script.tool("Bash", "3 passed", command="pytest -q")
    script.assistant("Fixed: lines with an empty value are skipped now.")
    with Holdfast(Settings(home=tmp_path / "home", claude_dir=tmp_path)) as memory:
        memory.ingest(memory.ingestion.find([script.write(tmp_path)]))
        (session,) = memory.reader.sessions.latest(None)
        (exchange,) = memory.reader.sessions.exchanges(session.bank, session.id)
    assert "skipped now" in exchange.summary
