"""Questions without a subject are told from those with one."""

from __future__ import annotations

import pytest

from holdfast.recall.query.overview_questions import Overview, asked_overview

WITHOUT = {
    Overview.PROHIBITIONS: (
        "What is not allowed?",
        "What must I not do?",
        "What mustn't I do?",
        "what should I never do here?",
        "What is forbidden in this project?",
        "What is off limits?",
        "Is there anything I must not touch?",
    ),
    Overview.RULES: (
        "What are the rules here?",
        "Which conventions do we follow?",
        "Tell me the rules of this repository",
        "What is allowed?",
    ),
    Overview.DECISIONS: ("What did we decide?", "Which decisions were made?", "what is settled?"),
    Overview.OPEN_TASKS: (
        "What is still open?",
        "What is left to do?",
        "What is not done yet?",
        "Are there any open tasks?",
    ),
    Overview.FAULTS: (
        "What went wrong?",
        "What broke?",
        "What are known problems?",
        "What are the known bugs?",
        "What is wrong with this codebase?",
        "What is the main problem in this project?",
    ),
    Overview.EVERYTHING: (
        "What do I have to know?",
        "What should I know before I start?",
        "What should I keep in mind?",
    ),
}
WITH = (
    "What is not allowed in commits?",
    "What should I know about Redis?",
    "What went wrong with the deployment?",
    "Which licences are forbidden?",
    "What did we decide about the cache?",
    "Why did we decide this?",
    "Who decided?",
    "When was it decided?",
    "What have we not decided?",
    "What was done?",
    "What happened?",
    "What is open source?",
    "What is the last bug we fixed?",
    "What should we do about the bug?",
    "What do we need to make it fail?",
    "What made it fail?",
    "What did we decide about it?",
    "Is there anything wrong with this?",
    "rules",
    "The rules are known.",
    "Was ist nicht erlaubt?",
    "",
    "What did we decide? " + "And the harbour, too. " * 20,
)


@pytest.mark.parametrize(
    ("question", "wanted"), [(q, kind) for kind, some in WITHOUT.items() for q in some]
)
def test_a_question_without_a_subject_asks_for_a_kind(question: str, wanted: Overview) -> None:
    assert asked_overview(question) is wanted


@pytest.mark.parametrize("question", WITH)
def test_a_question_with_a_subject_asks_for_none(question: str) -> None:
    assert asked_overview(question) is None
