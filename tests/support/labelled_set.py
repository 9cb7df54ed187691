"""A small set with labels for `holdfast eval`: three sessions of two banks, one with a subagent."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.support.transcripts import Script, bug_hunt

TIDES = "aaaaaaaa-0000-4000-8000-000000000001"
BUOYS = "bbbbbbbb-0000-4000-8000-000000000001"
IMPORT = "22222222-0000-4000-8000-000000000001"
SUBAGENT = "agent-x1"
CAUSE = (
    "The root cause is that tides.py reads the harbour clock in local time, while the table is in "
    "UTC, so the day changes an hour late."
)
RULE = "From now on every time in the harbour code must be in UTC, never in local time."
FORECAST = (
    "buoys.py stores the forecast in local time because the supplier sends it without an offset."
)
LABELS: list[dict[str, Any]] = [
    {"session": f"harbour__{TIDES}", "kind": "lesson", "text": CAUSE, "weight": 3, "lines": [4]},
    {"session": TIDES, "kind": "rule", "text": RULE, "weight": 2},
    {"session": TIDES, "kind": "preference", "text": "Ann likes short answers.", "weight": 1},
    {"session": TIDES, "title": "Print today's high water in the tide table", "best_line": 9},
    {
        "session": BUOYS,
        "kind": "decision",
        "text": "The forecast comes from the weather service in Bergen, which costs nothing.",
        "weight": 2,
    },
    {"session": BUOYS, "title": "Add the buoy forecast", "summary": "It was added."},
    {"session": SUBAGENT, "kind": "fact", "text": FORECAST, "weight": 2},
]


def tides() -> Script:
    """A bug with its cause and fix, a rule, and a decision."""
    script = Script(TIDES)
    script.user("The tide table prints yesterday's high water. Find out why and fix it.")
    script.tool("Read", "1\tdef tides(): ...", file_path="/home/dev/proj/tides.py")
    script.assistant(CAUSE)
    script.tool(
        "Edit",
        "updated",
        file_path="/home/dev/proj/tides.py",
        old_string="now()",
        new_string="now(UTC)",
    )
    script.tool("Bash", "9 passed in 0.2s", command="pytest tests/test_tides.py")
    script.assistant("Fixed: tides.py now reads the harbour clock in UTC, and nine tests pass.")
    script.user(RULE)
    script.assistant(
        "Understood. I decided to keep conversions in views.py only, because everything else then "
        "compares plain UTC times."
    )
    return script


def buoys() -> Script:
    """A day later: a feature, with the same rule said again."""
    script = Script(BUOYS, start=datetime(2026, 9, 2, 9, 0, tzinfo=UTC))
    script.user(f"Add the buoy forecast. {RULE}")
    script.tool(
        "Edit",
        "updated",
        file_path="/home/dev/proj/buoys.py",
        old_string="pass",
        new_string="return forecast",
    )
    script.tool("Bash", "12 passed in 0.2s", command="pytest")
    script.assistant("The buoy forecast is in buoys.py and prints wave heights for 48 hours.")
    return script


def subagent() -> Script:
    """The transcript of a subagent of the first session."""
    script = Script(TIDES, start=datetime(2026, 9, 1, 9, 30, tzinfo=UTC))
    of_it = {"isSidechain": True, "agentId": SUBAGENT.removeprefix("agent-")}
    script.user("Read buoys.py and tell which times are local.", **of_it)
    script.assistant(FORECAST, **of_it)
    return script


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    """Write a file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


def write_labelled_set(folder: Path, labels: list[dict[str, Any]] | None = None) -> Path:
    """Write the set; returns its folder."""
    harbour, importer = folder / "transcripts" / "harbour", folder / "transcripts" / "importer"
    below = harbour / TIDES / "subagents"
    for place in (below, importer):
        place.mkdir(parents=True)
    for script in (tides(), buoys()):
        (harbour / f"{script.session}.jsonl").write_bytes(script.dumps())
    (below / f"{SUBAGENT}.jsonl").write_bytes(subagent().dumps())
    (importer / f"{IMPORT}.jsonl").write_bytes(bug_hunt(IMPORT).dumps())
    write_lines(folder / "labels.jsonl", LABELS if labels is None else labels)
    return folder
