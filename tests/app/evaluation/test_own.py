"""A history by hand: nine sessions, of which few changed the file that the last one is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.app.evaluation.asking import Ranking
from holdfast.app.evaluation.own import (
    History,
    chance_of_hit,
    find_questions,
    replay,
    too_little_history,
)
from holdfast.app.memory import Holdfast
from holdfast.recall.core.plan import RecallPlan
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script

TOPICS = "anchor rudder mast galley keel compass lantern bilge".split()
ASKED = "Please make the compass needle calmer when the steel hull swings around quickly"


def session(place: int, request: str, file: str, reply: str = "Done as asked.") -> Script:
    start = datetime(2026, 9, 1, 9, 0, tzinfo=UTC) + timedelta(days=place)
    script = Script(session=f"{place:08d}-0000-4000-8000-000000000000", start=start)
    script.user(request)
    path = f"/home/dev/proj/src/{file}.py"
    script.tool("Edit", "updated", file_path=path, old_string="a", new_string=f"b{place}")
    script.assistant(reply)
    return script


def history() -> list[Script]:
    return [
        session(n, f"Write the {topic} module with its own little tests", topic)
        for n, topic in enumerate(TOPICS, start=1)
    ]


def remember(home: Path, *scripts: Script) -> Holdfast:
    settings = Settings(home=home / "home", claude_dir=home / "claude")
    memory = Holdfast(with_empty_memory(settings))
    for script in scripts:
        script.write(home / "claude" / "projects")
    memory.ingest(memory.ingestion.find([]))
    return memory


@pytest.mark.slow
def test_a_request_is_expected_to_find_the_session_that_changed_its_file(tmp_path: Path) -> None:
    last = session(20, ASKED, "compass")
    after = session(30, "The compass needle of the steel hull swings quickly again", "hull")
    told = (
        "The needle of the compass is damped now, so it is calmer when a steel hull swings around."
    )
    before = history()
    before[5] = session(6, "Write the compass module with its own little tests", "compass", told)
    with remember(tmp_path, *before, last, after) as memory:
        found = find_questions(memory.reader, None)
        seen: dict[str, Ranking] = {}
        report = replay(memory, found.questions, RecallPlan(), record=seen.__setitem__)
    assert (found.sessions, found.openings, len(found.questions)) == (10, 10, 1)
    question = found.questions[0]
    assert (question.text, question.session) == (ASKED, last.session)
    assert question.gold_sessions == {"00000006-0000-4000-8000-000000000000"}
    assert question.earlier == 8
    assert report.measures == {"session_hit@1": 1, "session_hit@5": 1, "session_mrr": 1}
    assert report.chance == {
        "session_hit@1": pytest.approx(1 / 8),
        "session_hit@5": pytest.approx(5 / 8),
    }
    ranked = seen[question.id].sessions
    assert last.session not in ranked and after.session not in ranked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("request_text", "file"),
    [
        ("Fix the compass", "compass"),
        ("/fix the compass needle that swings around with the hull", "compass"),
        ("Write the compass module with its own little tests", "compass"),
        (ASKED + " please" * 300, "compass"),
        (ASKED, "tiller"),
    ],
    ids=["too few words", "a command", "typed before", "pasted", "no earlier session"],
)
def test_unfair_questions_are_left_out(tmp_path: Path, request_text: str, file: str) -> None:
    with remember(tmp_path, *history(), session(20, request_text, file)) as memory:
        assert find_questions(memory.reader, None).questions == []


def test_the_baseline_is_that_of_a_random_order() -> None:
    assert chance_of_hit(1, 2, 8) == pytest.approx(2 / 8)
    assert chance_of_hit(5, 1, 10) == pytest.approx(5 / 10)
    assert chance_of_hit(2, 2, 4) == pytest.approx(1 - (2 / 4) * (1 / 3))
    assert chance_of_hit(5, 1, 3) == 1


def test_too_little_history_is_reported_with_what_is_needed(tmp_path: Path) -> None:
    with remember(tmp_path, *history()[:3]) as memory:
        found = find_questions(memory.reader, None)
        report = replay(memory, found.questions, RecallPlan())
    assert found == History(3, 3, []) and report.questions == 0
    assert "3 sessions" in too_little_history(
        found
    ) and "more than 8 earlier sessions" in too_little_history(found)
