"""Investigations as sessions: named at once, followed from elsewhere, gone on with, stopped."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.answers.ask import AskOptions
from holdfast.app.answers.research_sessions import Investigation, sessions_of
from holdfast.app.memory import Holdfast
from holdfast.errors import CancelledError, InputError, NotFoundError, StoreError
from holdfast.model.query import Citation, Layer
from holdfast.model.research import ResearchEvent, ResearchStage
from holdfast.research.answering.followups import complete_question
from holdfast.research.journal_lines import event_line
from holdfast.research.session_journal import ResearchSessions, SessionState, new_id
from tests.support.recall_bank import open_with_sessions, talk

ASKED = "Where do we keep the session tokens?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    said = (
        ("2026-03-01", ASKED, "We decided to keep the session tokens in Postgres."),
        ("2026-04-01", "Paint the lighthouse.", "The lighthouse is red now."),
        ("2026-05-01", "Who cleans the tide gauge?", "Olga cleans the tide gauge on Mondays."),
    )
    with open_with_sessions(
        tmp_path, *(talk(n, *one) for n, one in enumerate(said, start=1))
    ) as memory:
        yield memory


def lines(memory: Holdfast, id: str) -> list[str]:
    return [str(line["stage"]) for line in sessions_of(memory.settings).lines(id)]


def test_every_question_has_a_session_whose_steps_can_be_read_later(memory: Holdfast) -> None:
    asked = memory.answers.investigate(AskOptions(ASKED, "all"))
    assert asked.id.startswith("mem-"), "it has its name before anything is done"
    answer = asked.answer()
    assert answer.session_id == asked.id
    kept = lines(memory, asked.id)
    assert kept[:2] == ["asked", "planned"] and kept[-1] == "done"
    session, told = memory.answers.research_session(asked.id[:10])
    assert session.state is SessionState.DONE and session.questions == (ASKED,)
    assert "Postgres" in told[-1]["answer"]["answer"]
    path = memory.settings.home / "research" / f"{asked.id}.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.slow
def test_a_repeated_question_is_answered_from_its_session(memory: Holdfast) -> None:
    first = memory.ask(ASKED, "all")
    again = memory.answers.investigate(AskOptions(f"  {ASKED.upper()} ", "all"), first.session_id)
    told = list(again)
    assert [event.stage for event in told] == [ResearchStage.DONE] and told[0].answer is not None
    assert told[0].answer.answer == first.answer and told[0].answer.citations == first.citations
    memory.remember("The session tokens moved to Redis.", "shop")
    anew = list(memory.answers.investigate(AskOptions(ASKED, "all"), first.session_id))
    assert len(anew) > 1, "the memory has changed"
    other = list(
        memory.answers.investigate(
            AskOptions(ASKED, "all", as_of="2026-03-20T00:00:00.000Z"), first.session_id
        )
    )
    assert len(other) > 1, "it is asked in another way"


def test_a_follow_up_inherits_the_subject(memory: Holdfast) -> None:
    first = memory.ask("When is the tide gauge cleaned?", "all")
    told = list(
        memory.answers.investigate(AskOptions("and who cleans it?", "all"), first.session_id)
    )
    assert told[0].text.startswith("Read as: who cleans the tide gauge")
    assert told[-1].answer is not None and "Olga" in told[-1].answer.answer
    session = sessions_of(memory.settings).summary(first.session_id)
    assert session.questions == ("When is the tide gauge cleaned?", "and who cleans it?")


@pytest.mark.parametrize(
    ("question", "earlier", "meant"),
    [
        ("And who reviewed it?", ["Why did we drop the Redis cache?"],
         "who reviewed drop the Redis cache?"),
        ("why?", ["Was the tide cache ever reverted?"], "why the tide cache"),
        ("Who owns src/pay.py?", ["Why did we drop Redis?"], "Who owns src/pay.py?"),
        ("who wrote it?", [], "who wrote it?"),
        ("who wrote it?", ["and why?", "🙂"], "who wrote it?"),
    ],
)  # fmt: skip
def test_only_incomplete_follow_ups_are_completed(
    question: str, earlier: list[str], meant: str
) -> None:
    assert complete_question(question, earlier) == meant


def test_a_session_can_be_cancelled_between_two_steps(memory: Holdfast) -> None:
    asked = memory.answers.investigate(AskOptions(ASKED, "all"))
    steps = iter(asked)
    next(steps)
    sessions = sessions_of(memory.settings)
    assert sessions.state(asked.id) is SessionState.RUNNING
    assert sessions.cancel(asked.id)
    assert [event.stage for event in steps][-1] is ResearchStage.CANCELLED
    assert sessions.state(asked.id) is SessionState.CANCELLED and not sessions.cancel(asked.id)


def test_whoever_waits_for_a_cancelled_session_is_notified(memory: Holdfast) -> None:
    waiting: list[Investigation] = []

    def now() -> str:
        """The clock, which is looked at while an investigation is under way."""
        cancelled.extend(one.sessions.cancel(one.id) for one in waiting)
        return memory.now()

    cancelled: list[bool] = []
    with Holdfast(memory.settings, now=now) as other:
        asked = other.answers.investigate(AskOptions(ASKED, "all"))
        waiting.append(asked)
        with pytest.raises(CancelledError):
            asked.answer()
        waiting.clear()
        assert any(cancelled)
        assert asked.sessions.state(asked.id) is SessionState.CANCELLED


def test_two_processes_cannot_work_on_one_session_at_once(memory: Holdfast) -> None:
    asked = memory.answers.investigate(AskOptions(ASKED, "all"))
    steps = iter(asked)
    next(steps)
    with pytest.raises(InputError, match="is running"):
        memory.ask("and why?", "all", session=asked.id)
    assert list(steps)[-1].stage is ResearchStage.DONE


def test_a_reader_that_stops_early_marks_the_session_as_cancelled(memory: Holdfast) -> None:
    asked = memory.answers.investigate(AskOptions(ASKED, "all"))
    for _ in asked:
        break
    assert sessions_of(memory.settings).state(asked.id) is SessionState.CANCELLED


def test_a_failed_session_says_so(memory: Holdfast) -> None:
    with pytest.raises(NotFoundError):
        memory.answers.investigate(AskOptions(ASKED, "nowhere"))
    asked = memory.answers.investigate(AskOptions(ASKED, "all"))
    with closing(sqlite3.connect(memory.settings.database)) as database:
        database.execute("DROP TABLE passage")
    with pytest.raises(StoreError, match="no such table"):
        asked.answer()
    session, told = memory.answers.research_session(asked.id)
    assert session.state is SessionState.FAILED and "no such table" in told[-1]["text"]


CHILD = """
import sys, time
from pathlib import Path
from holdfast.research.session_journal import ResearchSessions
with ResearchSessions(Path(sys.argv[1])).open_session(sys.argv[2], follow=False) as run:
    run.write({"stage": "asked", "question": "slow?", "time": ""})
    print("ready", flush=True)
    for _ in range(3000):
        if run.cancelled:
            run.write({"stage": "cancelled", "text": "Cancelled."})
            break
        time.sleep(0.02)
