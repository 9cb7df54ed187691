"""What a question is about, and questions about what a memory never mentions."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.recall.query.central_nouns import central_nouns
from tests.research.answering.test_code_lines import open_with


@pytest.mark.parametrize(
    ("question", "nouns"),
    [
        ("Why did we drop the queue?", ["queue"]),
        ("How do I rotate the database password?", ["password"]),
        ("Why did the process keep its memory after slow queries?", []),
        ("What went wrong with the mobile app?", ["app"]),
        ("How did we make the test suite faster?", ["suite"]),
        ("What happens if downloading the registry fails?", []),
        ("How do I raise the number of pseudo terminals?", []),
        ("Who came to the party hosted by Nate?", ["party"]),
        ("How many people came to the party hosted by Nate?", []),
        ("How long does the probate process usually take?", []),
        ("Why did we change the queue recently?", ["queue"]),
        ("Which city did we choose for a release?", []),
        ("What was the problem with the queue?", ["queue"]),
        ("Warum haben wir die Warteschlange entfernt?", []),
        ("The importer took ten of twelve ships. Which one is the bug?", []),
    ],
)
def test_a_question_is_about_what_has_a_definite_article(question: str, nouns: list[str]) -> None:
    assert central_nouns(question) == nouns


DROPPED = (
    "The importer is slow with large folders.",
    "We decided to drop the watcher of the importer, because it opened every file twice.",
    "What about the logs?",
    "I will drop the debug lines of the exporter before the release.",
)


def test_why_a_thing_was_dropped_that_memory_never_mentions_is_not_known(tmp_path: Path) -> None:
    with open_with(tmp_path, *DROPPED) as memory:
        answer = memory.ask("Why did we drop the queue?", bank="all")
        assert answer.abstained or answer.weak
        known = memory.ask("Why did we drop the watcher?", bank="all")
        assert "opened every file twice" in known.answer


def test_two_words_in_two_records_are_no_answer(tmp_path: Path) -> None:
    said = (*DROPPED, "And then?", "Queue the icons for the next phase of the exporter.")
    with open_with(tmp_path, *said) as memory:
        answer = memory.ask("Why did we drop the queue?", bank="all")
        assert answer.abstained or answer.weak


def test_a_synonym_of_the_thing_is_a_mention_of_it(tmp_path: Path) -> None:
    said = ("Where do settings go?", "The settings are in the directory /etc/harbour of the host.")
    with open_with(tmp_path, *said) as memory:
        answer = memory.ask("Which settings are in the folder on the host?", bank="all")
        assert "/etc/harbour" in answer.answer
