"""Questions that want a kind of statement: a way, what went wrong, what is forbidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.recall.query.statement_kinds import forbids
from holdfast.recall.query.terms import (
    asks_for_way,
    asks_what_is_forbidden,
    asks_what_went_wrong,
    read_terms,
)
from tests.research.answering.test_code_lines import open_with


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What went wrong with the frontend build?", ("frontend", "build")),
        ("What is not allowed in commits?", ("commits",)),
        ("What must never be pushed to main?", ("pushed", "main")),
        ("Which licences are forbidden?", ("licences",)),
        ("How can people change the theme?", ("change", "theme")),
        ("wrong", ("wrong",)),
        ("What is allowed in commits?", ("allowed", "commits")),
    ],
)
def test_words_that_only_ask_for_a_kind_of_answer_are_not_looked_for(
    question: str, words: tuple[str, ...]
) -> None:
    assert read_terms(question).words == words


@pytest.mark.parametrize(
    "question",
    [
        "What is not allowed on main?",
        "What must not be logged?",
        "What may the agent not do with the code?",
        "What is the release task not allowed to do?",
        "Which policy is no longer permitted?",
        "Where should we never deploy?",
    ],
)
def test_a_question_for_what_must_not_be_done_is_recognised(question: str) -> None:
    assert asks_what_is_forbidden(question)


@pytest.mark.parametrize(
    "question",
    ["Why can the policy not be kept in a variable?", "What did we decide?", "Is this allowed?"],
)
def test_other_questions_ask_for_nothing_forbidden(question: str) -> None:
    assert not asks_what_is_forbidden(question)


def test_ways_and_faults_are_told_from_other_questions() -> None:
    assert not asks_for_way("How should I structure the interviews?")
    assert asks_for_way("How do I run the tests?") and asks_for_way("how to deploy?")
    assert not asks_for_way("How do tests find the database?")
    assert asks_what_went_wrong("What went wrong yesterday?")
    assert not asks_what_went_wrong("Why is the total wrong?")


def test_how_to_do_something_is_answered_by_commands(tmp_path: Path) -> None:
    said = (
        "Please start the harbour server and look at the page.",
        "I'm starting the harbour server now and looking at its first page.",
        "And how does a colleague do that?",
        "The harbour server is started like this:\n\n```bash\ncd harbour\n"
        "make serve PORT=8080\n```\n\nIt listens on localhost.",
    )
    with open_with(tmp_path, *said) as memory:
        first = memory.ask("How do I start the harbour server?", bank="all").answer.split("\n")[0]
    assert "`cd harbour` `make serve PORT=8080`" in first


def test_what_went_wrong_is_answered_by_the_cause_and_not_by_the_complaint(tmp_path: Path) -> None:
    said = (
        "The frontend build is red again on the server, see the frontend build page.",
        "The root cause was a stale lock file: pnpm of the frontend build refused to install.",
        "ok",
        "The frontend build page has a new colour for finished jobs of the frontend build.",
    )
    with open_with(tmp_path, *said) as memory:
        answer = memory.ask("What went wrong with the frontend build?", bank="all")
    assert "stale lock file" in answer.answer.split("\n")[0]


def test_what_is_not_allowed_is_answered_by_what_forbids_and_by_nothing_else(
    tmp_path: Path,
) -> None:
    said = (
        "Never put secrets into commits, not even into those of a branch.",
        "Understood.",
        "What about the rest?",
        "The three commits of this branch are on the server, and all commits are signed.",
        "Thanks. How is the harbour theme?",
        "The harbour theme has two palettes, one of them dark.",
    )
    with open_with(tmp_path, *said) as memory:
        answer = memory.ask("What is not allowed in commits?", bank="all")
        assert "Never put secrets into commits" in answer.answer
        assert "signed" not in answer.answer
        nothing = memory.ask("What is not allowed in the harbour theme?", bank="all")
    assert nothing.abstained


def test_a_long_record_that_forbids_something_else_does_not_answer(tmp_path: Path) -> None:
    said = (
        "You are the agent of the harbour. Read the code on GitHub first. "
        + "The code of the harbour is in one repository on GitHub, with the tables of tides. " * 6
        + "\n\n## Exit\n\nWhen your task is done, exit. Do not proceed to additional tasks: "
        "another instance will handle them.",
        "Done.",
    )
    with open_with(tmp_path, *said) as memory:
        answer = memory.ask("What may the agent not do with the code on GitHub?", bank="all")
    assert answer.abstained, answer


@pytest.mark.parametrize(
    ("sentence", "is_rule"),
    [
        ("Never push to main.", True),
        ("You may commit but never push.", True),
        ("We don't want a second repository for the docs.", True),
        ("A 4xx is never retried.", True),
        ("At line 576 the manager is created but never used.", False),
        ("This path was never tested.", False),
    ],
)
def test_a_rule_is_told_from_what_merely_never_happened(sentence: str, is_rule: bool) -> None:
    assert forbids(sentence) is is_rule
