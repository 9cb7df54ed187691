"""What was wrong before a fix is not told as how things are."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.language import content_stems
from holdfast.research.answering.fixed_states import LEAD, left_behind
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
