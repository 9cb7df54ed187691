"""A rule file, and what a person asked to remember, stand above what was only said."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.trust import Trust
from tests.support.opinion_sessions import (
    Clock,
    ingest_and_update,
    open_dated_memory,
    session_on_day,
)

LAID_DOWN = "Dependencies and packages are installed with yarn, in the harbour folder."
SAID = (
    "I usually have the packages installed with npm: packages are installed by npm here.",
    "The packages were installed with npm on my laptop, and packages installed fine.",
    "Packages are installed with npm in the old harbour script, I saw packages installed there.",
)
QUESTIONS = ("how are packages installed", "what are our packages installed with?")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "proj"
    folder.mkdir()
    subprocess.run(["git", "-C", str(folder), "init", "-q"], check=True)
    monkeypatch.chdir(folder)
    return folder


def write_rule(root: Path, text: str) -> None:
    (root / "CLAUDE.md").write_text(f"# Guide\n\n{text}\n")


def talk(memory: Holdfast, root: Path) -> None:
    sessions = (session_on_day(n, text, cwd=str(root)) for n, text in enumerate(SAID, 6))
    ingest_and_update(memory, *sessions)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("is_rule", [True, False], ids=["rule file", "remembered"])
def test_what_was_laid_down_stands_above_what_was_only_said(
    tmp_path: Path, root: Path, question: str, is_rule: bool
) -> None:
    clock = Clock()
    if is_rule:
        write_rule(root, LAID_DOWN)
    with open_dated_memory(tmp_path / "home", clock, bank="") as memory:
        if not is_rule:
            memory.remember(LAID_DOWN)
        clock.day = 20
        talk(memory, root)
        memory.rules.sync_all()
        found = memory.recall(question).hits
        assert LAID_DOWN in found[0].text
        assert any("npm" in hit.text for hit in found[1:])
        assert "yarn" in memory.ask(question).answer.partition("npm")[0]


def test_what_an_agent_kept_does_not_stand_above_what_people_said(
    tmp_path: Path, root: Path
) -> None:
    with open_dated_memory(tmp_path / "home", bank="") as memory:
        talk(memory, root)
        memory.remember(LAID_DOWN, trust=Trust.ASSISTANT, who="agent")
        assert "yarn" not in memory.recall(QUESTIONS[0]).hits[0].text


def test_a_rule_on_something_else_does_not_pass_the_answer(tmp_path: Path, root: Path) -> None:
    write_rule(root, "Lint the harbour folder before packages are published to the registry.")
    with open_dated_memory(tmp_path / "home", bank="") as memory:
        talk(memory, root)
        memory.rules.sync_all()
        assert memory.recall("what are packages installed with").hits[0].kind != "rule"


def test_what_was_done_in_a_time_is_not_answered_by_a_rule_first(
    tmp_path: Path, root: Path
) -> None:
    clock = Clock()
    write_rule(root, LAID_DOWN)
    with open_dated_memory(tmp_path / "home", clock, bank="") as memory:
        clock.day = 9
        talk(memory, root)
        memory.rules.sync_all()
        found = memory.recall("which packages were installed on 2026-03-08?").hits
        assert found[0].kind != "rule"
