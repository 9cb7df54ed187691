from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.status.home_view import OTHER_BANKS, activity, gather_home
from holdfast.app.views.example_questions import (
    QuestionCache,
    all_examples,
    example_questions,
)
from holdfast.app.views.last_visit import note_visit
from holdfast.app.views.questions_to_try import questions_to_try
from holdfast.language import content_stems
from holdfast.refine.core.statement_similarity import own_words
from holdfast.settings import Settings, load_settings
from tests.support.empty_memory import with_empty_memory
from tests.support.http.server import make_home
from tests.support.sample_memory import memory_with_session, open_memory
from tests.support.transcripts import Script

NOW = "2026-11-17T05:00:00.000Z"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    """A memory of the sample sessions, which no test changes."""
    folder = tmp_path_factory.mktemp("questions")
    with Holdfast(load_settings(make_home(folder)), create=False) as made:
        yield made


def test_every_example_question_is_answered_from_this_memory(memory: Holdfast) -> None:
    questions = example_questions(memory.reader, NOW, 9)
    assert "What was the cause of the duplicate alerts?" in questions
    assert questions[-1] == "What was done last week?" and len(questions) >= 4
    for question in questions:
        answer = memory.ask(question, "all", local=True)
        assert not answer.abstained and answer.citations, question


def test_a_question_to_try_about_a_name_is_answered_by_a_statement_it_is_made_of(
    memory: Holdfast,
) -> None:
    made_of = {one.question: one.answers for one in all_examples(memory.reader, NOW)}
    bank = memory.reader.sessions.latest(None, 1)[0].bank
    offered = questions_to_try(memory, bank, NOW, 9)
    about_statements = [question for question in offered if made_of.get(question)]
    assert about_statements
    for question in about_statements:
        answer = memory.ask(question, bank, quickly=True, local=True).answer
        first = content_stems(answer.partition("\n")[0])
        stated = [content_stems(own_words(text)) for text in made_of[question]]
        assert any(len(one & first) >= 0.6 * len(one) for one in stated), question


def test_an_example_question_is_gone_with_the_statement_it_was_made_of(tmp_path: Path) -> None:
    script = Script("33333333-0000-4000-8000-00000000000a")
    script.user("Why does the loader fail?")
    script.assistant("The root cause of the nightly loader failure was a lock on the tide table.")
    with memory_with_session(tmp_path, script) as memory:
        cache = QuestionCache()
        asked = cache.get(memory.reader, None, NOW)
        assert asked[0] == "What was the cause of the nightly loader failure?"
        assert cache.get(memory.reader, None, NOW) is asked
        session = memory.reader.sessions.latest(None, 1)[0]
        memory.forget(f"holdfast://session/{session.id}", who="ada")
        assert not [q for q in cache.get(memory.reader, None, NOW) if "loader" in q]


def test_an_empty_memory_has_no_example_questions(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        assert example_questions(memory.reader, NOW) == []
        view = gather_home(memory, "", NOW)
        assert not view.sessions and not view.activity and not any(view.waiting)


def test_sessions_since_the_last_visit_are_counted(memory: Holdfast) -> None:
    view = gather_home(memory, "2026-10-27T00:00:00.000Z", NOW)
    assert view.new == 3 and view.until == "2026-11-17"
    assert (
        sum(one.sessions for one in view.activity) == 10
    )  # one of the eleven is older than twelve weeks


def test_a_memory_that_was_quiet_for_long_shows_its_last_weeks(memory: Holdfast) -> None:
    view = gather_home(memory, "", "2028-01-01T00:00:00.000Z")
    assert view.until == "2026-11-12" and view.activity


def test_banks_with_few_sessions_share_a_bar(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path / "claude")
    with Holdfast(with_empty_memory(settings)) as memory:
        for number in range(8):
            script = Script(f"33333333-0000-4000-8000-0000000000{number:02}", cwd=f"/p/{number}")
            script.user("Please mend the loader.")
            script.assistant("The loader is mended.")
            script.write(tmp_path / "sessions")
        memory.ingest(memory.ingestion.find([tmp_path / "sessions"]))
        names = {one.bank for one in activity(memory, "2020-01-01")}
        assert len(names) == 6 and OTHER_BANKS in names


def test_a_visit_is_noted_and_the_one_before_it_is_told(tmp_path: Path) -> None:
    assert note_visit(tmp_path, "", "2026-11-01T10:00:00Z") == ""
    assert note_visit(tmp_path, "", "2026-11-01T10:10:00Z") == ""  # still the same visit
    assert note_visit(tmp_path, "", "2026-11-03T08:00:00Z") == "2026-11-01T10:10:00Z"
    assert note_visit(tmp_path, "", "2026-11-03T08:20:00Z") == "2026-11-01T10:10:00Z"
    assert note_visit(tmp_path, "key1", "2026-11-03T08:20:00Z") == ""
    assert note_visit(tmp_path, "", "2026-11-03T09:00:00Z") == "2026-11-03T08:20:00Z"
    assert stat.S_IMODE((tmp_path / "visits.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("broken", ["", "[]", "{", '{"": 3}', '{"": ["x", 4]}', '{"": ["", "y"]}'])
def test_a_broken_file_of_visits_is_replaced(tmp_path: Path, broken: str) -> None:
    (tmp_path / "visits.json").write_text(broken)
    assert note_visit(tmp_path, "", NOW) == ""
    assert json.loads((tmp_path / "visits.json").read_text()) == {"": ["", NOW]}


def test_a_home_that_cannot_be_written_is_shown_all_the_same(tmp_path: Path) -> None:
    assert note_visit(tmp_path / "gone", "", NOW) == ""
