"""What came of what was said, where a question asks for an explanation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.query import Layer
from holdfast.research.answering.quoting import Quote
from holdfast.research.answering.replies import with_replies
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script

COMPLAINT = "The purple highlight behind the harbour tab is too narrow for its badge."
REPLY = "The indicator of the harbour tab was measured once. It now follows a ResizeObserver."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    script = Script("aaaaaaaa-0000-4000-8000-000000000001")
    script.user(COMPLAINT)
    script.assistant("Let me look at it.")
    script.tool("Read", "ok", file_path="/home/dev/project/tabs.tsx")
    script.assistant(REPLY)
    script.write(tmp_path / "p")
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path)
    with Holdfast(with_empty_memory(settings)) as opened:
        opened.ingest(opened.ingestion.find([tmp_path / "p"]))
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    [
        "What made the purple highlight behind the harbour tab too narrow?",
        "Why was the purple highlight behind the harbour tab too narrow for its badge?",
        "How did we mend the purple highlight behind the harbour tab?",
    ],
)
def test_an_explanation_is_quoted_beside_what_it_explains(memory: Holdfast, question: str) -> None:
    answer = memory.ask(question, bank="all")
    told = " ".join(answer.answer.split("\n")[:2])
    assert "too narrow" in told and "measured once" in told
    assert "It now follows a ResizeObserver" in told
    assert all(memory.show(citation.uri).raw is not None for citation in answer.citations)


def quoted(memory: Holdfast, words: str) -> list[str]:
    """What is quoted if the turn with these words is, with its reply."""
    hits = memory.recall(words, bank="all", layers=[Layer.TRANSCRIPTS]).hits
    said = Quote(next(hit for hit in hits if words in hit.text), words, 1.0, 1.0)
    found = with_replies(
        memory.reader,
        [said],
        True,
        lambda _: True,
        lambda hit: said._replace(hit=hit, sentence=hit.text),
    )
    return [item.sentence.strip() for item in found]


def test_the_reply_is_quoted_after_what_a_person_said(memory: Holdfast) -> None:
    assert quoted(memory, COMPLAINT) == [COMPLAINT, REPLY]


def test_a_reply_about_something_else_is_not_quoted(memory: Holdfast) -> None:
    hit = memory.recall(COMPLAINT, bank="all", layers=[Layer.TRANSCRIPTS]).hits[0]
    said = Quote(hit, COMPLAINT, 1.0, 1.0)
    other = said._replace(covered=0.05)
    assert with_replies(memory.reader, [said], True, lambda _: True, lambda _: other) == [said]


def test_the_reply_itself_is_quoted_once(memory: Holdfast) -> None:
    assert quoted(memory, REPLY) == [REPLY]


@pytest.mark.parametrize(("asks_why", "quotes"), [(True, 1), (False, 2)])
def test_what_explains_something_needs_no_reply_where_a_reason_is_asked_for(
    memory: Holdfast, asks_why: bool, quotes: int
) -> None:
    hit = memory.recall(COMPLAINT, bank="all", layers=[Layer.TRANSCRIPTS]).hits[0]
    because = "The highlight is narrow because it is measured once."
    said = Quote(hit, because, 1.0, 1.0)
    found = with_replies(memory.reader, [said], asks_why, lambda _: True, lambda _: said)
    assert len(found) == quotes and found[0] == said


def test_a_reply_does_not_repeat_what_was_just_quoted(tmp_path: Path) -> None:
    script = Script("aaaaaaaa-0000-4000-8000-000000000001")
    script.user(COMPLAINT)
    script.tool("Edit", "ok", file_path="/home/dev/project/tabs.tsx", new_string="x")
    script.assistant(f"{COMPLAINT} The harbour tab is measured by a ResizeObserver now.")
    script.write(tmp_path / "p")
    with Holdfast(
        with_empty_memory(Settings(home=tmp_path / "home", claude_dir=tmp_path))
    ) as opened:
        opened.ingest(opened.ingestion.find([tmp_path / "p"]))
        found = quoted(opened, COMPLAINT)
    assert found == [COMPLAINT, "The harbour tab is measured by a ResizeObserver now."]


@pytest.mark.slow
def test_a_reply_outside_the_layers_that_are_asked_is_not_quoted(memory: Holdfast) -> None:
    question = "What made the purple highlight behind the harbour tab too narrow?"
    answer = memory.ask(question, bank="all", layers=[Layer.TRANSCRIPTS])
    assert {citation.layer for citation in answer.citations} == {Layer.TRANSCRIPTS}
    assert "too narrow" in answer.answer
