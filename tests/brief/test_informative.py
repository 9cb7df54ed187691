from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief.informative import informative_part, is_offer, lasting_part
from holdfast.model.knowledge import Kind
from tests.brief.test_known_statements import (
    FILLER,
    brief_of,
    group,
    later_sessions,
    retain,
    session,
)
from tests.support.refine_banks import open_filled, session_on

KNOWN = "Known from earlier sessions"


@pytest.mark.parametrize(
    "text",
    [
        "The gauge is read twice, because the first answer is stale.",
        "`tide --all` does not read the western harbours.",
        "Changed the port to 7000 so that the old server can stay.",
        "Der Pegel wird nachts zweimal gelesen.",
    ],
)
def test_a_reason_or_a_limit_is_worth_telling(text: str) -> None:
    assert informative_part(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Added a column for the harbour to the table of tides.",
        "The panel of the harbour is fully functional and production ready.",
        "Want me to add the other harbours as well?",
        "The worker is waiting for the build of the panel.",
        "The branch of the western pier is NOT merged, only reviewed.",
    ],
)
def test_results_praise_offers_and_the_state_of_a_run_are_not(text: str) -> None:
    assert informative_part(text) == ""


def test_what_is_of_the_moment_is_taken_out_of_a_statement() -> None:
    lasting = "The gauge must not be read at night, since its lamp is off."
    assert informative_part(f"All tests pass. {lasting}") == lasting
    assert informative_part("The tests pass. It must not be read at night, then.") == ""


def test_what_lays_nothing_down_is_taken_out_of_a_persons_words() -> None:
    rule = "We never write to the tide table in production."
    assert lasting_part(rule) == rule
    assert lasting_part(f"{rule} Can you look at the panel?") == rule
    for order in ("Your proposal is approved, go on.", "Spawn an agent for the lamps of the pier."):
        assert lasting_part(order) == ""
    assert lasting_part("Run the linter before every commit.") != "", "it is to last"


@pytest.mark.parametrize(
    "text",
    [
        "Don't worry about the old gauge, but continue with the panel.",
        "Only the first berth is loading and the rest never loads, it just shows a spinner.",
        "A berth without a crane panics with a nil pointer when the harbour is drawn.",
        "Fix the spelling of the berths around lines 72 and 280 of the harbour plan.",
        "Make them look distinct and use the icon of the buoy instead of its name.",
        "I don't want to delete the files in .tides yet",
        "Rather than another table for the eastern harbour...",
        "Confirm that the gauge of the pier sends its readings by radio.",
        "Rewrite or refactor the tide panel to bring its coupling below 96.",
        "lets start by making sure that the plan of the harbour is up to date with the piers",
        "The names of the eastern piers are clipped.",
        "The menu of the berths says back to the main menu instead of back to the piers.",
        "The reader of the gauge compares two tides without proper null checks.",
        r"Harbour C:\dev\harbour\Gauge.cs 663 Error (active) S3776",
        "The harbour panel is too small. This can lead to confusion among the pilots.",
        "The following is the Codex agent history. The panel must never read the old gauge.",
        "Lets go with your picks and implement it, they seem reasonable.",
        "Let's try the new gauge but we won't commit anything, so that it is easily reverted.",
        "We need to come up with a strategy for the tests of the eastern piers.",
        "The id of the client is 4711, you should probably update it in the example.",
        "readTide returns the old gauge when the new one is missing from the table of gauges.",
        "Unused variable tide_count at line 485 - incremented but never asserted.",
        "oh yeah we don't need any of that any more.",
        "theres 4 new comments from the reviewer, feel free to address them if valid.",
        "that way we can write the tables of the piers by hand and keep them in sync.",
        "spawn an agent to move all gauges to the new folder we no longer need the old one",
        "also should tides.json name the gauge so basically nothing breaks if we rename it",
        "i thought we no longer use the eastern gauge we just use the western one",
        "/plan:quick create a protocol for all readings of the gauges of the harbour.",
    ],
)
def test_one_off_orders_reports_and_remarks_lay_nothing_down(text: str) -> None:
    assert lasting_part(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Never deploy while the build is failing on the main branch.",
        "The panel should always say why it does not load the tides.",
        "Use it everywhere from now on, whenever a gauge is read.",
        "Don't push to the main branch of the harbour.",
        "Keep the names of the piers below 30 letters, so that none is too long.",
        "The menu should say back to the piers instead of back to the main menu.",
        "readTide must return the old gauge when the new one is missing.",
        "tide_count: the number of gauges, counted once for a pier.",
        "Public functions of the gauges need more comments on their units.",
        "Should the gauge fail, the panel shows the last reading.",
        "camelCase for the names of piers, snake_case for their columns.",
        "pier_id stays a number, so only the panel adds leading zeros.",
        "Let's try to keep the panels below 300 lines.",
        "We won't commit the generated tables of the gauges.",
        "/src/piers is generated, so edit the table of the piers instead.",
    ],
)
def test_a_wish_that_speaks_of_a_fault_is_kept(text: str) -> None:
    assert lasting_part(text) == text


