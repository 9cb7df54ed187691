from __future__ import annotations

from pathlib import Path

from holdfast.model.knowledge import Kind
from tests.brief.test_known_statements import FILLER, brief_of, group, retain, session
from tests.support.refine_banks import open_filled, session_on
from tests.support.transcripts import Script

TIDES = "The tide table is now read from the harbour office every morning at six."
LAMPS = "Every lamp on the outer pier reports its hours, which the crew sees on one page."
BUOYS = "The buoys send their positions as pairs of degrees, rounded to four places."


def worked(day: str, number: int, asked: str, delivered: str) -> Script:
    """A session that changed a file, and whose last reply begins with something else."""
    script = session_on(day, number)
    script.user(asked)
    script.tool("Edit", "ok", file_path="/home/dev/proj/a.py", old_string="a", new_string="b")
    script.assistant(f"That is all there was to it.\n\n{delivered}")
    return script


def test_earlier_sessions_are_told_in_a_line_with_what_came_of_them(tmp_path: Path) -> None:
    with open_filled(
        tmp_path,
        worked(
            "2026-09-01",
            1,
            "Show the heights of the coming week on the first page of the portal",
            TIDES,
        ),
        worked(
            "2026-09-02",
            2,
            "Warn the men in the tower whenever a bulb has to be changed soon",
            LAMPS,
        ),
        worked(
            "2026-09-03",
            3,
            "Mark the shoals and sandbanks of the estuary on the map for pilots",
            BUOYS,
        ),
    ) as memory:
        for text in (TIDES, LAMPS, BUOYS):
            retain(memory, text, Kind.OUTCOME)
        text = brief_of(memory)
    told = group(text, "Where we left off").splitlines()
    assert (
        "branch main, done: “Mark the shoals and sandbanks of the estuary on the map for pilots"
        in told[1]
    )
    assert f"  done: “{BUOYS}” (memory/" in told[2]
    assert told[3].startswith(
        "- 2026-09-02, done: “Warn the men in the tower whenever a bulb has to be changed soon"
    )
    assert f" → “{LAMPS}” (digest/" in told[3] and f" → “{TIDES}” (digest/" in told[4]
    assert all(text.count(one) == 1 for one in (TIDES, LAMPS, BUOYS)), "nothing is told twice"


def test_what_repeats_the_outcome_of_a_session_is_not_told(tmp_path: Path) -> None:
    request = "Read the tide table from the harbour office every morning"
    with open_filled(
        tmp_path,
        worked("2026-09-01", 1, request, TIDES),
        session("2026-09-02", 2, "Which page has the lamps of the pier?", LAMPS),
        worked(
            "2026-09-03",
            3,
            "Mark the shoals and sandbanks of the estuary on the map for pilots",
            BUOYS,
        ),
    ) as memory:
        for text in (TIDES, LAMPS, BUOYS):
            retain(memory, text, Kind.OUTCOME)
        told = group(brief_of(memory), "Where we left off")
    assert f"2026-09-01, done: “{TIDES}” (digest/" in told and request not in told
    assert told.count(LAMPS.removesuffix(".")) == 1, "the title of an answered question has it"


def test_a_request_that_ended_an_earlier_session_is_still_open(tmp_path: Path) -> None:
    first = session_on("2026-09-01", 1)
    first.user("Read the tide table every morning, please.")
    first.assistant(TIDES)
    first.user("Draw the wind rose in the corner of the panel for pilots.")
    with open_filled(tmp_path, first, session("2026-09-03", 3, FILLER, BUOYS)) as memory:
        retain(memory, TIDES, Kind.OUTCOME)
        retain(memory, BUOYS, Kind.OUTCOME)
        told = group(brief_of(memory), "Where we left off")
    assert "  still open: Draw the wind rose in the corner of the panel" in told
