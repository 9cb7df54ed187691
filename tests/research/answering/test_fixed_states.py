"""What was wrong before a fix is not told as how things are."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.language import content_stems
from holdfast.model.query import Confidence, Hit, Layer
from holdfast.research.answering.fixed_states import LEAD, left_behind, with_changes_first
from holdfast.research.answering.quoting import Quote
from tests.support.refine_banks import open_filled_at_once, session_on
from tests.support.transcripts import Script

BROKEN = "The export button of the report page fails with a 500 for drafts."
MENDED = "The export button of the report page writes drafts to a file named draft.csv."


def session(change: bool, number: int = 1) -> Script:
    script = session_on("2026-03-02", number)
    script.user("what does the report page do for drafts?")
    script.assistant(BROKEN)
    script.user("please change that, drafts are reports too")
    if change:
        script.tool(
            "Edit", "ok", file_path="/home/dev/proj/report.py", old_string="a", new_string="b"
        )
    script.assistant(MENDED if change else "I left the report page as it is for now.")
    return script


def lines(memory: Holdfast, question: str) -> list[str]:
    return memory.ask(question).answer.splitlines()


@pytest.mark.slow
def test_the_state_after_the_change_comes_first_and_the_state_before_is_marked(
    tmp_path: Path,
) -> None:
    with open_filled_at_once(tmp_path, session(change=True)) as memory:
        said = lines(memory, "How does the export button of the report page treat drafts?")
    assert MENDED in said[0]
    assert all(LEAD in line for line in said if BROKEN in line)
    assert all(LEAD not in line for line in said if BROKEN not in line)


def test_what_nobody_changed_is_told_as_it_is(tmp_path: Path) -> None:
    with open_filled_at_once(tmp_path, session(change=False)) as memory:
        said = lines(memory, "How does the export button of the report page treat drafts?")
    assert BROKEN in said[0] and LEAD not in said[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    [
        "Which error did the export button of the report page have for drafts?",
        "Why did the export button of the report page fail for drafts?",
    ],
)
def test_a_question_about_the_problem_is_answered_by_it(tmp_path: Path, question: str) -> None:
    with open_filled_at_once(tmp_path, session(change=True)) as memory:
        said = lines(memory, question)
    assert BROKEN in said[0] and LEAD not in said[0]


@pytest.mark.parametrize(
    ("sentence", "old"),
    [
        ("**Switched to Hatchling**: Changed from setuptools to Hatchling.", "setuptools"),
        ("We moved the nightly job from cron to systemd timers.", "cron"),
        ("I replaced the Rack server with Vite.", "rack server"),
        ("The recorder now uses AudioWorklet instead of ScriptProcessor.", "ScriptProcessor"),
    ],
)
def test_a_statement_names_what_it_leaves_behind(sentence: str, old: str) -> None:
    assert left_behind(sentence) == [content_stems(old)]


@pytest.mark.parametrize(
    "sentence",
    [
        "The package uses setuptools instead of Hatchling.",
        "Rows are read from the table to the end.",
        "The importer replaces names that are empty.",
    ],
)
def test_a_statement_of_how_things_are_leaves_nothing_behind(sentence: str) -> None:
    assert left_behind(sentence) == []


def test_what_a_later_statement_replaced_comes_after_it_and_is_marked(tmp_path: Path) -> None:
    before = "The build backend of the package is setuptools, which uv does not prefer."
    after = "Changed the build backend of the package from setuptools to hatchling."
    script = session_on("2026-03-02", 1)
    script.user("how is this packaged?")
    script.assistant(before)
    script.user("then change it")
    script.assistant(after)
    with open_filled_at_once(tmp_path, script) as memory:
        said = lines(memory, "Which build backend does the package use?")
    assert after in said[0] and LEAD not in said[0]
    assert all(LEAD in line for line in said if before in line)


PLAN = """Implement the following plan:

# Fix: warnings beside the diff

## Context

In `FileRow`, the open state uses a ternary that leaves out the warnings when the diff is shown.

## Change

Replace the ternary in `file_row.tsx`.
"""
BEFORE = "the open state uses a ternary"
SINCE = "The warnings of a file row are rendered in both states, and the diff is shown below them."


def planned(outcome: str, change: bool = True) -> Script:
    script = session_on("2026-03-02", 1)
    script.user(PLAN)
    if change:
        script.tool(
            "Edit", "ok", file_path="/home/dev/proj/file_row.tsx", old_string="a", new_string="b"
        )
    script.assistant(outcome)
    return script


@pytest.mark.parametrize(
    "question",
    [
        "Are the warnings of a file row left out when the diff is shown?",
        "Does the open state still leave out the warnings when the diff is shown?",
        "Which problem of warnings does the file row have now when the diff is shown?",
    ],
)
def test_the_context_of_a_plan_is_history_once_it_was_carried_out(
    tmp_path: Path, question: str
) -> None:
    with open_filled_at_once(tmp_path, planned(SINCE)) as memory:
        said = lines(memory, question)
    assert SINCE in said[0]
    assert all(LEAD in line for line in said if BEFORE in line)


def test_the_context_of_a_plan_holds_until_it_is_carried_out(tmp_path: Path) -> None:
    with open_filled_at_once(tmp_path, planned("I have not begun with it.", False)) as memory:
        said = lines(memory, "Are the warnings of a file row left out when the diff is shown?")
    assert BEFORE in said[0] and LEAD not in said[0]


def test_the_context_of_a_plan_tells_why_it_was_so(tmp_path: Path) -> None:
    with open_filled_at_once(tmp_path, planned(SINCE)) as memory:
        said = lines(memory, "Why were the warnings left out when the diff was shown?")
    assert any(BEFORE in line and LEAD not in line for line in said)


def test_a_state_that_was_ended_is_of_low_confidence_alone(tmp_path: Path) -> None:
    asked = "Are the warnings of the `FileRow` left out by a ternary when the diff is shown?"
    with open_filled_at_once(tmp_path, planned("Replaced it.", False)) as memory:
        held = memory.ask(asked, layers=[Layer.TRANSCRIPTS])
    with open_filled_at_once(tmp_path / "changed", planned("Replaced it.")) as memory:
        ended = memory.ask(asked, layers=[Layer.TRANSCRIPTS])
    assert BEFORE in held.answer and held.confidence is Confidence.MEDIUM
    assert f"{LEAD}In `FileRow`, {BEFORE}" in ended.answer and ended.confidence is Confidence.LOW


@pytest.mark.slow
def test_what_the_exchange_of_a_change_says_at_its_end_was_not_changed_by_it(
    tmp_path: Path,
) -> None:
    with open_filled_at_once(tmp_path, session(change=True)) as memory:
        found = memory.recall("the export button of the report page fails with a 500 for drafts")
        hit = next(one for one in found.hits if one.kind == "turn" and one.text == BROKEN)
        before = Quote(hit, BROKEN, 1.0, 1.0)

        def order(closing: str) -> list[tuple[str, str]]:
            def quote(of: Hit) -> Quote:
                return Quote(of, closing, 1.0, 1.0)

            quotes = with_changes_first(memory.reader, [before], lambda hit: True, quote)
            return [(item.lead, item.sentence) for item in quotes]

        assert order(MENDED) == [("", MENDED), (LEAD, BROKEN)]
        assert order(BROKEN) == [("", BROKEN)]
