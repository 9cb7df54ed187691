from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.model.knowledge import Kind
from tests.brief.test_known_statements import FILLER, brief_of, group, retain, session
from tests.support.refine_banks import open_filled, session_on
from tests.support.transcripts import Script

LEARNED = "Learned here"
CAUSE = "The root cause is that the gauge of the pier sends each of its readings twice."


def edit(script: Script) -> None:
    script.tool("Edit", "ok", file_path="/home/dev/proj/a.py", old_string="a", new_string="b")


def found(cause: str, request: str = "Why are the readings wrong?") -> Script:
    script = session_on("2026-09-01", 1)
    script.user(request)
    script.assistant(cause)
    return script


def test_a_cause_that_a_later_session_dealt_with_was_worked_on_since(tmp_path: Path) -> None:
    again = session_on("2026-09-02", 2)
    again.user("Mend the gauge of the pier, which sends each of its readings twice")
    edit(again)
    again.assistant("The lamps of the harbour were painted, too, and they dry until tomorrow.")
    with open_filled(tmp_path, found(CAUSE), again) as memory:
        retain(memory, CAUSE, Kind.LESSON, worth=None)
        assert f"worked on since: “{CAUSE}”" in group(brief_of(memory), LEARNED)


def test_what_was_so_at_the_time_is_taken_out_of_a_mended_cause(tmp_path: Path) -> None:
    cause = f"{CAUSE} The panel only works today because nobody reads the pier."
    script = found(cause)
    with open_filled(tmp_path / "stands", script) as memory:
        retain(memory, cause, Kind.LESSON, worth=None)
        assert f"cause: “{cause}”" in group(brief_of(memory), LEARNED)
    edit(script)
    script.assistant("It is mended.")
    with open_filled(tmp_path / "mended", script) as memory:
        retain(memory, cause, Kind.LESSON, worth=None)
        assert f"fixed: “{CAUSE}”" in group(brief_of(memory), LEARNED)


@pytest.mark.parametrize(
    "text",
    [
        "Blocker: `git push` failed twice, because the connection to the pier timed out.",
        "Push status: the account of the pier has no right to write, causing `403`.",
        "The root cause is that the latest commit of the pier was never tagged by the crew.",
    ],
)
def test_a_fault_of_a_day_is_not_told(tmp_path: Path, text: str) -> None:
    later = session("2026-09-05", 2, FILLER, "They need new lamps, as far as the crew knows.")
    with open_filled(tmp_path / "day", found(text), later) as memory:
        retain(memory, text, Kind.LESSON, worth=None)
        assert LEARNED not in brief_of(memory)
    with open_filled(tmp_path / "cause", found(CAUSE), later) as memory:
        retain(memory, CAUSE, Kind.LESSON, worth=None)
        assert CAUSE in group(brief_of(memory), LEARNED)


def test_what_only_follows_from_the_state_at_the_time_is_not_told(tmp_path: Path) -> None:
    rest = "So those two piers fail because their gauges send all of the readings twice."
    cause = f"The bug is that the panel still counts by name. {rest}"
    script = found(cause)
    edit(script)
    script.assistant("It is mended.")
    with open_filled(tmp_path, script) as memory:
        retain(memory, cause, Kind.LESSON, worth=None)
        assert rest not in group(brief_of(memory), LEARNED)


def test_a_cause_says_of_what_it_is_the_cause(tmp_path: Path) -> None:
    script = found(CAUSE, "The harbour chart shows no tides since Monday, why not?")
    with open_filled(tmp_path, script) as memory:
        retain(memory, CAUSE, Kind.LESSON, worth=None)
        told = group(brief_of(memory), LEARNED)
    assert f"“{CAUSE}” (of “The harbour chart shows no tides since Monday, why not?”)" in told


def test_causes_that_stand_are_told_before_mended_ones(tmp_path: Path) -> None:
    mended = found(CAUSE)
    edit(mended)
    mended.assistant("It is mended.")
    other = "The actual cause is that the lamp of the tower has one bulb for two crews."
    stands = session_on("2026-09-02", 2)
    stands.user("Why is the lamp dark?")
    stands.assistant(other)
    with open_filled(tmp_path, mended, stands) as memory:
        retain(memory, CAUSE, Kind.LESSON, worth=None)
        retain(memory, other, Kind.LESSON, worth=None)
        told = group(brief_of(memory), LEARNED)
    assert told.index(other) < told.index(CAUSE)


@pytest.mark.parametrize(
    "text",
    [
        "I’ve confirmed that the panel is fine, so the bug is caused by the gauge of the pier.",
        "So those two piers fail because the gauge sends its readings twice.",
    ],
)
def test_what_was_said_on_the_way_to_a_cause_is_not_told(tmp_path: Path, text: str) -> None:
    with open_filled(tmp_path, found(text)) as memory:
        retain(memory, text, Kind.LESSON, worth=None)
        assert text not in group(brief_of(memory), LEARNED)


def test_a_task_is_open_if_its_session_ended_with_it(tmp_path: Path) -> None:
    task = "The alarm for spring tides still needs the height of the western gauge."
    script = session_on("2026-09-01", 1)
    script.user(FILLER)
    script.assistant(task)
    with open_filled(tmp_path / "last", script) as memory:
        retain(memory, task, Kind.TODO)
        assert brief_of(memory).count(task) == 1
    script.user("Add the height of the gauge to the alarm")
    edit(script)
    script.assistant("It is added.")
    with open_filled(tmp_path / "later", script) as memory:
        retain(memory, task, Kind.TODO)
        assert task not in brief_of(memory)
