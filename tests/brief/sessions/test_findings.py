from __future__ import annotations

from pathlib import Path

from holdfast.model.knowledge import Kind
from tests.brief.test_known_statements import FILLER, brief_of, group, retain
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
