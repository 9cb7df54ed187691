"""Which journals `reconcile` reads, and which transcripts it reads before them."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from holdfast.capture import journal
from holdfast.refine.core.banks import BankMaker
from holdfast.refine.hooks.reconcile import (
    IDLE_AFTER,
    ReconcileReport,
    find_unread,
    has_ended,
    reconcile,
)
from holdfast.store.sqlite.store import SqliteStore
from tests.support.inbox_home import SESSION, Home
from tests.support.transcripts import Script

SECOND = timedelta(seconds=1)
OTHER = "22222222-0000-4000-8000-000000000002"


def after(time: str, pause: timedelta) -> str:
    moment = datetime.fromisoformat(time) + pause
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def speak(home: Home, transcript: Path | None = None, end: bool = True) -> None:
    """A prompt and its answer, by hooks that name this transcript."""
    more = {"transcript_path": str(transcript)} if transcript else {}
    home.prompt("Why do rows double?", **more)
    home.stop("The retry wrapper loads twice.", **more)
    if end:
        home.end()
    home.drain()


def write(home: Home, session: str, *words: str) -> Path:
    script = Script(session)
    for one in words:
        script.user(one)
    return script.write(home.settings.claude_dir / "projects")


def lines_read(done: ReconcileReport) -> tuple[int, int]:
    """How many transcripts were read, and how many lines of journals."""
    return done.transcripts.files_read, done.journals.lines


@pytest.mark.parametrize(
    ("pause", "is_over"),
    [
        (IDLE_AFTER - SECOND, False),
        (IDLE_AFTER, True),
        (IDLE_AFTER + SECOND, True),
        (SECOND - IDLE_AFTER, False),
        (-IDLE_AFTER, True),
    ],
    ids=["a second less", "an hour", "a second more", "clock set back less", "clock set back"],
)
def test_a_session_without_an_end_is_over_after_an_idle_hour(
    tmp_path: Path, pause: timedelta, is_over: bool
) -> None:
    home = Home(tmp_path)
    speak(home, end=False)
    last = max(event["time"] for event in home.journal())
    home.now = after(last, pause)
    assert home.reconcile().journals.lines == (2 if is_over else 0)
    assert timedelta(minutes=30) < IDLE_AFTER < timedelta(hours=2)
    assert has_ended(home.places, "unknown", last, home.now) is is_over


def test_the_last_event_counts_whatever_their_order(tmp_path: Path) -> None:
    home = Home(tmp_path)
    speak(home, end=False)
    events = home.journal()
    last = max(event["time"] for event in events)
    path = home.places.journal(SESSION)
    path.write_text("".join(json.dumps(event) + "\n" for event in reversed(events)))
    home.now = after(last, IDLE_AFTER - SECOND / 2)
    with home.open() as memory:
        (unread,) = find_unread(memory.reader, home.places)
    assert unread.last == last
    assert home.reconcile().journals.lines == 0


def test_a_journal_whose_events_have_no_time_is_read(tmp_path: Path) -> None:
    home = Home(tmp_path)
    speak(home, end=False)
    events = home.journal()
    path = home.places.journal(SESSION)
    path.write_text("".join(json.dumps({**event, "time": ""}) + "\n" for event in events))
    assert home.reconcile().journals.lines == len(events) == 2


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_a_session_that_goes_on_after_its_end_is_not_over(tmp_path: Path, event: str) -> None:
    home = Home(tmp_path)
    speak(home)
    home.put(event, {"source": "resume", "prompt": "And now?"})
    home.drain()
    home.now = max(event["time"] for event in home.journal())
    assert home.reconcile().journals.lines == 0
    assert not has_ended(home.places, SESSION, home.now, home.now)


def test_a_late_event_does_not_reopen_an_ended_session(tmp_path: Path) -> None:
    home = Home(tmp_path)
    speak(home)
    home.stop("One more word.")
    home.drain()
    home.now = max(event["time"] for event in home.journal())
    assert has_ended(home.places, SESSION, home.now, home.now)
    assert home.reconcile().journals.lines == 4


def test_a_transcript_that_was_read_is_not_read_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = write(home, SESSION, "Why do rows double?")
    home.ingest(path)
    speak(home, path)
    done = home.reconcile()
    assert (done.transcripts.files_read, done.transcripts.lines) == (0, 0)
    assert lines_read(done) == (0, 3)


def test_a_transcript_known_by_its_name_is_read_before_a_journal_that_names_none(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path)
    path = write(home, SESSION, "Why do rows double?")
    home.ingest(path)
    write(home, SESSION, "Why do rows double?", "And why twice?")
    speak(home)
    assert lines_read(home.reconcile()) == (1, 3)
    assert "And why twice?" in home.said()


def test_a_transcript_named_last_is_the_one_to_read(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = write(home, SESSION, "Why do rows double?")
    home.prompt("Why do rows double?", transcript_path=str(tmp_path / "moved" / path.name))
    home.stop("The retry wrapper loads twice.", transcript_path=str(path))
    home.end()
    home.drain()
    assert lines_read(home.reconcile()) == (1, 3)


def test_a_transcript_of_another_session_is_not_waited_for(tmp_path: Path) -> None:
    home = Home(tmp_path)
    speak(home, write(home, OTHER, "Paint it blue."))
    assert lines_read(home.reconcile()) == (0, 3)
    assert home.said(OTHER) == []


def test_transcripts_of_subagents_are_read_before_the_journal(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = write(home, SESSION, "Look around.")
    inner = Script(SESSION)
    inner.user("List the files.", agentId="aa61", isSidechain=True)
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-aa61.jsonl").write_bytes(inner.dumps())
    speak(home, path)
    assert lines_read(home.reconcile()) == (2, 3)
    assert home.said(f"{SESSION}:aa61") == ["List the files."]


def test_a_journal_waits_while_its_transcript_is_being_written(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = write(home, SESSION, "Why do rows double?")
    speak(home, path)
    script = Script(SESSION)
    script.user("Why do rows double?")
    at_work = True

    def now() -> str:
        """The clock of a machine on which the agent writes whenever somebody looks at it."""
        if at_work:
            script.user(f"Line {len(script.lines)}")
            script.write(home.settings.claude_dir / "projects")
        return home.now

    store = SqliteStore(home.settings.database, create=True)
    try:
        banks = BankMaker(home.settings, lambda: home.now)
        done = reconcile(store, banks, home.places, home.rules, now)
        assert lines_read(done) == (1, 0)
        at_work = False
        assert lines_read(reconcile(store, banks, home.places, home.rules, now)) == (1, 3)
    finally:
        store.close()


def test_a_journal_that_was_read_is_unread_again_once_it_grows(tmp_path: Path) -> None:
    home = Home(tmp_path)
    speak(home)
    home.reconcile()
    with home.open() as memory:
        assert find_unread(memory.reader, home.places) == []
        journal.append(home.places.journal(SESSION), [{"v": 1, "id": "late", "event": "Stop"}])
        (unread,) = find_unread(memory.reader, home.places)
    assert (unread.path, unread.session) == (home.places.journal(SESSION), SESSION)
