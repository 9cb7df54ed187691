"""Calls of memory itself, by whichever way an agent makes them."""

from __future__ import annotations

import pytest

from holdfast.model.records import ToolCall
from holdfast.sources.own_calls import is_memory_call, is_memory_lookup, without_own_lines


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("mcp__holdfast__memory", '{"question":"why"}'),
        ("mcp__plugin_holdfast_memory__memory_recall", "{}"),
        ("ToolSearch", '{"query":"select:mcp__holdfast__memory"}'),
        ("Bash", 'holdfast ask "Why did we drop Kafka?"'),
        ("Bash", "cd /srv/app && .venv/bin/holdfast recall kafka --json | head -20"),
        ("Bash", "HOLDFAST_HOME=/tmp/h python3 -m holdfast reflect kafka"),
        ("PowerShell", "holdfast timeline"),
        ("Bash", "holdfast grep E4711"),
        ("Bash", 'sh "/home/ada b/plugin/scripts/holdfast.sh" brief'),
        ("Bash", 'sh "/srv/holdfast.sh" review --by-agent claude-code outdated 1a2b --why "sold"'),
        ("mcp__holdfast__review", '{"verdict":"outdated","ids":["memory/1a2b"]}'),
    ],
)
def test_a_lookup_is_known_by_its_tool_or_its_command(name: str, action: str) -> None:
    tool = ToolCall(name, action=action)
    assert is_memory_lookup(tool) and is_memory_call(tool)


@pytest.mark.parametrize("name", ["remember", "correct", "forget", "learn", "auto_learn"])
def test_keeping_something_is_a_call_but_no_lookup(name: str) -> None:
    tool = ToolCall(f"mcp__holdfast__{name}", action='{"text":"We use yarn."}')
    assert is_memory_call(tool) and not is_memory_lookup(tool)


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("mcp__weather__memory", "{}"),
        ("Bash", "pip install holdfast"),
        ("Bash", "grep -rn 'holdfast ask' docs"),
        ("Bash", "holdfast ingest --dry-run"),
        ("Bash", "sh scripts/holdfast.shim review"),
        ("Bash", "cat scripts/holdfast.sh | grep review"),
        ("Bash", "git commit -m 'Show what holdfast recall finds'"),
        ("ToolSearch", '{"query":"select:WebFetch"}'),
        ("Edit", "+holdfast ask"),
    ],
)
def test_other_calls_that_speak_of_holdfast_are_work(name: str, action: str) -> None:
    assert not is_memory_call(ToolCall(name, action=action))


@pytest.mark.parametrize(
    "line",
    [
        "- 3 Mar 2026: Kafka was dropped. [2]",
        "[1] Kafka was dropped (holdfast://fact/1a2b3c4d)",
        *(
            f"Kafka was dropped (so it is said) ({kind}/1a2b3c4d)"
            for kind in ("fact", "memory", "digest", "exchange", "turn", "session", "commit")
        ),
        "confidence: high",
    ],
)
def test_lines_that_quote_memory_are_left_out(line: str) -> None:
    assert without_own_lines(f"Before (it).\n{line}\nAfter [it].") == "Before (it).\n\nAfter [it]."


@pytest.mark.parametrize(
    "line", ["See [1] (and 2).", "On 3 Mar 2026: no source.", "(fact/xyz)", "my confidence: high"]
)
def test_other_lines_stay(line: str) -> None:
    assert without_own_lines(line) == line


@pytest.mark.parametrize("filler", ["\n", "A=1 ", "a/"])
def test_a_long_command_is_read_in_time(filler: str) -> None:
    before = filler * 20_000
    assert is_memory_lookup(ToolCall("Bash", action=f"{before}\nholdfast ask why"))
    assert not is_memory_lookup(ToolCall("Bash", action=f"{before}\nnpm run holdfast"))
