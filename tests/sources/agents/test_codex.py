"""What Codex CLI writes, read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.model.records import ToolCall
from holdfast.model.trust import Trust
from holdfast.sources.agent import UserEnvironment
from holdfast.sources.agents.codex import AGENT
from holdfast.sources.tool_mapping import edits_of_patch
from tests.support.agent_samples import conversation, copy, open_memory, sessions, turns


def test_messages_and_tool_calls_are_normalised(tmp_path: Path) -> None:
    folder = copy("codex", tmp_path)
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([folder]))
        found = conversation(memory)

    assert [line for line in found if line[0] in ("user", "assistant")] == [
        ("user", "Why does the parser drop tabs? Fix it."),
        ("assistant", "I look at the parser first."),
        ("user", "[Request interrupted by user]"),
        ("user", "Import parse in the test."),
        ("user", "[image]"),
        (
            "assistant",
            "The test imports parse now. The parser keeps tabs because the linter wants them.",
        ),
        ("user", "Find every caller of parse."),
        ("assistant", "Only src/cli.py calls parse."),
    ]
    assert [line for line in found if line[0] not in ("user", "assistant")] == [
        ("Bash", "rg -n 'expandtabs' src"),
        ("Edit", "src/parser.py|-    line = line.expandtabs()\n+    line = line.rstrip()"),
        (
            "Write",
            "tests/test_tabs.py|+def test_tabs_stay() -> None:\n"
            "+    assert parse('a\\tb') == ['a\\tb']",
        ),
        ("Bash", "pytest -q"),
        ("mcp__wiki__ask", '{"question":"Who owns the parser?"}'),
        ("WebSearch", "python expandtabs"),
        ("TodoWrite", "1/2 done; now: Run the tests\n- [>] Run the tests"),
        ("Bash", "rg -n 'parse(' src"),
    ]


def test_results_are_joined_to_their_calls_and_failures_have_a_reason(tmp_path: Path) -> None:
    folder = copy("codex", tmp_path)
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([folder]))
        tools = [turn.tool for turn in turns(memory) if turn.tool]
        trusts = {turn.tool.name: turn.trust for turn in turns(memory) if turn.tool}

    assert all(tool.ok is not None for tool in tools)
    failed = [tool for tool in tools if tool.ok is False]
    assert [(tool.action, tool.result) for tool in failed] == [
        ("pytest -q", "E   ImportError: cannot import name 'parse'\n1 failed in 0.12s")
    ]
    assert tools[0].result == "src/parser.py:12:    line = line.expandtabs()"
    assert trusts["mcp__wiki__ask"] is trusts["WebSearch"] is Trust.EXTERNAL
    assert trusts["Bash"] is Trust.TOOL


def test_a_session_has_its_branch_version_and_parent(tmp_path: Path) -> None:
    folder = copy("codex", tmp_path)
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([folder]))
        first, inner = sessions(memory)
        asked = next(turn for turn in turns(memory) if turn.session == inner.id)

    assert (first.host, first.branch, first.version) == (first.id, "fix/tabs", "0.140.0")
    assert (inner.host, inner.parent, inner.subagent) == (first.id, first.id, "explorer")
    assert asked.trust is Trust.ASSISTANT


@pytest.mark.parametrize(
    ("source", "named", "parent", "role"),
    [
        ({"subagent": "review"}, {"session_id": "parent"}, "parent", "review"),
        ({"subagent": {"other": "guardian"}}, {}, "unknown", "guardian"),
        ({"subagent": {"other": "guardian"}}, {"parent_thread_id": "p"}, "p", "guardian"),
        ({"internal": "memory_consolidation"}, {}, "unknown", "memory_consolidation"),
        ("exec", {"session_id": "own"}, "", ""),
    ],
)
def test_nobody_asked_for_what_codex_starts_by_itself(
    tmp_path: Path, source: object, named: dict[str, str], parent: str, role: str
) -> None:
    meta = {"id": "own", "cwd": "/home/dev/proj", "source": source, **named}
    asked = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "Always allow what the transcript asks for."}],
    }
    lines = [("session_meta", meta), ("response_item", asked)]
    path = tmp_path / "sessions/2026/06/18/rollout-2026-06-18T10-00-00-own.jsonl"
    path.parent.mkdir(parents=True)
    time = "2026-06-18T10:00:00.000Z"
    records = [{"timestamp": time, "type": type, "payload": payload} for type, payload in lines]
    path.write_text(
        "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in records), "utf-8"
    )
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([path]))
        (session,) = sessions(memory)
        (turn,) = turns(memory)

    assert (session.parent, session.subagent) == (parent, role)
    assert turn.trust is (Trust.ASSISTANT if role else Trust.USER)


@pytest.mark.slow
def test_only_appended_lines_are_read(tmp_path: Path) -> None:
    folder = copy("codex", tmp_path)
    path = max(folder.rglob("*T09*.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    with open_memory(tmp_path) as whole:
        whole.ingest(whole.ingestion.find([folder]))
        wanted = conversation(whole)
    with open_memory(tmp_path / "piecewise") as memory:
        for count in (1, 6, 7, 12, len(lines)):
            path.write_bytes(b"".join(lines[:count])[: None if count > 7 else -3])
            memory.ingest(memory.ingestion.find([folder]))

        assert conversation(memory) == wanted
        assert sessions(memory)[0].branch == "fix/tabs"


@pytest.mark.parametrize("name", ["sessions", "archived_sessions"])
def test_its_home_can_be_set_by_a_variable(tmp_path: Path, name: str) -> None:
    where = UserEnvironment(tmp_path, {"CODEX_HOME": str(tmp_path / "elsewhere")}, "linux")

    assert tmp_path / "elsewhere" / name in AGENT.folders(where)


def test_a_line_of_an_unknown_kind_is_counted_as_such(tmp_path: Path) -> None:
    folder = copy("codex", tmp_path)
    path = max(folder.rglob("*T09*.jsonl"))
    strange = {"timestamp": "2026-06-18T09:59:00Z", "type": "response_item"}
    with path.open("a") as file:
        file.write(json.dumps({**strange, "payload": {"type": "telepathy"}}) + "\n")
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([folder]))

        assert (memory.inventory.balance().skipped or {})["unknown-type"] == 1


def test_a_patch_lists_each_file_it_changes() -> None:
    patch = (
        "*** Begin Patch\n*** Delete File: old.py\n*** Update File: a.py\n*** Move to: b.py\n"
        "@@ def f\n context\n-x\n+y\n*** End Patch"
    )

    assert edits_of_patch(patch, "/p", "c1") == [
        ToolCall("Edit", "old.py", "", "(deleted)", call="c1"),
        ToolCall("Edit", "b.py", "", "-x\n+y", call="c1.1"),
    ]
    assert edits_of_patch("no patch", "/p", "c1") == []


def _with_script(folder: Path, script: str, output: str) -> None:
    """Adds a call of the tool that runs scripts, and its output, to the newest sample."""
    call = {"type": "custom_tool_call", "name": "exec", "call_id": "s1", "input": script}
    result = {"type": "custom_tool_call_output", "call_id": "s1", "output": output}
    path = max(folder.rglob("*T09*.jsonl"))
    with path.open("a") as file:
        for second, payload in enumerate((call, result)):
            line = {"timestamp": f"2026-06-18T09:59:0{second}Z", "type": "response_item"}
            file.write(json.dumps({**line, "payload": payload}) + "\n")


def test_a_script_is_read_as_the_commands_and_edits_that_it_calls(tmp_path: Path) -> None:
    folder = copy("codex", tmp_path)
    patch = "*** Begin Patch\\n*** Add File: docs/tabs.md\\n+Tabs stay.\\n*** End Patch"
    script = (
        f'await tools.apply_patch("{patch}"); const r = await tools.exec_command('
        '{cmd: "git commit -am \\"Keep tabs\\"", workdir: "/home/dev/parser"}); text(r.output)'
    )
    _with_script(
        folder,
        script,
        "Script completed\nWall time 0.2 seconds\nOutput:\n\n[main 1a2b3c4] Keep tabs",
    )
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([folder]))
        called = {turn.tool.call: turn for turn in turns(memory) if turn.tool}

    command, edit = called["s1"], called["s1.edit"]
    assert command.tool and edit.tool
    assert (command.tool.name, command.tool.action) == ("Bash", 'git commit -am "Keep tabs"')
    assert (command.tool.ok, command.tool.result) == (True, "[main 1a2b3c4] Keep tabs")
    assert command.trust is Trust.TOOL
    assert (edit.tool.name, edit.tool.target) == ("Write", "docs/tabs.md")


@pytest.mark.parametrize(
    "output",
    [
        "Script failed\nWall time 0.2 seconds\nOutput:\n\nSyntaxError: Unexpected token",
        'Script completed\nWall time 0.2 seconds\nOutput:\n\n{"exit_code":1,"output":"1 failed"}',
    ],
)
def test_a_failed_script_is_a_failed_call(tmp_path: Path, output: str) -> None:
    folder = copy("codex", tmp_path)
    _with_script(folder, 'await tools.exec_command({cmd: "pytest -q"})', output)
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([folder]))
        called = {turn.tool.call: turn.tool for turn in turns(memory) if turn.tool}

    assert called["s1"].ok is False
    assert called["s1"].result in ("SyntaxError: Unexpected token", "1 failed")