"""


def child(folder: Path, id: str) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-c", CHILD, str(folder), id]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.stdout.close()
    return process


def test_another_process_can_follow_and_cancel_a_session(tmp_path: Path) -> None:
    sessions, id = ResearchSessions(tmp_path), new_id()
    process = child(tmp_path, id)
    tail = sessions.tail(id)
    assert next(tail)["stage"] == "asked" and sessions.state(id) is SessionState.RUNNING
    assert sessions.cancel(id)
    assert [line["stage"] for line in tail] == ["cancelled"]
    assert process.wait(timeout=60) == 0 and sessions.state(id) is SessionState.CANCELLED


def test_a_session_whose_process_died_says_so(tmp_path: Path) -> None:
    sessions, id = ResearchSessions(tmp_path), new_id()
    process = child(tmp_path, id)
    process.kill()
    process.wait(timeout=60)
    assert sessions.state(id) is SessionState.CRASHED
    assert [line["stage"] for line in sessions.tail(id)] == ["asked"], "nobody waits for it"
    with sessions.open_session(id, follow=True) as run:
        assert run is not None and not run.cancelled


@pytest.mark.parametrize("id", ["mem-0000000000000000000", "../../etc/passwd", "", "mem-", "🙂"])
def test_an_unknown_session_is_reported(memory: Holdfast, id: str) -> None:
    if id:
        with pytest.raises(NotFoundError, match="session"):
            memory.ask(ASKED, "all", session=id)
    with pytest.raises(NotFoundError, match="session"):
        sessions_of(memory.settings).lines(id)


def test_old_and_excess_sessions_are_removed(tmp_path: Path) -> None:
    sessions = ResearchSessions(tmp_path, max_sessions=3)
    made: list[str] = []
    for number in range(5):
        id = f"{new_id()[:-8]}{number:08x}"
        with sessions.open_session(id, follow=False) as run:
            assert run is not None
        made.append(id)
    assert sessions.ids() == made[:1:-1]
    with sessions.open_session("mem-00000000001deadbeef", follow=False):
        pass
    with sessions.open_session(new_id(), follow=False):
        pass
    assert "mem-00000000001deadbeef" not in sessions.ids()


def test_secrets_in_a_question_are_not_stored(memory: Holdfast) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    id = memory.ask(f"What is {secret} for?", "all").session_id
    text = (memory.settings.home / "research" / f"{id}.jsonl").read_text()
    assert secret not in text and "redacted" in text


@pytest.mark.slow
def test_a_session_hides_forgotten_records_until_they_are_restored(memory: Holdfast) -> None:
    answer = memory.ask(ASKED, "all")
    hidden = answer.citations[0].uri
    memory.forget(hidden)
    _, told = memory.answers.research_session(answer.session_id)
    assert "Postgres" not in str(told)
    memory.restore(hidden)
    assert "Postgres" in str(memory.answers.research_session(answer.session_id)[1])


@pytest.mark.slow
def test_scrubbing_removes_sessions_that_mention_the_text(memory: Holdfast) -> None:
    id = memory.ask("What about the lighthouse?", "all").session_id
    assert memory.recall("lighthouse", "all").hits
    memory.erasure.scrub("lighthouse")
    assert id not in sessions_of(memory.settings).ids()


@pytest.mark.slow
def test_a_huge_question_is_stored_as_a_small_session(memory: Holdfast) -> None:
    id = memory.ask("lighthouse " * 100_000, "all").session_id
    assert (memory.settings.home / "research" / f"{id}.jsonl").stat().st_size < 60_000


def test_a_question_is_answered_although_the_home_is_not_writable(memory: Holdfast) -> None:
    (memory.settings.home / "research").write_text("in the way")
    answer = memory.ask(ASKED, "all")
    assert "Postgres" in answer.answer and answer.session_id.startswith("mem-")


def test_asking_does_not_create_a_missing_home(tmp_path: Path) -> None:
    with ResearchSessions(tmp_path / "home" / "research").open_session(
        new_id(), follow=False
    ) as run:
        assert run is None
    assert not list(tmp_path.iterdir())


def test_text_from_plugins_is_not_stored_in_the_session(memory: Holdfast) -> None:
    answer = memory.ask(ASKED, "all")
    number = len(answer.citations) + 1
    theirs = Citation(number, "", Layer.PROVIDERS, "wiki: ask the octopus", "")
    whole = replace(
        answer,
        answer=f"{answer.answer}\nFrom outside (wiki): “ask the octopus” [{number}]",
        citations=(*answer.citations, theirs),
    )
    line = event_line(ResearchEvent(ResearchStage.DONE, "Done.", answer=whole), "", str, "key")
    assert "octopus" not in str(line) and "Postgres" in str(line) and "key" not in line
    assert (
        event_line(ResearchEvent(ResearchStage.DONE, "Done.", answer=answer), "", str, "key")["key"]
        == "key"
    )
