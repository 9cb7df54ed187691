from __future__ import annotations

from pathlib import Path

from holdfast.model.knowledge import Kind
from tests.brief.test_known_statements import brief_of, group, retain, session
from tests.support.refine_banks import open_filled, session_on
from tests.support.transcripts import Script

TIDES = "The tide table is now read from the harbour office every morning at six."
LAMPS = "Every lamp on the outer pier reports its hours, which the crew sees on one page."
BUOYS = "The buoys send their positions as pairs of degrees, rounded to four places."


def worked(day: str, number: int, asked: str, delivered: str) -> Script:
    """A session that changed a file, and whose last reply begins with the tests."""
    script = session_on(day, number)
    script.user(asked)
    script.tool("Edit", "ok", file_path="/home/dev/proj/a.py", old_string="a", new_string="b")
    script.assistant(f"All tests pass.\n\n{delivered}")
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
    assert f"{BUOYS}” (digest/" in told[1]
    assert told[2].startswith(
        "- 2026-09-02, done: “Warn the men in the tower whenever a bulb has to be changed soon"
    )
    assert f"{LAMPS}” (digest/" in told[2] and f"{TIDES}” (digest/" in told[3]
    assert all(text.count(one) == 1 for one in (TIDES, LAMPS, BUOYS)), "nothing is told twice"


def test_a_request_that_its_result_repeats_is_not_told(tmp_path: Path) -> None:
    request = "Read the tide table from the harbour office every morning"
    with open_filled(
        tmp_path,
        worked("2026-09-01", 1, request, TIDES),
        worked("2026-09-03", 3, "Mark the shoals and sandbanks on the map for pilots", BUOYS),
    ) as memory:
        told = group(brief_of(memory), "Where we left off")
    assert f"{TIDES}” (digest/" in told and request not in told
    assert "“Mark the shoals and sandbanks on the map for pilots” → “" in told


def test_a_request_that_ended_an_earlier_session_is_told_unless_a_later_one_took_it_up(
    tmp_path: Path,
) -> None:
    first = session_on("2026-09-01", 1)
    first.user("Read the tide table every morning, please.")
    first.assistant(TIDES)
    first.user("Draw the wind rose in the corner of the panel for pilots.")
    buoys = worked("2026-09-03", 3, "Mark the shoals and sandbanks on the map", BUOYS)
    with open_filled(tmp_path / "open", first, buoys) as memory:
        told = group(brief_of(memory), "Where we left off")
    assert "2026-09-01, not answered: “Draw the wind rose in the corner of the panel" in told
    rose = worked("2026-09-02", 2, "Draw the wind rose in a corner of the panel", "It is drawn.")
    with open_filled(tmp_path / "done", first, rose, buoys) as memory:
        assert "not answered" not in brief_of(memory)


def test_of_earlier_sessions_that_broke_off_only_what_is_known_is_told(tmp_path: Path) -> None:
    first = session_on("2026-09-01", 1)
    first.user("Draw the wind rose in the corner of the panel for pilots.")
    first.assistant("I have everything I need.")
    first.tool("Edit", "ok", file_path="/home/dev/proj/a.py", old_string="a", new_string="b")
    with open_filled(tmp_path / "last", first) as memory:
        told = group(brief_of(memory), "Where we left off")
    assert "unfinished: “Draw the wind rose" in told and "everything I need" not in told
    buoys = worked("2026-09-03", 3, "Mark the shoals and sandbanks on the map", BUOYS)
    with open_filled(tmp_path / "earlier", first, buoys) as memory:
        assert "unfinished" not in brief_of(memory)
    greeting = session("2026-09-02", 2, "Good morning!", "Good morning!")
    with open_filled(tmp_path / "greeting", first, greeting) as memory:
        assert "unfinished: “Draw the wind rose" in group(brief_of(memory), "Where we left off")


def test_the_branch_of_the_last_session_is_the_one_that_it_ended_on(tmp_path: Path) -> None:
    script = worked("2026-09-01", 1, "Mark the shoals and sandbanks on the map", BUOYS)
    script.branch = "shoals"
    script.user("Read the tide table every morning, please.")
    script.assistant(TIDES)
    with open_filled(tmp_path, script) as memory:
        assert "branch shoals, " in group(brief_of(memory), "Where we left off")


def test_what_was_found_out_in_the_last_session_is_told_once(tmp_path: Path) -> None:
    found = "There are two lamps and one bell on the western side of the tower."
    asked = session("2026-09-04", 4, "What is there on the western side of the tower?", found)
    with open_filled(tmp_path / "alone", asked) as memory:
        assert f"  found: “{found}”" in group(brief_of(memory), "Where we left off")
    cause = "The alarm of the tower rings twice because two lamps share one wire."
    asked = session("2026-09-04", 4, "Why does the alarm of the tower ring twice?", cause)
    with open_filled(tmp_path / "learned", asked) as memory:
        retain(memory, cause, Kind.LESSON)
        text = brief_of(memory)
    assert text.count(cause) == 1 and "  found: " not in text, "it is told as the statement it is"


def test_sessions_that_another_agent_began_are_not_told(tmp_path: Path) -> None:
    asked = '<teammate-message teammate_id="lead">Mark the shoals on the map</teammate-message>'
    with open_filled(
        tmp_path,
        worked("2026-09-01", 1, "Show the heights of the coming week on the portal", TIDES),
        worked("2026-09-02", 2, asked, BUOYS),
    ) as memory:
        told = group(brief_of(memory), "Where we left off")
    assert TIDES in told and BUOYS not in told


def test_a_saved_command_at_the_end_of_many_sessions_is_not_how_they_ended(tmp_path: Path) -> None:
    command = (
        "If the code of the portal has changed, update the handbook of the harbour accordingly"
    )
    asked = {
        1: ("Show the heights of the coming week on the first page of the portal", TIDES),
        2: ("Warn the men in the tower whenever a bulb has to be changed soon", LAMPS),
        3: ("Mark the shoals and sandbanks of the estuary on the map for pilots", BUOYS),
    }
    scripts: list[Script] = []
    for number, (request, delivered) in asked.items():
        script = worked(f"2026-09-0{number}", number, request, delivered)
        script.user(command)
        script.assistant("The handbook of the harbour says so already, nothing had to be changed.")
        scripts.append(script)
    with open_filled(tmp_path, *scripts) as memory:
        told = group(brief_of(memory), "Where we left off")
    assert command not in told and "handbook" not in told, told
    assert all(said in told for said in (TIDES, LAMPS, BUOYS)), told
