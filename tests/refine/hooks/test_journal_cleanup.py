"""Journals are removed once all of their lines are stored, and old enough."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path
from time import time

import psutil

from holdfast.app.core.context import utc_now
from holdfast.capture import journal
from holdfast.model.ledgers.lines import SourceState
from holdfast.refine.hooks.reconcile import RETENTION_S, remove_old_journals
from holdfast.sources.claude_code.events import AGENT
from tests.support.inbox_home import SESSION, Home
from tests.support.waiting import wait_until


def write_journal(home: Home, age_s: float) -> Path:
    """A session with hook events only, whose journal was last written so long ago."""
    home.prompt("Why do rows double?")
    home.stop("The retry wrapper loads twice.")
    home.end()
    home.drain()
    path = home.places.journal(SESSION)
    moment = time() - age_s
    os.utime(path, (moment, moment))
    return path


def remove_old(home: Home) -> int:
    with home.open() as memory:
        return remove_old_journals(memory.store, home.places, utc_now())


def test_an_old_journal_is_removed_and_its_turns_stay(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = write_journal(home, RETENTION_S + 60)
    assert remove_old(home) == 0 and path.exists(), "nobody has read it yet"
    home.reconcile()
    assert remove_old(home) == 1 and not path.exists()
    assert home.said() == ["Why do rows double?", "The retry wrapper loads twice."]
    with home.open() as memory:
        (source,) = memory.reader.sources.all()
        balance, turn = (
            memory.inventory.balance(),
            memory.reader.turns.of_session(source.bank, SESSION)[0],
        )
        shown = memory.show(f"holdfast://turn/{turn.id}")
    assert (source.agent, source.state) == (AGENT, SourceState.GONE)
    assert balance.accounted + balance.pending == balance.lines
    assert shown.raw is not None and shown.raw.state == "gone"
    assert remove_old(home) == 0


def test_a_recent_journal_stays(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = write_journal(home, RETENTION_S - 3600)
    home.reconcile()
    assert remove_old(home) == 0 and path.exists()


def test_a_journal_with_a_failed_line_stays(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = write_journal(home, 0)
    with path.open("ab") as file:
        file.write(b"{broken\n")
    os.utime(path, (1, 1))
    home.reconcile()
    with home.open() as memory:
        assert memory.reader.sources.failures()
    assert remove_old(home) == 0 and path.exists()


def test_a_session_that_continues_afterwards_loses_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    write_journal(home, RETENTION_S + 60)
    home.reconcile()
    assert remove_old(home) == 1
    home.prompt("And now?")
    home.stop("Now they do not.")
    home.end()
    home.drain()
    home.reconcile()
    assert home.said()[-2:] == ["And now?", "Now they do not."]
    assert len(home.said()) == 4
    with home.open() as memory:
        balance = memory.inventory.balance()
    assert balance.accounted + balance.pending == balance.lines


def test_lines_appended_during_removal_are_in_the_next_journal(tmp_path: Path) -> None:
    path = tmp_path / "events" / "s.jsonl"
    journal.append(path, [{"v": 1, "id": "a"}])
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = threading.Thread(target=journal.append, args=(path, [{"v": 1, "id": "b"}]))
        waiting.start()
        opened = psutil.Process().open_files
        wait_until(
            lambda: [file.path for file in opened()].count(str(path)) == 2,
            "the other thread has opened it too",
        )
        path.unlink()
    waiting.join(60)
    assert [event["id"] for event in journal.read(path)] == ["b"]
    assert not journal.remove(path, lambda stat: False) and path.exists()
    assert journal.remove(path, lambda stat: stat.st_size > 0) and not path.exists()
    assert not journal.remove(path, lambda stat: True)