def test_offers() -> None:
    assert is_offer("Let me know if the lamps shall be painted.")
    assert not is_offer("The lamps are still open, if you want them later.")


def test_a_state_that_a_later_request_dealt_with_again_is_not_told(tmp_path: Path) -> None:
    state = "The tide panel must read `tides.csv` from the western gauge."
    later = session_on("2026-09-02", 2)
    later.user("Make the tide panel read the eastern gauge")
    later.tool("Edit", "ok", file_path="/home/dev/proj/panel.py", old_string="w", new_string="e")
    later.assistant("It is done.")
    first = session("2026-09-01", 1, FILLER, state)
    with open_filled(tmp_path / "alone", first, *later_sessions()) as memory:
        retain(memory, state, Kind.FACT)
        assert state in group(brief_of(memory), KNOWN)
    with open_filled(tmp_path / "both", first, later, *later_sessions()) as memory:
        retain(memory, state, Kind.FACT)
        assert state not in brief_of(memory)


def test_a_cause_says_whether_its_session_changed_something_after(tmp_path: Path) -> None:
    cause = "The root cause is that the gauge sends each of its readings twice."
    fault = "The harbour panel fails with an empty table of readings."
    script = session_on("2026-09-01", 1)
    script.user("Why are the readings wrong?")
    script.assistant(cause)
    script.assistant(fault)
    with open_filled(tmp_path / "found", script) as memory:
        retain(memory, cause, Kind.LESSON)
        retain(memory, fault, Kind.LESSON)
        text = group(brief_of(memory), "Learned here")
        assert f"cause: “{cause}" in text and fault in text
    script.tool("Edit", "ok", file_path="/home/dev/proj/a.py", old_string="a", new_string="b")
    script.assistant("Each reading is taken once now.")
    with open_filled(tmp_path / "fixed", script) as memory:
        retain(memory, cause, Kind.LESSON)
        retain(memory, fault, Kind.LESSON)
        text = brief_of(memory)
        assert f"fixed: “{cause}" in group(text, "Learned here")
        assert fault not in text, "what was merely broken is mended"


def test_of_two_causes_of_one_session_the_later_is_told(tmp_path: Path) -> None:
    first = "The root cause is that the gauge of the western pier sends its readings twice."
    second = "The actual cause is that the panel counts readings of the western gauge of midnight."
    script = session_on("2026-09-01", 1)
    script.user("Why are the readings wrong?")
    script.assistant(first)
    script.assistant(second)
    with open_filled(tmp_path, script) as memory:
        retain(memory, first, Kind.LESSON)
        retain(memory, second, Kind.LESSON)
        text = brief_of(memory)
    assert second in text and first not in text
