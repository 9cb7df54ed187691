from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.brief.sessions.session_endings import Ending, State, find_ending, tells_work
from tests.support.refine_banks import open_filled, session_on
from tests.support.transcripts import Script

ASKED = "Read the tide table of the western harbour every morning"
RESULT = "The tide table of the western harbour is read at six."


def edit(script: Script) -> None:
    script.tool("Edit", "ok", file_path="/home/dev/proj/a.py", old_string="a", new_string="b")


def ending_of(memory: Holdfast, title: str = "") -> Ending:
    bank = memory.context.bank_id() or ""
    (session,) = memory.reader.sessions.latest(bank, 1)
    exchanges = list(memory.reader.sessions.exchanges(bank, session.id))
    found = find_ending(memory.reader, bank, exchanges, title)
    assert found is not None
    return found


def worked(*replies: str) -> Script:
    """A session with a change, and these replies after it."""
    script = session_on("2026-09-01", 1)
    script.user(ASKED)
    edit(script)
    for reply in replies:
        script.assistant(reply)
    return script


def test_the_result_is_what_was_said_last_and_not_what_was_overtaken(tmp_path: Path) -> None:
    script = worked("The tide table of the eastern harbour is read at noon.")
    script.user("Take the gauge of the western harbour instead, please")
    edit(script)
    script.assistant(f"All 12 tests pass.\n\n{RESULT}\n\nWant me to add the others?")
    with open_filled(tmp_path, script) as memory:
        ending = ending_of(memory)
    assert ending.state is State.DONE and ending.result == RESULT
    assert ending.request == "Take the gauge of the western harbour instead, please"


def test_a_pull_request_is_named_before_the_rest_of_a_long_reply(tmp_path: Path) -> None:
    rest = "\n".join(f"- The gauge of pier {n} sends its readings by itself now." for n in range(9))
    script = worked(f"{rest}\n\nDraft PR: https://example.org/harbour/pull/17")
    with open_filled(tmp_path, script) as memory:
        ending = ending_of(memory)
    assert "pull/17" in ending.result and "pier 0" in ending.result
    assert "pier 8" not in ending.result


def test_a_round_of_review_is_told_with_the_title_of_its_session(tmp_path: Path) -> None:
    script = worked("Opened PR #12. The table is read at six, since the office is closed before.")
    script.user("Address the review feedback")
    edit(script)
    script.assistant(
        "Updated PR #12:\n\n- Replied to and resolved all review threads.\n\nVerified:\n- 4 gauges"
    )
    with open_filled(tmp_path, script) as memory:
        ending = ending_of(memory, ASKED)
    assert ending.request == ASKED
    assert "Updated PR #12" in ending.result and "office is closed before" in ending.result
    assert "threads" not in ending.result and "gauges" not in ending.result


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        (f"{RESULT} Want me to read the other harbours, too?", State.DONE),
        (f"{RESULT} Is there anything else that I can help you with?", State.DONE),
        ("I propose to drop the old table and to read it anew.\n\nShall we go?", State.ASKED),
        ("The table is dropped. Waiting for your approval before it is read.", State.ASKED),
        ("The table is dropped. The import is still running in the background.", State.UNFINISHED),
        ("Now let me read the second table of the harbour office:", State.UNFINISHED),
    ],
)
def test_how_a_session_ended_is_read_from_its_last_reply(
    tmp_path: Path, reply: str, state: State
) -> None:
    with open_filled(tmp_path, worked(reply)) as memory:
        assert ending_of(memory).state is state


def test_a_question_is_told_with_what_led_to_it(tmp_path: Path) -> None:
    plan = "Proposed: drop the table of the western harbour, then read it anew."
    script = session_on("2026-09-01", 1)
    script.user("Look why the tide table of the western harbour is wrong")
    script.assistant(f"The table of the western harbour has two zones.\n\n{plan}\n\nGo?")
    with open_filled(tmp_path, script) as memory:
        ending = ending_of(memory)
    assert ending.state is State.ASKED and ending.asked.endswith(f"{plan} Go?")


def test_work_that_ends_with_a_tool_or_without_a_reply_is_not_done(tmp_path: Path) -> None:
    script = worked("I am going to read the table of the western harbour at six from now on:")
    edit(script)
    with open_filled(tmp_path / "tool", script) as memory:
        ending = ending_of(memory)
    assert ending.state is State.UNFINISHED and ending.is_open
    script = worked(RESULT)
    script.user("Draw the wind rose in the corner of the panel for pilots.")
    with open_filled(tmp_path / "open", script) as memory:
        ending = ending_of(memory)
    assert ending.state is State.UNANSWERED and ending.request.startswith("Draw the wind rose")


def test_what_was_said_before_the_last_step_is_not_how_far_the_work_is(tmp_path: Path) -> None:
    overtaken = "The test of the western harbour fails, since it expects that nothing is read."
    script = worked(overtaken, "Let me mend it.")
    edit(script)
    with open_filled(tmp_path / "edit", script) as memory:
        ending = ending_of(memory)
    assert ending.state is State.UNFINISHED and ending.result == ""
    script.call("Bash", command="git add . && git commit -m 'Read the western harbour at six'")
    with open_filled(tmp_path / "commit", script) as memory:
        ending = ending_of(memory)
    assert ending.state is State.UNFINISHED
    assert ending.result == "git commit: Read the western harbour at six"


def test_thanks_at_the_end_are_not_the_end(tmp_path: Path) -> None:
    script = worked(RESULT)
    script.user("ok thanks")
    with open_filled(tmp_path, script) as memory:
        ending = ending_of(memory)
    assert ending.state is State.DONE and ending.result == RESULT


@pytest.mark.parametrize(
    "text",
    [
        "All 12 tests pass.",
        "Let me know what you think of the gauge.",
        "Now I read the second table.",
        "Type-check and lint are clean.",
        "Add a column to the table of tides.",
    ],
)
def test_checks_offers_and_steps_tell_no_work(text: str) -> None:
    assert not tells_work(text)
    assert tells_work("The gauge is read twice, since its first answer is stale.")
    assert tells_work("All tests pass except those of the lamps, which fail on Windows.")
