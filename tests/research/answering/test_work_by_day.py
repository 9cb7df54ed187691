"""Questions for nothing but a time: its sessions, grouped by day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.query import Answer, Confidence, Layer
from holdfast.model.uris import uri
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[3] / "examples" / "sessions"

# A Wednesday.
NOW = "2026-11-11T12:00:00.000Z"
WORK = (
    ("2026-10-28T09:00", "Mend the tide table.", "The tide table rounds to centimetres now."),
    ("2026-11-03T09:00", "Add a lamp to the pier.", "The pier has a lamp that follows the sun."),
    ("2026-11-03T14:00", "Paint the buoy.", "The buoy is painted in signal red now."),
    ("2026-11-05T10:00", "Move the ferry times.", "The ferry times are read from the harbour API."),
    ("2026-11-10T16:00", "Drop the crane list.", "The crane list is gone; nobody had used it."),
)


def session(number: int, start: str, asked: str, replied: str) -> Script:
    script = Script(f"{number:08d}-0000-4000-8000-000000000001", cwd="/home/dev/proj")
    script.start = datetime.fromisoformat(start).replace(tzinfo=UTC)
    script.user(asked)
    script.assistant("Let me look at the files first, before I change anything in there.")
    script.tool("Edit", "ok", file_path="/home/dev/proj/a.py", old_string="1", new_string="2")
    script.assistant(f"All 12 tests pass and lint is clean. {replied}")
    return script


def open_with(folder: Path, *scripts: Script) -> Holdfast:
    for script in scripts:
        script.write(folder / "p")
    memory = Holdfast(
        with_empty_memory(Settings(home=folder / "home", claude_dir=folder)), now=lambda: NOW
    )
    memory.ingest(memory.ingestion.find([folder / "p"]))
    return memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    scripts = [session(number, *work) for number, work in enumerate(WORK, start=1)]
    with open_with(tmp_path, *scripts) as opened:
        yield opened


def days(answer: Answer) -> list[str]:
    return [line.partition(":")[0] for line in answer.answer.split("\n")]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was done last week?", ["3 Nov 2026", "3 Nov 2026", "5 Nov 2026"]),
        ("What did we do yesterday?", ["10 Nov 2026"]),
        ("What happened in October?", ["28 Oct 2026"]),
        ("What was done on 3 November?", ["3 Nov 2026", "3 Nov 2026"]),
        ("What has been done since 5 November?", ["5 Nov 2026", "10 Nov 2026"]),
    ],
)
def test_what_was_done_at_a_time_is_told_by_day(
    memory: Holdfast, question: str, expected: list[str]
) -> None:
    answer = memory.ask(question, bank="all")
    assert days(answer) == expected
    assert answer.confidence is Confidence.MEDIUM and answer.caveats == ()
    assert {citation.uri.split("/")[2] for citation in answer.citations} == {"digest"}
    assert len(answer.citations) == len(expected)


def test_a_line_has_the_title_of_a_session_and_what_came_of_it(memory: Holdfast) -> None:
    (line,) = memory.ask("What was done yesterday?", bank="all").answer.split("\n")
    assert line == (
        "10 Nov 2026: Drop the crane list — The crane list is gone; nobody had used it. [1]"
    )


def test_a_time_in_which_nothing_was_done_is_not_answered(memory: Holdfast) -> None:
    assert memory.ask("What was done last March?", bank="all").abstained


def test_a_time_and_a_subject_are_answered_by_the_subject(memory: Holdfast) -> None:
    answer = memory.ask("What was painted last week?", bank="all")
    assert "signal red" in answer.answer and "lamp" not in answer.answer


def test_what_was_done_is_told_as_of_a_time(memory: Holdfast) -> None:
    answer = memory.ask("What was done last week?", bank="all", as_of="2026-11-04T00:00:00.000Z")
    assert days(answer) == ["28 Oct 2026"]


def test_a_forgotten_session_is_not_listed(memory: Holdfast) -> None:
    first, second, _ = memory.ask("What was done last week?", bank="all").citations
    memory.forget(first.uri)
    answer = memory.ask("What was done last week?", bank="all")
    assert days(answer) == ["3 Nov 2026", "5 Nov 2026"]
    assert answer.citations[0].uri == second.uri


def test_a_corrected_session_is_listed_in_the_words_of_its_correction(memory: Holdfast) -> None:
    (cited,) = memory.ask("What was done on 28 October?", bank="all").citations
    memory.correct(cited.uri, "The tide table was thrown away.")
    answer = memory.ask("What was done on 28 October?", bank="all")
    assert answer.answer.startswith("28 Oct 2026: The tide table was thrown away. (corrected")


def test_turns_tell_what_was_done_where_only_they_may_be_cited(memory: Holdfast) -> None:
    answer = memory.ask("What was done yesterday?", bank="all", layers=[Layer.TRANSCRIPTS])
    assert {citation.layer for citation in answer.citations} == {Layer.TRANSCRIPTS}
    assert "The crane list is gone" in answer.answer and "tests pass" not in answer.answer


def test_every_day_of_a_long_time_has_a_line_and_the_rest_is_counted(tmp_path: Path) -> None:
    start = datetime(2026, 10, 1, 8, tzinfo=UTC)
    times = [start + timedelta(days=day, hours=hour) for day in range(20) for hour in range(2)]
    scripts = [
        session(n, f"{time:%Y-%m-%dT%H:%M}", f"Build the pier {n}.", f"The pier {n} is built.")
        for n, time in enumerate(times)
    ]
    with open_with(tmp_path, *scripts) as memory:
        answer = memory.ask("What was done in October?", bank="all")
        assert days(answer) == [f"{day} Oct 2026" for day in range(1, 21)]
        assert answer.caveats == ("Not listed: 20 more sessions of 20 days.",)
        day = memory.ask("What was done from 3 October to 5 October?", bank="all")
        assert days(day) == [f"{day} Oct 2026" for day in (3, 3, 4, 4, 5, 5)]


def test_the_sessions_that_came_to_something_are_listed_first_of_a_day(tmp_path: Path) -> None:
    scripts = [
        session(n, f"2026-11-03T{n:02d}:00", f"Build the pier {n}.", f"The pier {n} is built.")
        for n in range(1, 14)
    ]
    idle = Script("99999999-0000-4000-8000-000000000001", cwd="/home/dev/proj")
    idle.start = datetime(2026, 11, 3, 0, 30, tzinfo=UTC)
    idle.user("What is a pier?")
    with open_with(tmp_path, idle, *scripts) as memory:
        answer = memory.ask("What was done on 3 November?", bank="all")
        assert "What is a pier" not in answer.answer
        assert re.findall(r"Build the pier (\d+)", answer.answer) == [str(n) for n in range(1, 13)]
        assert answer.caveats == ("Not listed: 2 more sessions (3 Nov 2026).",)


def test_the_work_of_subagents_is_told_by_the_session_that_started_them(tmp_path: Path) -> None:
    with Holdfast(
        with_empty_memory(Settings(home=tmp_path / "home", claude_dir=tmp_path))
    ) as memory:
        memory.ingestion.ingest(memory.ingestion.find([SAMPLES]), then_know=False)
        sessions = memory.reader.sessions.latest(None, 50)
        part = next(session for session in sessions if session.parent)
        digest = memory.reader.sessions.digest(part.bank, part.id)
        assert digest is not None
        day = datetime.fromisoformat(digest.started)
        answer = memory.ask(f"What was done on {day:%d %B %Y}?", bank="all")
        cited = {citation.uri for citation in answer.citations}
        whole = memory.reader.sessions.digest(part.bank, part.parent)
        assert whole is not None and uri("digest", whole.id) in cited
        assert uri("digest", digest.id) not in cited
